// A repeated opening is read once
//
// An agent works in rounds. For each one its whole record goes to the model again:
// the task, everything it did, everything that came back. Every round adds as much
// to the record as the one before. What do twenty rounds cost, beside ten?
//
//     A  twice as much: twice the rounds
//     B  more than three times as much
//     C  about a thousand times as much: it doubles with every round
//     D  hardly more: only what is new has to be read

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "gpt2/error.hpp"
#include "gpt2/serve.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "ledger/price.hpp"
#include "ledger/talk.hpp"

int opening = 640, question = 16;  // --opening, --question: tokens
int samples = 8, prompt = 100;     // --samples, --prompt
int rounds = 20, task = 64, action = 8, result = 20;  // --rounds, --task, ...
int turns = 20, message = 16, answer = 8;             // --turns, --message, --answer
std::string price_list, billed = "Claude Sonnet 5.5";  // --prices, --billed

constexpr int few = 8;  // tokens written behind an opening, and by each sample
constexpr int thousand = 1000;  // bills are for so many: one alone is no coin
constexpr int block = gpt2::KvLayout::positions;  // 32

using Tokens = std::span<const gpt2::Token>;
using Text = std::vector<gpt2::Token>;

// One visitor
// -----------
// The scheduler keeps whole blocks of 32 positions, keys and values of what it has
// read and written, and looks for them by the token ids themselves. Whoever begins
// as somebody did before gets those blocks and reads the rest. The last token is
// always read: its row of logits says what comes next.

struct Answer {
    gpt2::Served served = {};
    std::int64_t read = 0;         // tokens that went through the model
    std::vector<float> rows = {};  // the logits behind every token written

    lab::Seconds wait() const { return served.generation.first_token(); }
    lab::Seconds total() const { return served.generation.seconds.back(); }

    auto recorder() {
        return [this](gpt2::Token, std::span<const float> row) {
            rows.insert(rows.end(), row.begin(), row.end());
            return true;
        };
    }
};

// [ask]
Answer ask(gpt2::Scheduler& scheduler, const Text& text, int write) {
    Answer given;
    const std::int64_t before = scheduler.totals().read;
    scheduler.submit({.prompt = text,
                      .options = {.max_tokens = write},
                      .on_token = given.recorder()});
    given.served = scheduler.run().at(0);
    given.read = scheduler.totals().read - before;
    return given;
}
// [ask]

// [known]
int known(Tokens text, Tokens earlier) {
    const Tokens wanted = text.first(text.size() - 1);
    const auto differ = std::ranges::mismatch(wanted, earlier);
    return int(differ.in1 - wanted.begin()) / block * block;
}
// [known]

bool same(const Answer& a, const Answer& b) {
    return a.served.generation.tokens == b.served.generation.tokens &&
           a.rows.size() == b.rows.size() &&
           lab::differing_floats(a.rows, b.rows) == 0;
}

bool same(const std::vector<Answer>& a, const std::vector<Answer>& b) {
    return std::ranges::equal(
        a, b, [](const auto& x, const auto& y) { return same(x, y); });
}

gpt2::ServeOptions serving(const gpt2::Model& model, bool prefixes) {
    // Nobody else is writing meanwhile: a prompt is read in one step.
    return {.chunk = model.config().n_ctx, .prefixes = prefixes};
}

Text join(Tokens a, Tokens b) {
    Text text(a.begin(), a.end());
    text.insert(text.end(), b.begin(), b.end());
    return text;
}

// Runs something as often as time allows, and keeps what each run gave.
template <class Work>
auto repeat(lab::Experiment& lab, const Work& work) {
    std::vector<decltype(work())> runs;
    const lab::Measured measured = lab.time([&] { runs.push_back(work()); }, 0.5);
    // A warm-up does not count.
    runs.erase(runs.begin(), runs.end() - measured.runs);
    return runs;
}

template <class Runs, class Value>
lab::Measured over(const Runs& runs, const Value& value) {
    std::vector<double> values;
    for (const auto& run : runs) values.push_back(double(value(run)));
    return lab::summarize(std::move(values));
}

// A long opening
// --------------
// Instructions, examples, a document: 640 tokens that all visitors hand in, and 16
// of their own. The second visitor waits for its own 16.

