// What a price list says
//
// A company asks 2 dollars for a million tokens that go in and 10 for a million that
// come out. Both go through the same weights and take the same arithmetic. Suppose
// that your machine sold tokens at what they cost it, with a model of GPT-2's size,
// to one customer at a time. How much dearer would a token out be than one in?
//
//     A  no dearer: the arithmetic is the same
//     B  about 5 times, as on the list
//     C  ten to thirty times
//     D  more than a hundred times

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "lab/accelerators.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/writing.hpp"
#include "ledger/price.hpp"
#include "ledger/talk.hpp"

int batch = 8, opening = 640, question = 32, beats = 16;  // measured: --batch, ...
int asked = 100, brief = 100;                             // --asked, --brief
int context = 1000;                               // --context, on a larger machine
int page = 400, book = 130'000, document = 3000;  // billed: --page, ...
int turns = 20, message = 100, answer = 250;
int rounds = 20, task = 3000, action = 200, back = 1000;
double weights = 14, bandwidth = 1,
       token_cache = 0.5;  // --weights, ...: GB, TB/s, MB
ledger::Money hour =
    ledger::parse_dollars("0.10", "");                 // --hour: this machine's rent
std::string price_list, billed = "Claude Sonnet 5.5";  // --prices, --billed

constexpr int thousand = 1000;  // bills are for so many

using Tokens = std::span<const gpt2::Token>;
using Caches = std::vector<gpt2::KvCache>;
using ledger::Money, ledger::Price, ledger::Talk;

// The public list
// ---------------
// Three prices a model. Their ratios have no currency and no year in them: what is
// left is what a machine does.

// [list]
void read_the_list(lab::Experiment& lab, const std::vector<Price>& prices) {
    const auto note = [&](const std::string& id, const std::string& what,
                          double value, const char* unit) {
        lab.note(id, what, value, unit);
        lab.check_published(id, value);
    };
    const char* unit = "dollars per million tokens";
    std::vector<double> ratios;  // of output to input
    for (const auto& [id, model] : {std::pair{"opus", "Claude Opus 5.5"},
                                    std::pair{"sonnet", "Claude Sonnet 5.5"}}) {
        const Price& price = ledger::find_price(prices, model, "the course");
        const double input = price.input.dollars(), output = price.output.dollars(),
                     cached = price.cached_input.dollars();
        const std::string name = fmt::format("price_{}_", id);
        note(name + "input", fmt::format("{}: input", model), input, unit);
        note(name + "output", fmt::format("{}: output", model), output, unit);
        note(name + "cached", fmt::format("{}: cached input", model), cached, unit);
        note(fmt::format("price_ratio_cached_{}", id),
             fmt::format("{}: cached input over input", model), cached / input,
             "times");
        ratios.push_back(output / input);
    }
    note("price_ratio", "output over input", ratios[0], "times");
    lab.check("price_ratio_alike", "both models have it alike",
              ratios[0] == ratios[1]);
}
// [list]

// This machine's list
// -------------------
// It is rented by the hour. What a token takes of the hour is what it costs. Three
// things can happen to a token, and each is timed by itself, for one person and for
// a batch, whose people have texts of their own.

struct People {
    std::vector<Tokens> prompts, openings, questions;
};

People people(Tokens text, int count) {
    People all;
    for (int i = 0; i < count; ++i) {
        const Tokens prompt = text.subspan(7 * i, opening + question);
        all.prompts.push_back(prompt);
        all.openings.push_back(prompt.first(opening));
        all.questions.push_back(prompt.last(question));
    }
    return all;
}

Caches empty(const gpt2::Model& model, std::size_t count) {
    Caches caches;
    while (caches.size() < count) caches.push_back(model.new_cache());
    return caches;
}

gpt2::Logits read(gpt2::Model& model, const std::vector<Tokens>& texts,
                  Caches& caches) {
    std::vector<gpt2::Step> steps;
    for (std::size_t i = 0; i < texts.size(); ++i)
        steps.push_back({.tokens = texts[i], .cache = caches[i]});
    return model.forward(steps);
}

// What so many people's passes should take, all of the same form.
lab::Seconds pass(const lab::Experiment& lab, int count, int tokens, int past) {
    return lab.engine().forward(
        std::vector(count, ledger::Step{.tokens = tokens, .past = past, .rows = 1}));
}

lab::Measured scaled(const lab::Measured& runs, double by) {
    return {by * runs.min, by * runs.median, by * runs.max, runs.runs};
}

