// The bill for thinking
//
// A model answers a question in 200 tokens. Told to think first, it writes 4,000
// tokens that nobody is shown, and then the same 200. On the bill that is 21 times
// the tokens. What the machine lends out is memory, for a while: the KV cache, and
// the seconds for which it is kept. How much more of that does the thinker take, of
// gigabytes times seconds?
//
//     A  21 times: what is billed is what is used
//     B  22 times: it takes 22 times as long, and the model is the same
//     C  about 250 times
//     D  441 times: 21 times the cache, for 21 times as long

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "ledger/thinking.hpp"

// The course's machine, and what is asked of it.
struct Asked {
    double weights = 14, bandwidth = 1, cache = 0.5;  // GB, TB/s, MB a token
    int prompt = 100, answer = 200, thinking = 4000;  // tokens
    int copies = 8, many = 64;                        // answers at once
    // Right, in percent: an easy question and a hard one, without thinking and with.
    double easy = 98, easy_thinking = 99, hard = 10, hard_thinking = 70;

    bool operator==(const Asked&) const = default;
} asked;

// --real-prompt, --real-answer, --real-thinking, --real-copies: what is run here.
ledger::Way plan{.prompt = 100, .answer = 40, .thinking = 800, .copies = 8};

using Tokens = std::span<const gpt2::Token>;
using Text = std::vector<gpt2::Token>;

// Three ways to spend more on a question
// --------------------------------------
// A answers at once. B thinks first. C answers several times over, all in one batch,
// and somebody picks the best. All pass the prompt through the model once and then
// take one pass a token.

// [ways]
struct Ways {
    ledger::Way a, b, c, shared;

    explicit Ways(const ledger::Way& way) {
        a = {.prompt = way.prompt, .answer = way.answer};
        b = {.prompt = way.prompt, .answer = way.answer, .thinking = way.thinking};
        c = {.prompt = way.prompt, .answer = way.answer, .copies = way.copies};
        shared = c;
        shared.shared = true;  // the copies of C keep one cache of the prompt
    }
};
// [ways]

// The course's ledger
// -------------------
// Nothing counts but bytes. A pass fetches the weights and every key and value that
// is held, so it takes their bytes over the bandwidth; what is held grows by a token
// of each copy a pass.

class Ledger {
public:
    explicit Ledger(lab::Experiment& lab) : lab_(lab) {}

    ledger::Stay stay(const ledger::Way& way) const {
        return ledger::stay(way, [&](int i) { return machine_.pass(way, i); });
    }

    // The caches when the last token stands in them. (It need not: nobody reads it.)
    double peak(const ledger::Way& way) const {
        return machine_.kv * double(way.held(way.passes())) / 1e9;  // GB
    }

    double summed(const ledger::Way& way) const {
        return machine_.kv * stay(way).capacity / 1e9;  // GB·s
    }

    // [averaged]
    // On paper: the average cache times the wait, which is rounded first, to three
    // digits or, from ten seconds on, to whole seconds.
    double averaged(const ledger::Way& way, bool rounded = true) const {
        const double held = double(way.held(0) + way.held(way.passes())) / 2;
        ledger::Seconds wait = stay(way).wait;
        const double step =
            wait < 10 ? std::pow(10, std::floor(std::log10(wait)) - 2) : 1;
        if (rounded) wait = std::round(wait / step) * step;
        return machine_.kv * held * wait / 1e9;
    }
    // [averaged]

    // A figure of the course, to be compared with it if its numbers went in.
    void figure(const std::string& id, const std::string& what, double value,
                const std::string& unit) {
        const bool course = asked == Asked{};
        lab_.note(course ? id : "asked_" + id, what, value, unit);
        if (course) lab_.check_published(id, value);
    }

    const ledger::Fetching& machine() const { return machine_; }

private:
    lab::Experiment& lab_;
    ledger::Fetching machine_{asked.weights * 1e9, asked.cache * 1e6,
                              asked.bandwidth * 1e12};
};