void share_opening(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const Tokens shared = text.first(opening);
    const Text first = join(shared, text.subspan(opening, question));
    const Text second = join(shared, text.subspan(opening + question, question));
    const int n = opening + question, kept = known(second, first);

    // [opening]
    const auto without = repeat(lab, [&] {
        gpt2::Scheduler scheduler(model, serving(model, false));
        return ask(scheduler, second, few);
    });
    const auto with = repeat(lab, [&] {
        gpt2::Scheduler scheduler(model, serving(model, true));
        ask(scheduler, first, few);
        return ask(scheduler, second, few);
    });
    // [opening]

    const auto row = [&](const char* id, const char* how, int past,
                         const auto& runs) {
        lab.row(id, fmt::format("first token behind {}, {}", n, how), "s",
                lab.engine().forward({.tokens = n - past, .past = past, .rows = 1}),
                over(runs, [](const Answer& run) { return run.wait(); }));
    };
    row("opening_without", "opening new", 0, without);
    row("opening_with", "opening kept", kept, with);
    lab.row("opening_read", fmt::format("read of {}, opening kept", n), "tokens",
            n - kept, over(with, [](const Answer& run) { return run.read; }));
    lab.ratio("opening_saves", "what a kept opening saves", "opening_without",
              "opening_with");
    lab.check("opening_counts",
              "the second visitor reads all but the whole blocks kept",
              with[0].read == n - kept && without[0].read == n,
              fmt::format("{} of {} tokens", with[0].read, n));
    lab.check("opening_same",
              "with and without, its answer is the same to the last bit",
              same(with[0], without[0]));
}

// One token changed
// -----------------
// A date at the top, a name in the middle. What lies behind a changed token was
// computed with the old one in view, so it is of no use. What lies before is, as far
// as it fills blocks.

void change_one(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const Text base(text.begin(), text.begin() + opening + question);
    const int n = int(base.size()), places = lab.quick() ? 3 : 8;
    gpt2::Scheduler keeping(model, serving(model, true));
    ask(keeping, base, few);

    const ledger::Engine& engine = lab.engine();
    std::vector<lab::Cells> cells;
    bool counts = true, bits = true;
    for (int i = 0; i <= places; ++i) {
        // [change]
        const int place = 4 + i * (opening - 8) / places;
        Text changed = base;
        changed[place] = *std::ranges::find_if(
            text, [&](gpt2::Token other) { return other != base[place]; });
        const int kept = known(changed, base);
        const Answer given = ask(keeping, changed, few);
        // [change]

        gpt2::Scheduler alone(model, serving(model, false));
        bits &= same(given, ask(alone, changed, few));
        counts &= given.read == n - kept && kept == place / block * block;
        cells.push_back(
            {double(place), double(n - kept), double(given.read),
             engine.forward({.tokens = n - kept, .past = kept, .rows = 1}),
             given.wait()});
        if (i == 0 || i == places)
            lab.row(i == 0 ? "changed_start_read" : "changed_end_read",
                    fmt::format("read of {}, token {} changed", n, place), "tokens",
                    n - kept, lab::summarize({double(given.read)}));
    }
    lab.exhibit("changed",
                {"place", "predicted_read", "read", "predicted_seconds", "seconds"},
                cells);
    lab.check("changed_counts", "a changed token costs its block and all behind it",
              counts);
    lab.check("changed_same", "each answer is that of a model that kept nothing",
              bits);
}

// Eight samples
// -------------
// Several answers to one prompt, to choose from. They differ from the first token
// on, but the prompt is one. All are handed in at once: the first reads, the others
// wait for it.

std::vector<Answer> draw(gpt2::Scheduler& scheduler, const Text& text,
                         const gpt2::Sampler& sampler) {
    // [samples]
    std::vector<Answer> drawn(samples);
    for (int i = 0; i < samples; ++i)
        scheduler.submit({.prompt = text,
                          .options = {.max_tokens = few, .sampler = sampler},
                          .sample = std::uint64_t(i),
                          .on_token = drawn[i].recorder()});
    for (gpt2::Served& served : scheduler.run())
        drawn[served.id].served = std::move(served);
    // [samples]
    return drawn;
}

void share_prompt(lab::Experiment& lab, gpt2::Model& model, const Text& text) {
    const gpt2::Sampler sampler(
        {.temperature = 1, .top_k = 40, .seed = lab.options().seed});
    gpt2::Scheduler apart(model, serving(model, false));
    gpt2::Scheduler together(model, serving(model, true));
    const bool alike =
        same(draw(apart, text, sampler), draw(together, text, sampler));
    const std::int64_t each = apart.totals().read, one = together.totals().read;
    const int all = samples * prompt, due = all - (samples - 1) * known(text, text);
    lab.row("samples_without_read",
            fmt::format("read of {} x {}, each reads", samples, prompt), "tokens",
            all, lab::summarize({double(each)}));
    lab.row("samples_with_read",
            fmt::format("read of {} x {}, one reads", samples, prompt), "tokens",
            due, lab::summarize({double(one)}));
    lab.ratio("shared_prompt", "reading that one prefill saves",
              "samples_without_read", "samples_with_read");
    lab.check(
        "shared_prompt_counts", "one prefill, and the end of a block for each other",
        each == all && one == due, fmt::format("{} tokens, not {}", one, each));
    lab.check("shared_prompt_same", "with and without, every sample is the same",
              alike);
}