// Seconds a token.
struct Took {
    lab::Seconds predicted;
    lab::Measured measured;
};

Took each(const lab::Measured& runs, lab::Seconds predicted, int tokens) {
    return {predicted / tokens, scaled(runs, 1.0 / tokens)};
}

// [input]
Took input(lab::Experiment& lab, gpt2::Model& model, const People& all) {
    const int n = int(all.prompts.size()), tokens = n * (opening + question);
    const lab::Measured runs = lab.time(
        [&] {
            Caches caches = empty(model, n);
            read(model, all.prompts, caches);
        },
        0.3);
    return each(runs, pass(lab, n, opening + question, 0), tokens);
}
// [input]

// A cached token is not read. What is left of it: somebody finds its keys and
// values, and every new token that is read behind it looks back at them. So the same
// question is read twice, behind a kept opening and behind nothing, one right after
// the other. The difference is what the opening's tokens still cost.

// [cached]
Took cached(lab::Experiment& lab, gpt2::Model& model, const People& all,
            const Caches& kept) {
    const int n = int(all.prompts.size()), tokens = n * opening;
    std::vector<double> more;
    const lab::Measured runs = lab.time(
        [&] {
            const lab::Stopwatch behind;
            Caches forks;
            for (const gpt2::KvCache& cache : kept) forks.push_back(cache.fork());
            read(model, all.questions, forks);
            const lab::Seconds with = behind.seconds();

            const lab::Stopwatch alone;
            Caches caches = empty(model, n);
            read(model, all.questions, caches);
            more.push_back((with - alone.seconds()) / tokens);
        },
        0.4);
    more.erase(more.begin(), more.end() - runs.runs);  // a warm-up does not count
    return {(pass(lab, n, question, opening) - pass(lab, n, question, 0)) / tokens,
            lab::summarize(std::move(more))};
}
// [cached]

// [output]
Took output(lab::Experiment& lab, gpt2::Model& model,
            std::span<gpt2::KvCache> caches) {
    const int n = int(caches.size()), past = caches[0].size();
    const lab::Measured runs = lab.time(
        [&] {
            std::vector<gpt2::Token> next(n, 0);
            for (int beat = 0; beat < beats; ++beat) {
                std::vector<gpt2::Step> steps;
                for (int i = 0; i < n; ++i)
                    steps.push_back({.tokens = {&next[i], 1}, .cache = caches[i]});
                const gpt2::Logits logits = model.forward(steps);
                for (int i = 0; i < n; ++i) next[i] = gpt2::argmax(logits[i]);
            }
            for (gpt2::KvCache& cache : caches) cache.truncate(past);
        },
        0.2);
    lab::Seconds predicted = 0;
    for (int beat = 0; beat < beats; ++beat)
        predicted += pass(lab, n, 1, past + beat);
    return each(runs, predicted, n * beats);
}
// [output]

// Three rows, their two ratios, and a list like the public one.
// [own]
Price own_list(lab::Experiment& lab, const std::string& id, const std::string& what,
               const std::array<Took, 3>& took) {
    const auto row = [&](const char* name, const char* say, const Took& token) {
        const double million = 1e6 * hour.dollars() / 3600;
        lab.row(fmt::format("{}_{}", name, id), fmt::format("{}: {}", what, say),
                "dollars", million * token.predicted,
                scaled(token.measured, million));
        // A difference of two timings may come out below nothing. A price does not.
        return ledger::per_million(std::max(0.0, token.measured.median), hour);
    };
    const Money in = row("input", "a million tokens in", took[0]);
    const Money out = row("output", "a million tokens out", took[1]);
    const Money known = row("cached", "a million tokens known", took[2]);
    lab.ratio("output_over_input_" + id, what + ": out over in", "output_" + id,
              "input_" + id);
    lab.ratio("cached_over_input_" + id, what + ": known over in", "cached_" + id,
              "input_" + id);
    return {what, "", "this machine", in, out, known};
}
// [own]