// Waits and tokens, which is what a person sees and what the bill counts.
void waits(Ledger& book, const Ways& way) {
    book.figure("thinking_params_weights", "weights", asked.weights, "GB");
    book.figure("thinking_params_bandwidth", "bandwidth", asked.bandwidth, "TB/s");
    book.figure("thinking_params_kv", "cache of a token", asked.cache, "MB");
    book.figure("thinking_params_prompt", "prompt", asked.prompt, "tokens");

    const ledger::Stay a = book.stay(way.a), b = book.stay(way.b),
                       c = book.stay(way.c);
    book.figure("latency_abc_a", "A: wait", a.wait, "s");
    book.figure("latency_abc_b", "B: wait", b.wait, "s");
    book.figure("latency_abc_c", "C: wait", c.wait, "s");
    book.figure("latency_abc_b_over_a", "B's wait over A's", b.wait / a.wait,
                "times");
    book.figure("latency_abc_c_over_a", "C's wait over A's", c.wait / a.wait,
                "times");
    book.figure("first_token", "A streams at once, at", way.a.passes() / a.wait,
                "token/s");
    book.figure("first_token_b_silence", "B shows nothing for", b.first, "s");

    const auto tokens = [&](const std::string& id, const std::string& name,
                            const ledger::Way& one) {
        book.figure("tokens_abc_" + id, name + ": tokens written",
                    double(one.tokens()), "tokens");
        book.figure("tokens_abc_" + id + "_over_a", name + "'s tokens over A's",
                    double(one.tokens()) / double(way.a.tokens()), "times");
    };
    tokens("a", "A", way.a);
    tokens("b", "B", way.b);
    tokens("c", "C", way.c);
}

// What the machine lends: memory, for a while. Added up pass by pass it is more than
// the average cache times the wait, because the passes that hold most also take
// longest.
void capacity(lab::Experiment& lab, Ledger& book, const Ways& way) {
    const auto three = [&](const std::string& id, const std::string& name,
                           const ledger::Way& one) {
        const std::string at = "capacity_abc_" + id;
        book.figure(at + "_peak", name + ": cache at the end", book.peak(one), "GB");
        book.figure(at, name + ": average cache times rounded wait",
                    book.averaged(one), "GB·s");
        lab.note(at + "_unrounded", name + ": average cache times wait",
                 book.averaged(one, false), "GB·s");
        book.figure(at + "_summed", name + ": cache over time, summed",
                    book.summed(one), "GB·s");
        book.figure(at + "_over_a", name + "'s over A's, averaged and rounded",
                    book.averaged(one) / book.averaged(way.a), "times");
    };
    three("a", "A", way.a);
    three("b", "B", way.b);
    three("c", "C", way.c);
    const double a = book.summed(way.a);
    book.figure("capacity_abc_b_over_a_summed", "B's over A's, summed",
                book.summed(way.b) / a, "times");
    lab.note("capacity_abc_c_over_a_summed", "C's over A's, summed",
             book.summed(way.c) / a, "times");

    // C's copies, with one prompt's cache for all of them.
    book.figure("capacity_abc_c_shared_peak", "C, prompt shared: cache at the end",
                book.peak(way.shared), "GB");
    book.figure("capacity_abc_c_shared_summed",
                "C, prompt shared: cache over time, summed", book.summed(way.shared),
                "GB·s");
    lab.note("capacity_abc_c_shared_over_a", "C's over A's, prompt shared, summed",
             book.summed(way.shared) / a, "times");
}

// Is it worth it? Thinking lifts an easy question by a point and a hard one by
// sixty. What it costs is the same for both.
void worth(lab::Experiment& lab, Ledger& book, const Ways& way) {
    book.figure("easy_hard_easy_answer", "easy, at once: right", asked.easy, "%");
    book.figure("easy_hard_easy_think", "easy, after thinking: right",
                asked.easy_thinking, "%");
    book.figure("easy_hard_hard_answer", "hard, at once: right", asked.hard, "%");
    book.figure("easy_hard_hard_think", "hard, after thinking: right",
                asked.hard_thinking, "%");
    book.figure("easy_hard_tokens", "thinking over answering at once, tokens",
                double(way.b.tokens()) / double(way.a.tokens()), "times");
    book.figure("easy_hard_capacity", "thinking over answering at once, capacity",
                book.averaged(way.b) / book.averaged(way.a), "times");
    // [worth]
    const auto one_more = [&](const std::string& id, double without, double with) {
        if (with <= without) return;  // no number of tokens buys one
        lab.note("one_more_" + id, id + ": thinking for one more right answer",
                 asked.thinking / ((with - without) / 100), "tokens");
    };
    one_more("easy", asked.easy, asked.easy_thinking);
    one_more("hard", asked.hard, asked.hard_thinking);
    // [worth]
}

// Twice the thinking; and so many copies that they are not free any more.
void questions(lab::Experiment& lab, Ledger& book, const Ways& way) {
    // [questions]
    ledger::Way twice = way.b, many = way.c;
    twice.thinking *= 2;
    many.copies = asked.many;
    // [questions]
    book.figure("q1", "B, twice the thinking: wait", book.stay(twice).wait, "s");
    book.figure("q1_capacity", "B, twice the thinking: capacity over B's",
                book.summed(twice) / book.summed(way.b), "times");
    const std::string what = fmt::format("C, {} copies: ", asked.many);
    book.figure("q2", what + "wait", book.stay(many).wait, "s");
    book.figure("q2_cache", what + "cache at the end", book.peak(many), "GB");
    const double mean = double(way.a.held(0) + way.a.held(way.a.passes())) / 2;
    lab.note("q2_even", "copies whose caches are as many bytes as the weights",
             asked.weights * 1e3 / (mean * asked.cache), "copies");
}