// Growing records
// ---------------
// An agent: a task, then rounds. Each hands in the task and all that the rounds
// before it have added: what the model wrote, and what came back. A talk is an agent
// whose tool is you. In twenty talks of one turn, each message is handed in alone.

// [rounds]
std::vector<Answer> hold(gpt2::Model& model, const ledger::Talk& talk, Tokens words,
                         bool prefixes) {
    gpt2::Scheduler scheduler(model, serving(model, prefixes));
    Text record(words.begin(), words.begin() + talk.first);
    std::vector<Answer> answers;
    for (int k = 0; k < talk.rounds; ++k) {
        answers.push_back(ask(scheduler, record, talk.write));
        record = talk.forgets
                     ? Text()
                     : join(record, answers.back().served.generation.tokens);
        record = join(record, words.subspan(talk.first + k * talk.more, talk.more));
    }
    return answers;
}
// [rounds]

ledger::Money paid(const ledger::Price& price, std::span<const Answer> answers) {
    ledger::Money sum;
    for (const Answer& one : answers)
        sum += ledger::cost(
            price, {.input = one.read + one.served.reused,
                    .cached = one.served.reused,
                    .output = std::int64_t(one.served.generation.tokens.size())});
    return sum;
}

// What the two experiments that follow share.
struct Desk {
    lab::Experiment& lab;
    gpt2::Model& model;
    Tokens words;
    const ledger::Price& price;
};

// Three rows: seconds, tokens read, and the bill of a thousand. And a check for the
// two that are no timing.
std::vector<Answer> hold_and_bill(const Desk& desk, const std::string& id,
                                  const std::string& what, const ledger::Talk& talk,
                                  bool prefixes) {
    auto& [lab, model, words, price] = desk;
    auto runs = repeat(lab, [&] { return hold(model, talk, words, prefixes); });
    const auto sum = [&](auto value) {
        return over(runs, [&](const std::vector<Answer>& answers) {
            return std::transform_reduce(answers.begin(), answers.end(), 0.0,
                                         std::plus(), value);
        });
    };
    const auto read = double(ledger::tokens_read(talk, prefixes));
    const ledger::Money due = thousand * ledger::bill(price, talk, prefixes);
    const ledger::Money asked = thousand * paid(price, runs.front());
    const lab::Measured counted = sum([](const Answer& one) { return one.read; });
    lab.row(id, what, "s", ledger::predict(lab.engine(), talk, prefixes),
            sum([](const Answer& one) { return one.total(); }));
    lab.row(id + "_read", what + ": read", "tokens", read, counted);
    lab.row(id + "_bill", fmt::format("{}: {} times", what, lab::number(thousand)),
            "dollars", due.dollars(), lab::summarize({asked.dollars()}));
    lab.check(id + "_counts", what + ": tokens and bill as the closed form says",
              counted.min == read && counted.max == read && asked == due,
              fmt::format("{} tokens, {} dollars", counted.max, to_string(asked)));
    return std::move(runs.front());
}

void agent(const Desk& desk, const ledger::Talk& work) {
    auto& [lab, model, words, price] = desk;
    const std::string what = fmt::format("agent of {} rounds", rounds);
    const auto without =
        hold_and_bill(desk, "agent_without", what + ", nothing kept", work, false);
    const auto with =
        hold_and_bill(desk, "agent_with", what + ", record kept", work, true);
    lab.ratio("agent_saves", "what keeping the record saves", "agent_without",
              "agent_with");

    // [growth]
    const ledger::Talk half = work.shortened(rounds / 2);
    const ledger::Money brief = paid(price, std::span(without).first(half.rounds));
    const ledger::Money full = paid(price, without);
    lab.row("agent_growth",
            fmt::format("bill of {} rounds over {}", rounds, half.rounds), "times",
            ledger::bill(price, work, false).dollars() /
                ledger::bill(price, half, false).dollars(),
            lab::summarize({full.dollars() / brief.dollars()}));
    lab.check("agent_growth_faster", "the bill grows faster than the rounds",
              half.rounds * full > work.rounds * brief,
              fmt::format("{} and {} dollars", to_string(brief), to_string(full)));
    // [growth]
    lab.check("agent_same",
              "with and without, each action is the same to the last bit",
              same(with, without));

    std::vector<lab::Cells> cells;
    for (int k = 0; k < rounds; ++k)
        cells.push_back({double(k + 1), double(work.prompt(k)),
                         double(without[k].read), double(with[k].read),
                         without[k].total(), with[k].total()});
    lab.exhibit("agent",
                {"round", "prompt", "read_without", "read_with", "seconds_without",
                 "seconds_with"},
                cells);
}