// A kept opening must change the price and nothing else: the logits behind the
// question are those of a prompt read whole. And it holds the bytes that the ledger
// counts, which every token written behind it fetches again.
void check_kept(lab::Experiment& lab, gpt2::Model& model, const std::string& name,
                const People& all, const Caches& kept, Caches& whole, Caches& bare) {
    Caches forks;
    for (const gpt2::KvCache& cache : kept) forks.push_back(cache.fork());
    const gpt2::Logits behind = read(model, all.questions, forks);
    const gpt2::Logits fresh = read(model, all.prompts, whole);
    std::int64_t floats = 0, bytes = 0;
    for (int i = 0; i < fresh.rows(); ++i)
        floats += lab::differing_floats(behind[i], fresh[i]);
    lab.check(
        "cached_same_" + name,
        name + ": behind kept openings the logits are those of prompts read whole",
        floats == 0, fmt::format("{} floats differ", floats));

    read(model, all.questions, bare);
    for (std::size_t i = 0; i < whole.size(); ++i)
        bytes += std::int64_t(whole[i].bytes()) - std::int64_t(bare[i].bytes());
    const std::int64_t due =
        std::int64_t(whole.size()) * opening *
        ledger::kv_bytes_per_token(model.config(), lab.options().kv);
    lab.check("retrieved_bytes_" + name,
              name + ": a document leaves as many bytes to fetch as the ledger says",
              bytes == due, fmt::format("{} and {}", bytes, due));
}

// What lies behind a token is fetched for it, cached or not. In a batch the weights
// are shared and the documents are not.

// [shadow]
void shadow(lab::Experiment& lab, gpt2::Model& model, const Took& with,
            std::span<gpt2::KvCache> bare, const std::string& id) {
    const Took without = output(lab, model, bare);
    lab.row(
        id,
        fmt::format("{} together: a token out behind {} more", bare.size(), opening),
        "times", with.predicted / without.predicted,
        with.measured / without.measured);
}
// [shadow]

struct Own {
    std::string id;
    Price price;
};

// The four lists: each type of weights, for one and for a batch. Between the two,
// how the first ratio falls.
std::vector<Own> own_lists(lab::Experiment& lab, gpt2::Model& model, Tokens text,
                           const std::string& name, std::vector<lab::Cells>& curve) {
    const People all = people(text, batch);
    Caches kept = empty(model, batch), whole = empty(model, batch),
           bare = empty(model, batch);
    read(model, all.openings, kept);
    check_kept(lab, model, name, all, kept, whole, bare);

    std::map<int, Took> written;
    // [sizes]
    std::set<int> sizes{batch};
    for (int n = 1; n < batch; n *= 2) sizes.insert(n);
    for (const int n : sizes)
        written[n] = output(lab, model, std::span(whole).first(n));
    // [sizes]

    std::vector<Own> lists;
    for (const int n : std::set{1, batch}) {
        const std::string id = fmt::format("{}_{}", name, n);
        Caches some;
        for (int i = 0; i < n; ++i) some.push_back(kept[i].fork());
        const People few = people(text, n);
        const std::array<Took, 3> took{input(lab, model, few), written[n],
                                       cached(lab, model, few, some)};
        const std::string what =
            n == 1 ? name + ", alone" : fmt::format("{}, {} together", name, n);
        lists.push_back({id, own_list(lab, id, what, took)});
        if (n == 1)
            for (const auto& [size, out] : written)
                curve.push_back({name, double(size),
                                 out.predicted / took[0].predicted,
                                 out.measured.median / took[0].measured.median});
    }
    if (name == gpt2::name_of(lab.options().dtype)) {
        shadow(lab, model, written[1], std::span(bare).first(1), "retrieved");
        if (batch > 1)
            shadow(lab, model, written[batch], bare, "retrieved_together");
    }
    return lists;
}

// The same list for a larger machine
// ----------------------------------
// An 8B model on an accelerator of 80 GB, by the ledger. How many share the weights'
// trip is one unknown. How long their texts are is the other: each fetches its own.