// The numbers behind a picture
// ----------------------------
// A pass after another, with what is held while it runs: the area below is capacity.

using Pass = std::function<ledger::Seconds(int)>;

std::vector<ledger::Seconds> clock(const ledger::Way& way, const Pass& pass) {
    std::vector<ledger::Seconds> at{0};
    for (int i = 0; i < way.passes(); ++i) at.push_back(at.back() + pass(i));
    return at;  // of each pass, and the end of the last
}

// Some forty moments of a way, in cells: when, by each of these clocks, and how
// much.
void grow(std::vector<lab::Cells>& cells, const std::string& name,
          const ledger::Way& way, double unit, std::initializer_list<Pass> seconds) {
    std::vector<std::vector<ledger::Seconds>> clocks;
    for (const Pass& pass : seconds) clocks.push_back(clock(way, pass));
    const int n = way.passes(), steps = std::min(n, 40);
    for (int k = 0; k <= steps; ++k) {
        const int i = int(std::int64_t(n) * k / steps);
        lab::Cells moment{name};
        for (const auto& at : clocks) moment.emplace_back(at[std::size_t(i)]);
        moment.push_back(double(way.held(i)) * unit);
        cells.push_back(std::move(moment));
    }
}

void the_courses(lab::Experiment& lab) {
    const Ways way({.prompt = asked.prompt,
                    .answer = asked.answer,
                    .thinking = asked.thinking,
                    .copies = asked.copies});
    Ledger book(lab);
    waits(book, way);
    capacity(lab, book, way);
    worth(lab, book, way);
    questions(lab, book, way);

    std::vector<lab::Cells> cells;
    for (const auto& [name, one] :
         {std::pair{"a", way.a}, {"b", way.b}, {"c", way.c}, {"shared", way.shared}})
        grow(cells, name, one, book.machine().kv / 1e9,
             {[&](int i) { return book.machine().pass(one, i); }});
    lab.exhibit("course", {"way", "seconds", "gigabytes"}, cells);
}

// The same three, for real
// ------------------------
// GPT-2 small's shape has 1,024 positions: 100 for the prompt, 40 for the answer,
// and 800 to think in. What it writes there is a story; the machine cannot tell. The
// prompt is read once, and the copies of C are forks of that cache. A fork copies
// nothing: a block of 32 positions is shared until somebody writes into it. Each
// copy begins with another token, the best, the second best and so on, and goes on
// with what it finds best.

struct Written {
    std::vector<Text> tokens;           // of each pass, one of each copy
    std::vector<lab::Seconds> seconds;  // of each pass
    std::int64_t read = 0;              // tokens that went through the model
    std::int64_t bytes = 0;             // held at the end, the prompt's once
    int blocks = 0;                     // of 32 positions, lent out at the end

    void add(const Text& next, lab::Seconds pass) {
        tokens.push_back(next);
        seconds.push_back(pass);
    }
};

// The first token of each copy: the best, the second best ...
Text beginnings(std::span<const float> row, int copies) {
    const gpt2::Sampler best({.temperature = 1, .top_k = copies});
    Text tokens;
    for (const gpt2::Candidate& one : best.candidates(row))
        tokens.push_back(one.token);
    tokens.resize(std::size_t(copies), tokens.back());
    return tokens;
}

using Look = std::function<void(std::size_t copy, gpt2::Token read,
                                std::span<const float> row)>;

Written write(gpt2::Model& model, const ledger::Way& way, Tokens prompt,
              const Look& look = {}) {
    Written out;
    out.read = std::int64_t(prompt.size());
    lab::Stopwatch watch;
    // [fork]
    std::vector<gpt2::KvCache> caches;
    caches.push_back(model.new_cache());
    Text next = beginnings(model.forward(prompt, caches[0])[0], way.copies);
    const auto shared = std::int64_t(caches[0].bytes());
    while (caches.size() < next.size()) caches.push_back(caches[0].fork());
    out.add(next, watch.seconds());
    // [fork]

    // [write]
    for (int pass = 1; pass < way.passes(); ++pass) {
        watch = {};
        std::vector<gpt2::Step> steps;
        for (std::size_t k = 0; k < next.size(); ++k)
            steps.push_back({.tokens = {&next[k], 1}, .cache = caches[k]});
        const gpt2::Logits logits = model.forward(steps);
        if (look)
            for (std::size_t k = 0; k < next.size(); ++k)
                look(k, next[k], logits[int(k)]);
        for (std::size_t k = 0; k < next.size(); ++k)
            next[k] = gpt2::argmax(logits[int(k)]);
        out.add(next, watch.seconds());
        out.read += way.copies;
    }
    // [write]
    out.bytes = shared;
    for (const gpt2::KvCache& cache : caches)
        out.bytes += std::int64_t(cache.bytes()) - shared;
    out.blocks = caches[0].pool()->blocks_in_use();
    return out;
}