void talk(const Desk& desk, const ledger::Talk& one, const ledger::Talk& many) {
    auto& [lab, model, words, price] = desk;
    const std::string what = fmt::format("a talk of {} turns", turns);
    const auto without =
        hold_and_bill(desk, "talk_without", what + ", nothing kept", one, false);
    const auto with = hold_and_bill(desk, "talk_with", what + ", kept", one, true);
    hold_and_bill(desk, "talk_short", fmt::format("{} talks of one turn", turns),
                  many, false);
    lab.ratio("long_talk", "bill of one long talk over short ones",
              "talk_without_bill", "talk_short_bill");
    lab.ratio("long_talk_with", "the same, what was said is kept", "talk_with_bill",
              "talk_short_bill");
    lab.ratio("long_talk_seconds", "wait, long over short", "talk_without",
              "talk_short");
    const ledger::Money small = ledger::bill(price, many, false);
    lab.check("long_talk_dearer", "one long talk costs more than many short ones",
              ledger::bill(price, one, false) > small &&
                  ledger::bill(price, one, true) > small);
    lab.check("talk_same",
              "with and without, each answer is the same to the last bit",
              same(with, without));
}

void check_room(const char* options, int most, const gpt2::Model& model) {
    if (most > model.config().n_ctx)
        throw gpt2::BadInput(
            fmt::format("{}: they ask for {} positions, but the context has {}",
                        options, most, model.config().n_ctx));
}

void prefix_cache(lab::Experiment& lab) {
    const std::filesystem::path file =
        price_list.empty() ? gpt2::data_directory() / "prices/2026-10.json"
                           : std::filesystem::path(price_list);
    const std::vector<ledger::Price> prices = ledger::read_prices(file);
    const ledger::Price& price = ledger::find_price(prices, billed, file.string());
    if (price.input < ledger::Money{1'000'000})
        throw gpt2::BadInput(fmt::format(
            "{}: {}: input: expected 0.001 dollars or more", file.string(), billed));

    const ledger::Talk work{task, result, action, rounds};
    const ledger::Talk one{message, message, answer, turns};
    const ledger::Talk many{message, message, answer, turns, true};
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    check_room("--opening, --question", opening + question + few, *model);
    check_room("--prompt", prompt + few, *model);
    check_room("--rounds, --task, --action, --result",
               work.prompt(rounds - 1) + action, *model);
    check_room("--turns, --message, --answer", one.prompt(turns - 1) + answer,
               *model);
    const Text text = lab.text(
        "article.txt", std::max({opening + 2 * question, task + rounds * result,
                                 (turns + 1) * message}));

    const ledger::Engine& engine = lab.engine();
    const lab::Seconds read =
        engine.forward({.tokens = opening + question, .past = 0, .rows = 1});
    lab.expect({read, predict(engine, work, false), predict(engine, work, true),
                predict(engine, one, false), predict(engine, one, true),
                predict(engine, many, false)});

    share_opening(lab, *model, text);
    change_one(lab, *model, text);
    share_prompt(lab, *model, Text(text.begin(), text.begin() + prompt));
    const Desk desk{lab, *model, text, price};
    agent(desk, work);
    talk(desk, one, many);
    lab.headline("agent_saves");

    lab.keep(
        "Keep the opening as it is and put what changes at the end: what was read "
        "once need not be read again.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "09_prefix_cache",
         .title = "A repeated opening is read once",
         .question = "What is read again and again, and what does keeping it save?",
         .experiment = prefix_cache,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--opening", opening, "Tokens that all visitors hand in",
                           {.least = 16, .most = 1000, .quick = 128});
             arguments.add("--question", question, "Tokens of each visitor's own",
                           {.least = 1, .most = 500, .quick = 8});
             arguments.add("--samples", samples, "Answers to one prompt",
                           {.least = 2, .most = 16, .quick = 4});
             arguments.add("--prompt", prompt, "Tokens of that prompt",
                           {.least = 2, .most = 500, .quick = 40});
             arguments.add("--rounds", rounds, "Rounds of the agent",
                           {.least = 2, .most = 100, .quick = 5});
             arguments.add("--task", task, "Tokens that the agent begins with",
                           {.least = 1, .most = 1000, .quick = 40});
             arguments.add("--action", action, "Tokens it writes in each round",
                           {.least = 1, .most = 500, .quick = 4});
             arguments.add("--result", result, "Tokens that come back in each round",
                           {.least = 1, .most = 500, .quick = 12});
             arguments.add("--turns", turns, "Turns of the talk",
                           {.least = 2, .most = 100, .quick = 5});
             arguments.add("--message", message, "Tokens of each message",
                           {.least = 1, .most = 500});
             arguments.add("--answer", answer, "Tokens of each answer",
                           {.least = 1, .most = 500, .quick = 4});
             arguments.add("--prices", price_list,
                           "A price list; data/prices/2026-10.json unless given");
             arguments.add("--billed", billed,
                           "Whose prices of that list the bills use");
         }});
}