// [elsewhere]
void elsewhere(lab::Experiment& lab, double asked_ratio) {
    const ledger::Serving server =
        lab::read_machines(gpt2::data_directory() / "machines.json")
            .serving("8b", "h100", 1);
    const ledger::Step prompt{.tokens = context, .past = 0, .rows = 1};
    const lab::Seconds in = server.forward({&prompt, 1}) / context;
    const auto ratio = [&](int n) {
        const ledger::Step one{.tokens = 1, .past = context, .rows = 1};
        return server.forward(std::vector(n, one)) / n / in;
    };
    const int full = int(server.kv_room() / context);

    std::vector<lab::Cells> curve;
    int enough = 0;  // people at whom the ratio is the list's
    for (int n = 1; n <= full; ++n) {
        if (enough == 0 && ratio(n) <= asked_ratio) enough = n;
        if (std::has_single_bit(unsigned(n)) || n == full)
            curve.push_back({double(n), ratio(n)});
    }
    const std::string where = "8B model on an H100: ";
    lab.exhibit("elsewhere", {"together", "ratio"}, curve);
    lab.note("h100_alone", where + "out over in, alone", ratio(1), "times");
    lab.note("h100_full", where + "out over in, memory full", ratio(full), "times");
    lab.note("h100_full_people", where + "so many fill the memory", full,
             "sequences");
    if (enough > 0)
        lab.note("h100_list", where + "out over in is the list's from", enough,
                 "sequences");
    // A kept token takes room from somebody who would pay for it.
    lab.note("h100_keep", where + "a kept token costs its reading again after",
             in * double(server.kv_room()), "s");
}
// [elsewhere]

// Bills
// -----
// An agent and a talk hand in their whole record in every round: chapter 09 counts
// what is read. Everything else is one product or two.

struct Item {
    std::string id, what;
    std::function<Money(const Price&)> bill;
};

// [items]
std::vector<Item> items(const Talk& talk, const Talk& agent) {
    const auto once = [](const ledger::Usage& usage) {
        return [usage](const Price& price) { return ledger::cost(price, usage); };
    };
    const auto all = [](const Talk& of, bool kept) {
        return
            [of, kept](const Price& price) { return ledger::bill(price, of, kept); };
    };
    return {
        {"page", "a page written", once({.output = page})},
        {"book", "a book read", once({.input = book})},
        {"document", "a document read", once({.input = document})},
        {"short", "a short answer", once({.input = asked, .output = brief})},
        {"long", "one twice as long", once({.input = asked, .output = 2 * brief})},
        {"talk_without", "a talk, nothing kept", all(talk, false)},
        {"talk_with", "a talk, kept", all(talk, true)},
        {"agent_without", "an agent, nothing kept", all(agent, false)},
        {"agent_with", "an agent, record kept", all(agent, true)}};
}
// [items]

void bills(lab::Experiment& lab, const std::vector<Own>& lists, const Talk& talk,
           const Talk& agent) {
    for (const Item& item : items(talk, agent))
        for (const Own& list : lists)
            lab.note(fmt::format("bill_{}_{}", item.id, list.id),
                     fmt::format("{} at {}: {} times", item.what, list.price.model,
                                 lab::number(thousand)),
                     (thousand * item.bill(list.price)).dollars(), "dollars");
}

// Round by round, each class of tokens by itself. Together they are the bill: no
// token is in two classes, none in none.
void the_agents_bill(lab::Experiment& lab, const Price& price, const Talk& agent) {
    // [agent]
    std::vector<lab::Cells> shown;
    Money sum;
    std::int64_t handed = 0, known = 0;
    for (int k = 0; k < agent.rounds; ++k) {
        const ledger::Usage kept = agent.usage(k, true);
        const Money fresh = ledger::cost(price, {.input = kept.input - kept.cached});
        const Money old =
            ledger::cost(price, {.input = kept.cached, .cached = kept.cached});
        const Money out = ledger::cost(price, {.output = kept.output});
        sum += fresh + old + out;
        handed += kept.input;
        known += kept.cached;
        shown.push_back({double(k + 1),
                         ledger::cost(price, {.input = kept.input}).dollars(),
                         fresh.dollars(), old.dollars(), out.dollars()});
    }
    // [agent]
    lab.exhibit("agent", {"round", "input_without", "fresh", "known", "output"},
                shown);
    lab.note("agent_handed", "an agent: tokens handed in", double(handed), "tokens");
    lab.note("agent_known", "an agent: of them known", double(known), "tokens");
    const Money due = ledger::bill(price, agent, true);
    lab.check("agent_classes",
              "the agent's classes add up to its tokens and its bill",
              handed == ledger::tokens_read(agent, false) &&
                  handed - known == ledger::tokens_read(agent, true) &&
                  std::abs(sum.nano - due.nano) <= 2 * agent.rounds,
              fmt::format("{} tokens, {} and {} dollars", handed, to_string(sum),
                          to_string(due)));
}

// Say less
// --------
// The same question, answered at one length and at twice that.