// A block that the prompt fills is lent once; all others, once for each copy.
int blocks(const ledger::Way& way) {
    const int full = way.prompt / gpt2::KvLayout::positions;
    const int each = gpt2::KvLayout::blocks_for(way.prompt + way.passes() - 1);
    return full + way.copies * (each - full);
}

// One way: what the ledger says, and what the machine does. The same sums are made
// of the predicted seconds of each pass and of the measured ones.
Written run(lab::Experiment& lab, gpt2::Model& model, const std::string& id,
            const ledger::Way& way, Tokens prompt, std::vector<lab::Cells>& cells) {
    std::vector<Written> runs;
    const lab::Measured timed =
        lab.time([&] { runs.push_back(write(model, way, prompt)); }, 0.5);
    runs.erase(runs.begin(), runs.end() - timed.runs);  // a warm-up does not count
    const auto over = [&](const auto& value) {
        std::vector<double> values;
        for (const Written& one : runs) values.push_back(double(value(one)));
        return lab::summarize(std::move(values));
    };

    const auto kv =
        double(ledger::kv_bytes_per_token(model.config(), lab.options().kv));
    const auto name = fmt::format("here, {}", char(id.back() - 'a' + 'A'));
    // [sums]
    const ledger::Engine& engine = lab.engine();
    const Pass predicted = [&](int i) { return engine.forward(way.batch(i)); };
    const ledger::Stay due = stay(way, predicted);
    const auto found = [&](const Written& one) {
        return stay(way, [&](int i) { return one.seconds[std::size_t(i)]; });
    };
    // [sums]

    lab.row(id, name + ": wait", "s", due.wait,
            over([&](const Written& one) { return found(one).wait; }));
    lab.row(id + "_first", name + ": wait for the first token shown", "s", due.first,
            over([&](const Written& one) { return found(one).first; }));
    lab.row(id + "_cache", name + ": cache at the end", "bytes",
            kv * double(way.held(way.passes() - 1)),
            over([](const Written& one) { return one.bytes; }));
    lab.row(id + "_capacity", name + ": cache over time", "MB·s",
            kv * due.capacity / 1e6, over([&](const Written& one) {
                return kv * found(one).capacity / 1e6;
            }));
    lab.row(id + "_blocks", name + ": blocks of 32 at the end", "blocks",
            blocks(way), over([](const Written& one) { return one.blocks; }));

    std::ranges::sort(runs, {}, [&](const Written& one) { return found(one).wait; });
    Written& middle = runs[runs.size() / 2];
    grow(cells, id, way, kv / 1e6,
         {predicted, [&](int i) { return middle.seconds[std::size_t(i)]; }});
    const std::int64_t through =
        way.prompt + std::int64_t(way.copies) * (way.passes() - 1);
    lab.check(id + "_counts",
              name + ": the prompt is read once; bytes and blocks as counted",
              middle.read == through && middle.blocks == blocks(way) &&
                  double(middle.bytes) == kv * double(way.held(way.passes() - 1)),
              fmt::format("{} tokens read, {} bytes, {} blocks", middle.read,
                          middle.bytes, middle.blocks));
    return std::move(middle);
}

// Each copy once more, without the others: a cache of its own, the prompt read
// again, and the same tokens. Not one bit of its scores may differ.
void check_alone(lab::Experiment& lab, gpt2::Model& model, const ledger::Way& way,
                 Tokens prompt) {
    std::vector<gpt2::KvCache> alone;
    for (int k = 0; k < way.copies; ++k) {
        alone.push_back(model.new_cache());
        model.forward(prompt, alone.back(), gpt2::Rows::none);
    }
    std::int64_t differ = 0;
    write(model, way, prompt, [&](std::size_t k, gpt2::Token read, auto row) {
        differ += lab::differing_floats(row, model.forward({&read, 1}, alone[k])[0]);
    });
    lab.check("shared_prompt",
              "each copy writes what it writes alone, with a prompt of its own",
              differ == 0, fmt::format("{} floats differ", differ));
}