// [less]
void say_less(lab::Experiment& lab, gpt2::Model& model, Tokens text,
              const Price& price) {
    const auto answer_of = [&](int tokens) {
        return lab::time_writing(lab, model, text.first(asked),
                                 {.max_tokens = tokens});
    };
    const auto predicted = [&](int tokens) {
        return ledger::predict(lab.engine(), Talk{asked, 1, tokens, 1}, false);
    };
    const lab::Writing whole = answer_of(2 * brief), half = answer_of(brief);
    lab.row("say_less", fmt::format("wait, {} written over {}", 2 * brief, brief),
            "times", predicted(2 * brief) / predicted(brief),
            whole.total / half.total);

    const auto written = [&](const lab::Writing& writing) {
        return ledger::cost(
            price, {.output = std::int64_t(writing.runs.front().tokens.size())});
    };
    const Money all = written(whole), less = written(half);
    lab.check("say_less_bill", "half the answer, half of what its writing costs",
              std::abs(all.nano - 2 * less.nano) <= 1,
              fmt::format("{} and {} dollars", to_string(less), to_string(all)));
}
// [less]

// A retrieved document
// --------------------
// The course's machine: 14 GB of weights at 1 TB/s, half a megabyte of cache a
// token. A document of 3,000 tokens is read once, at the price of input. Every token
// written behind it fetches 1.5 GB more.

// [document]
void the_courses_document(lab::Experiment& lab) {
    const ledger::Machine machine{1e12 * bandwidth,
                                  std::numeric_limits<double>::infinity(), 1};
    const auto beat = [&](int together, int past) {
        return ledger::predict(
            {"pass", 1, 0, 1e9 * weights + 1e6 * token_cache * together * past},
            machine);
    };
    for (const int n : std::set{1, batch}) {
        const std::string what =
            fmt::format("the course's machine, {} together: ", n);
        const std::string id = n == 1 ? "document_alone" : "document_together";
        lab.note(id, what + "a token out behind a document over one without",
                 beat(n, asked + document) / beat(n, asked), "times");
        lab.note(id + "_beat", what + "a beat behind a document",
                 beat(n, asked + document), "s");
    }
    lab.check("retrieved_dearer",
              "a document makes each token behind it dearer to write",
              beat(1, asked + document) > beat(1, asked));
}
// [document]

// A kept token holds memory, and memory is what a machine is rented for. After how
// long has it held as much of the machine as reading it again would take?
void how_long_to_keep(lab::Experiment& lab, const gpt2::Model& model) {
    const auto memory = double(lab.results().machine.memory_bytes);
    const auto bytes =
        double(ledger::kv_bytes_per_token(model.config(), lab.options().kv));
    if (memory > 0)
        lab.note("here_keep",
                 "this machine: a kept token costs its reading again after",
                 pass(lab, 1, opening + question, 0) / (opening + question) *
                     memory / bytes,
                 "s");
}

void check_room(const lab::Experiment& lab) {
    const gpt2::Config config =
        gpt2::load_config(lab.options().model, {.shape = lab.options().shape});
    const auto fits = [&](const char* options, int most) {
        if (most > config.n_ctx)
            throw gpt2::BadInput(
                fmt::format("{}: they ask for {} positions, but the context has {}",
                            options, most, config.n_ctx));
    };
    fits("--opening, --question, --beats", opening + question + beats);
    fits("--asked, --brief", asked + 2 * brief);
    const auto memory = double(lab.results().machine.memory_bytes);
    // Kept openings, whole prompts, and those that are read meanwhile.
    const double bytes =
        3.0 * batch * (opening + question + beats) *
        double(ledger::kv_bytes_per_token(config, lab.options().kv));
    if (memory > 0 && bytes > memory / 2)
        throw gpt2::BadInput(fmt::format(
            "--batch, --opening, --question, --beats: they ask for {}, over half of "
            "the memory",
            lab::quantity(bytes, "bytes")));
}