void the_same_for_real(lab::Experiment& lab, gpt2::Model& model) {
    const Ways way(plan);
    const Text prompt = lab.text("article.txt", plan.prompt);
    const ledger::Engine& engine = lab.engine();
    const auto due = [&](const ledger::Way& one) {
        return stay(one, [&](int i) { return engine.forward(one.batch(i)); }).wait;
    };
    lab.expect({due(way.a), due(way.b), due(way.shared), plan.copies * due(way.a)});

    std::vector<lab::Cells> cells;
    const Written a = run(lab, model, "real_a", way.a, prompt, cells);
    const Written b = run(lab, model, "real_b", way.b, prompt, cells);
    const Written c = run(lab, model, "real_c", way.shared, prompt, cells);
    lab.exhibit("growth",
                {"way", "predicted_seconds", "measured_seconds", "megabytes"},
                cells);
    for (const std::string what : {"", "_cache", "_capacity"}) {
        const std::string of = what == ""         ? "wait"
                               : what == "_cache" ? "cache at the end"
                                                  : "cache over time";
        for (const std::string one : {"b", "c"})
            lab.ratio(
                fmt::format("real_{}{}_over_a", one, what),
                fmt::format("here, {} of {} over A", of, one == "b" ? "B" : "C"),
                "real_" + one + what, "real_a" + what);
    }
    lab.headline("real_b_capacity_over_a");

    const auto begins_alike = [&](const Written& other) {
        for (std::size_t i = 0; i < a.tokens.size(); ++i)
            if (other.tokens[i][0] != a.tokens[i][0]) return false;
        return true;
    };
    lab.check("same_beginning",
              "B's first tokens, and C's first copy, are what A writes",
              begins_alike(b) && begins_alike(c));
    check_alone(lab, model, way.shared, prompt);
}

void thinking_bill(lab::Experiment& lab) {
    const gpt2::Config config =
        gpt2::load_config(lab.options().model, {.shape = lab.options().shape});
    const int most = plan.prompt + plan.thinking + plan.answer;
    if (most > config.n_ctx)
        throw gpt2::BadInput(fmt::format(
            "--real-prompt, --real-thinking, --real-answer: they ask for {} "
            "positions, but the context has {}",
            most, config.n_ctx));
    the_courses(lab);
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    the_same_for_real(lab, *model);
    lab.keep(
        "A token is billed once, but it is kept until the answer is done: thinking "
        "costs cache times seconds, and both grow.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "11_thinking_bill",
         .title = "The bill for thinking",
         .question =
             "What does an answer cost that thinks first, or is drawn eight times?",
         .experiment = thinking_bill,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--weights", asked.weights, "Weights, GB",
                           {.least = 1e-3, .most = 1e5});
             arguments.add("--bandwidth", asked.bandwidth, "Memory, TB/s",
                           {.least = 1e-3, .most = 1e4});
             arguments.add("--cache", asked.cache, "KV cache of a token, MB",
                           {.least = 1e-6, .most = 1e3});
             arguments.add("--prompt", asked.prompt, "Tokens to read",
                           {.most = 1'000'000});
             arguments.add("--answer", asked.answer, "Tokens of the answer",
                           {.most = 1'000'000});
             arguments.add("--thinking", asked.thinking, "Tokens of B's thinking",
                           {.most = 1'000'000});
             arguments.add("--copies", asked.copies, "C's answers at once",
                           {.least = 2, .most = 10'000});
             arguments.add("--many", asked.many, "Answers at once, of question 2",
                           {.least = 2, .most = 10'000});
             constexpr lab::Real percent{.least = 0, .most = 100};
             arguments.add("--easy", asked.easy, "Easy: right at once, %", percent);
             arguments.add("--easy-thinking", asked.easy_thinking,
                           "Easy: right after thinking, %", percent);
             arguments.add("--hard", asked.hard, "Hard: right at once, %", percent);
             arguments.add("--hard-thinking", asked.hard_thinking,
                           "Hard: right after thinking, %", percent);
             arguments.add("--real-prompt", plan.prompt, "Tokens to read, here",
                           {.most = 1022});
             arguments.add("--real-answer", plan.answer, "Tokens of an answer, here",
                           {.least = 2, .most = 1023, .quick = 6});
             arguments.add("--real-thinking", plan.thinking,
                           "Tokens of B's thinking, here",
                           {.most = 1022, .quick = 120});
             arguments.add("--real-copies", plan.copies, "C's answers at once, here",
                           {.least = 2, .most = 32});
         }});
}