void price_list_chapter(lab::Experiment& lab) {
    const auto shipped = gpt2::data_directory() / "prices/2026-10.json";
    const std::filesystem::path file =
        price_list.empty() ? shipped : std::filesystem::path(price_list);
    const std::vector<Price> prices = ledger::read_prices(file);
    const Price price = ledger::find_price(prices, billed, file.string());
    if (price.input < Money{1'000'000})
        throw gpt2::BadInput(fmt::format(
            "{}: {}: input: expected 0.001 dollars or more", file.string(), billed));
    const Talk talk{message, message, answer, turns};
    const Talk agent{task, back, action, rounds};
    check_room(lab);
    read_the_list(lab, ledger::read_prices(shipped));

    const gpt2::DType dtype = lab.options().dtype;
    std::vector<Own> lists;
    std::vector<lab::Cells> curve;
    for (const gpt2::DType type : std::set{dtype, gpt2::DType::int8}) {
        const auto model = lab.load_model({.dtype = type});
        const std::vector<gpt2::Token> text = lab.text(
            "article.txt", std::max(opening + question + 7 * (batch - 1), asked));
        const std::string name(gpt2::name_of(type));
        if (type == dtype)
            lab.expect({pass(lab, batch, opening + question, 0),
                        pass(lab, batch, opening + question, 0),
                        predict(lab.engine(), {asked, 1, 2 * brief, 1}, false),
                        predict(lab.engine(), {asked, 1, brief, 1}, false)});
        for (Own& own : own_lists(lab, *model, text, name, curve))
            lists.push_back(std::move(own));
        if (type != dtype) continue;
        say_less(lab, *model, text, price);
        how_long_to_keep(lab, *model);
    }
    lab.exhibit("together", {"dtype", "together", "predicted", "measured"}, curve);
    elsewhere(lab, price.output.dollars() / price.input.dollars());
    // Of its own lists the first and the last: one person, and a batch on int8.
    bills(lab, {{"asked", price}, lists.front(), lists.back()}, talk, agent);
    the_agents_bill(lab, price, agent);
    the_courses_document(lab);
    lab.headline("output_over_input_" + std::string(gpt2::name_of(dtype)) + "_1");
    lab.keep(
        "What goes in is priced by its arithmetic, what comes out by its share of "
        "the "
        "weights' trip, what is known by the room it takes.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "10_price_list",
         .title = "What a price list says",
         .question =
             "Why is a token out dearer than a token in, and a known one cheap?",
         .experiment = price_list_chapter,
         .arguments = [](lab::Arguments& arguments) {
             const auto whole = [&](const char* name, int& value, const char* help,
                                    int most, std::optional<int> quick = {}) {
                 arguments.add(name, value, help,
                               {.least = 1, .most = most, .quick = quick});
             };
             arguments.add(
                 "--hour",
                 [](const std::string& text) {
                     hour = ledger::parse_dollars(text, "--hour");
                     if (hour == Money{} || hour > ledger::parse_dollars("10", ""))
                         throw gpt2::BadInput(
                             "--hour: expected more than 0 and at most 10 dollars, "
                             "found " +
                             to_string(hour));
                 },
                 "What this machine costs an hour, in dollars", "0.10");
             whole("--batch", batch, "People served together", 64, 4);
             whole("--opening", opening, "Tokens that are kept, of each prompt",
                   1000, 96);
             whole("--question", question, "Tokens behind them", 500, 8);
             whole("--beats", beats, "Tokens that each person's answer has", 100, 4);
             whole("--asked", asked, "Tokens of a question that is answered", 500,
                   20);
             whole("--brief", brief, "Tokens of the short answer to it", 400, 8);
             arguments.add("--context", context,
                           "Tokens behind each answer on the H100",
                           {.least = 100, .most = 8000});
             whole("--page", page, "Tokens of a page, billed", 1'000'000);
             whole("--book", book, "Tokens of a book, billed", 1'000'000);
             whole("--document", document, "Tokens of a document, billed",
                   1'000'000);
             whole("--turns", turns, "Turns of the talk, billed", 1000);
             whole("--message", message, "Tokens of each message", 10'000);
             whole("--answer", answer, "Tokens of each answer", 10'000);
             whole("--rounds", rounds, "Rounds of the agent, billed", 1000);
             whole("--task", task, "Tokens that the agent begins with", 100'000);
             whole("--action", action, "Tokens it writes in each round", 10'000);
             whole("--back", back, "Tokens that come back in each round", 10'000);
             arguments.add("--weights", weights,
                           "GB of weights of the course's model",
                           {.least = 0.001, .most = 1e6});
             arguments.add("--bandwidth", bandwidth, "TB/s that it reads them at",
                           {.least = 0.001, .most = 1e6});
             arguments.add("--token-cache", token_cache,
                           "MB that a token leaves in its cache",
                           {.least = 0.001, .most = 1e6});
             arguments.add("--prices", price_list,
                           "A price list; data/prices/2026-10.json unless given");
             arguments.add("--billed", billed,
                           "Whose prices of that list the bills use");
         }});
}
