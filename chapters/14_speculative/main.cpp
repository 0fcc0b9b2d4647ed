// Speculative decoding: writing turned into reading
//
// Reading is cheap, writing is dear. So let a small model write: it guesses the next
// few tokens. The large one reads them all in one pass, keeps them up to the first
// that it would not have written, and puts its own in that one's place. The small
// model is right about two times out of three. What becomes of the text?
//
//     A  something between the two: a little worse, and sooner
//     B  the large model's own, word for word, and sooner
//     C  the large model's own, but no sooner: it still has to compute every token
//     D  mostly the large model's own; now and then a wrong word slips through

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "gpt2/error.hpp"
#include "gpt2/speculative.hpp"
#include "gpt2/utf8.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/surprise.hpp"
#include "lab/table.hpp"
#include "lab/visible.hpp"
#include "lab/writing.hpp"
#include "ledger/drafting.hpp"

std::string prompt = "\"Thank you very";  // --prompt
std::string sentence =                    // --sentence
    "\"Thank you very much,\" said the old man, and he sat down by the fire, for "
    "the night was cold.";
std::string draft_model;        // --draft; empty: data/models/story-draft
int n = 96, most = 16;          // --tokens, --guesses
int read_along = 512;           // --along
double temperature = 1;         // --temperature, of the surprising text
constexpr int candidates = 40;  // that are drawn from
constexpr int adapting = 0;     // a number of guesses that changes
constexpr double little = 0.1;  // of the time that a measurement may take

// Timed with 1, 2, 4, 8 ... guesses, and looked at closely with four.
int usual() { return most >= 4 ? 4 : most >= 2 ? 2 : 1; }

using Text = std::vector<gpt2::Token>;
using Tokens = std::span<const gpt2::Token>;
using Trips = std::vector<gpt2::Trip>;
// How many guesses next, after these trips?
using Ask = std::function<int(std::span<const gpt2::Trip>)>;

// Who guesses
// -----------
// The target is a small model widened to GPT-2 small's shape. Four drafts try their
// luck: the small model itself, which knows nearly every word beforehand; a real
// draft, four times smaller still; a look at what followed the same words earlier in
// the text; and that real draft again with a slip in its vocabulary. Each of its ids
// is one too high, so it always says something else than it means.

// [shifted]
class Shifted : public gpt2::Draft {
public:
    Shifted(gpt2::Draft& inner, int n_vocab) : inner_(inner), n_vocab_(n_vocab) {}

    std::vector<gpt2::Guess> guess(Tokens text, int count,
                                   const gpt2::Sampler& sampler,
                                   std::uint64_t sample) override {
        auto guesses = inner_.guess(text, count, sampler, sample);
        const auto wrong = [&](gpt2::Token& id) { id = (id + 1) % n_vocab_; };
        for (gpt2::Guess& guess : guesses) {
            wrong(guess.token);
            for (gpt2::Candidate& candidate : guess.candidates)
                wrong(candidate.token);
        }
        return guesses;
    }

private:
    gpt2::Draft& inner_;
    int n_vocab_;
};
// [shifted]

struct Guesser {
    std::string id, name;
    gpt2::Draft& draft;
    std::optional<ledger::Engine> engine;  // of its model; none for look-up

    lab::Seconds guess(int past, const ledger::Machine& machine) const {
        const ledger::Step one{.tokens = 1, .past = past, .rows = 1};
        return engine ? engine->on(machine).forward(one) : 0;
    }
};

// What the experiments share.
struct Desk {
    lab::Experiment& lab;
    gpt2::Model& target;
    const ledger::Engine& engine;
    std::vector<Guesser> guessers;
    Text opening;

    ledger::TripCost cost(const Guesser& guesser) const {
        const int past = int(opening.size()) + n / 2;
        return ledger::trip_cost(engine, past,
                                 guesser.guess(past, engine.machine()));
    }
};

// Counting without the target
// ---------------------------
// What the target writes greedily is known once it was written. Then any draft can
// be tried out on that text alone: how far does each of its guesses agree?

// [replay]
Trips replay(gpt2::Draft& draft, Tokens text, std::size_t opening, const Ask& ask) {
    Trips trips;
    std::size_t at = opening + 1;  // the first token comes from reading the opening
    while (at < text.size()) {
        const int left = int(text.size() - at) - 1;  // one is the target's own
        const auto guesses =
            draft.guess(text.first(at), std::min(ask(trips), left), {}, 0);
        int kept = 0;
        while (kept < int(guesses.size()) && guesses[kept].token == text[at + kept])
            ++kept;
        trips.push_back({int(guesses.size()), kept});
        at += kept + 1;
    }
    return trips;
}
// [replay]

Ask always(int guesses) {
    return [guesses](std::span<const gpt2::Trip>) { return guesses; };
}

// [count]
struct Count {
    double trips = 0, kept = 0, refused = 0;

    explicit Count(std::span<const gpt2::Trip> all) : trips(double(all.size())) {
        for (const auto& [guesses, accepted] : all) {
            kept += accepted;
            refused += accepted < guesses;  // nobody looks behind a refusal
        }
    }
    double acceptance() const { return kept > 0 ? kept / (kept + refused) : 0; }
    double tokens_per_trip() const { return (kept + trips) / trips; }
};
// [count]

// The formula expects as many, trip by trip: at times a draft has fewer guesses.
double by_the_formula(const Trips& trips) {
    const Count count(trips);
    double tokens = 0;
    for (const gpt2::Trip& trip : trips)
        tokens += ledger::tokens_per_trip(count.acceptance(), trip.guessed);
    return tokens / count.trips;
}

// What these trips should take: a pass of the target over the guesses and the token
// before them, and a pass of the draft for each guess.

// [seconds]
lab::Seconds predict(const Desk& desk, const Guesser& guesser, const Trips& trips) {
    lab::Seconds sum = 0;
    int past = int(desk.opening.size());
    for (const auto& [guessed, accepted] : trips) {
        sum += desk.engine.forward(
            {.tokens = guessed + 1, .past = past, .rows = guessed + 1});
        for (int i = 0; i < guessed; ++i)
            sum += guesser.guess(past + i, desk.engine.machine());
        past += accepted + 1;
    }
    return sum;
}
// [seconds]

lab::Seconds predict_plain(const Desk& desk) {
    lab::Seconds sum = 0;
    for (int i = 0; i + 1 < n; ++i)
        sum += desk.engine.forward(
            {.tokens = 1, .past = int(desk.opening.size()) + i, .rows = 1});
    return sum;
}

// Adapted
// -------
// How many guesses pay? That depends on how many are right, and so far one can only
// look back. The ledger knows the rest.

// [adapt]
Ask adapted(const ledger::TripCost& cost) {
    return [cost](std::span<const gpt2::Trip> trips) {
        // The last sixteen, and as a beginning two guesses: one right, one wrong.
        const Count count(trips.last(std::min<std::size_t>(16, trips.size())));
        const double acceptance =
            (count.kept + 1) / (count.kept + count.refused + 2);
        return ledger::best_guesses(acceptance, most, cost);
    };
}
// [adapt]

// The same text?
// --------------
// The plain way first: one token, one pass. Its tokens and every score behind them
// are kept, and what is speculated later is held against them. One text takes the
// best token each time, and soon repeats itself; the other is drawn, and does not.

struct Plain {
    std::string name;
    gpt2::Sampler sampler;
    Text text;                     // opening included
    std::vector<float> rows = {};  // [n, n_vocab]
    lab::Measured seconds = {};

    bool greedy() const { return name == "predictable"; }
    std::span<const float> row(int i) const {
        return std::span(rows).subspan(i * (rows.size() / n), rows.size() / n);
    }
};

// Reading the opening is the same work either way: the clock starts behind it.
lab::Measured behind_first(std::span<const gpt2::Generation> runs) {
    std::vector<double> seconds;
    for (const gpt2::Generation& run : runs)
        seconds.push_back(run.seconds.back() - run.first_token());
    return lab::summarize(std::move(seconds));
}

Plain write_plainly(const Desk& desk, const std::string& name,
                    const gpt2::SamplerOptions& filters) {
    auto& [lab, target, engine, guessers, opening] = desk;
    Plain plain{name, gpt2::Sampler(filters), opening};
    // [plain]
    gpt2::KvCache cache = target.new_cache();
    Tokens reading = opening;
    for (int i = 0; i < n; ++i) {
        const gpt2::Logits logits = target.forward(reading, cache);
        plain.rows.insert(plain.rows.end(), logits[0].begin(), logits[0].end());
        plain.text.push_back(plain.sampler.pick(logits[0], 0, cache.size()));
        reading = Tokens(plain.text).last(1);
    }
    // [plain]
    const lab::Writing timed = lab::time_writing(
        lab, target, opening, {.max_tokens = n, .sampler = plain.sampler});
    plain.seconds = behind_first(timed.runs);
    lab.row(name, fmt::format("{} text, {} tokens, plain", name, n - 1), "s",
            predict_plain(desk), plain.seconds);
    double bits = 0;
    for (int i = 0; i < n; ++i)
        bits += lab::surprise(plain.row(i), plain.text[opening.size() + i]) / n;
    lab.note("bits_" + name, name + " text: mean surprise", bits, "bits");
    return plain;
}

// What each draft's guesses are worth
// -----------------------------------
// On the predictable text, for every number of guesses, by counting. If each guess
// had the same chance a of being right, k of them would bring
//
//     1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a)
//
// tokens a trip. Real texts have easy stretches and hard ones.

void count_trips(const Desk& desk, const Plain& plain) {
    std::vector<lab::Table::Column> columns{{"guesses", 7, true}};
    std::vector<std::vector<std::string>> lines(most);
    std::vector<lab::Cells> cells;
    bool whole = true;
    for (const Guesser& guesser : desk.guessers) {
        columns.push_back({guesser.name, 18, true});
        double best = 0, best_times = 1;
        for (int k = 1; k <= most; ++k) {
            // [worth]
            const Trips trips =
                replay(guesser.draft, plain.text, desk.opening.size(), always(k));
            const Count count(trips);
            const double formula = by_the_formula(trips);
            const double times = predict_plain(desk) / predict(desk, guesser, trips);
            // [worth]
            whole &= count.kept + count.trips == n - 1;
            lines[k - 1].push_back(
                fmt::format("{:.2f} ({:.2f})", count.tokens_per_trip(), formula));
            cells.push_back({guesser.id, double(k), count.acceptance(),
                             count.tokens_per_trip(), formula, times});
            if (times <= best_times) continue;
            best = k;
            best_times = times;
        }
        desk.lab.note("best_" + guesser.id,
                      guesser.name + ": best number of guesses", best);
        desk.lab.note("best_" + guesser.id + "_times",
                      guesser.name + ": predicted speed-up there", best_times,
                      "times");
    }
    lab::Table table(columns);
    for (int k = 1; k <= most; ++k) {
        lines[k - 1].insert(lines[k - 1].begin(), std::to_string(k));
        table.add(std::move(lines[k - 1]));
    }
    fmt::print("\ntokens a trip on the {} text, counted (and by the formula)\n{}\n",
               plain.name, table.text());
    std::fflush(stdout);
    desk.lab.exhibit("counted",
                     {"draft", "guesses", "acceptance", "tokens_per_trip", "formula",
                      "predicted"},
                     cells);
    desk.lab.check("trips_add_up", "guesses kept and trips make the text", whole,
                   fmt::format("{} tokens behind the first", n - 1));
}

// Beside certainty
// ----------------
// Chapter 02 found positions where one candidate has nearly everything: after "Thank
// you very", say. Those are the ones that a small model knows as well. Where the
// draft draws x from its table q and the target has the table p, the guess is kept
// with chance min(1, p(x) / q(x)). Over all x that makes the sum of min(p, q).

// [chance]
double chance(gpt2::Draft& draft, Tokens text, const gpt2::Sampler& sampler,
              std::span<const float> row) {
    const auto guesses = draft.guess(text, 1, sampler, 0);
    if (guesses.empty()) return 0;
    const auto p = sampler.candidates(row), &q = guesses[0].candidates;
    double kept = 0;
    for (const auto& [token, drawn] : q)
        kept += drawn * gpt2::acceptance(p, q, token);
    return kept;
}
// [chance]

struct Position {
    double first, kept;  // the target's first candidate; a guess's chance to be kept
    bool agree;          // whether both have the same first candidate
};

// Along a text: of text[1], text[2], ...
std::vector<Position> walk(const Desk& desk, gpt2::Draft& draft,
                           const gpt2::Sampler& sampler, Tokens text) {
    gpt2::KvCache cache = desk.target.new_cache();
    const gpt2::Logits logits = desk.target.forward(text, cache, gpt2::Rows::all);
    std::vector<Position> along;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const std::span<const float> row = logits[int(i) - 1];
        const gpt2::Token best = gpt2::argmax(row);
        const auto guesses = draft.guess(text.first(i), 1, {}, 0);
        along.push_back({std::exp2(-lab::surprise(row, best)),
                         chance(draft, text.first(i), sampler, row),
                         !guesses.empty() && guesses[0].token == best});
    }
    return along;
}

void beside_certainty(const Desk& desk, const Guesser& guesser,
                      const gpt2::Sampler& sampler, Tokens text) {
    lab::Experiment& lab = desk.lab;
    lab::Table table({{"the sentence goes on with", 25},
                      {"first candidate", 15, true},
                      {"a guess is kept", 15, true},
                      {"both pick", 10}});
    std::vector<lab::Cells> cells;
    for (const auto& [first, kept, agree] :
         walk(desk, guesser.draft, sampler, text)) {
        const gpt2::Token token = text[cells.size() + 1];
        const std::string piece = lab::visible(lab.tokenizer().bytes(token));
        table.add({piece, fmt::format("{:.1f}%", 100 * first),
                   fmt::format("{:.1f}%", 100 * kept), agree ? "the same" : ""});
        cells.push_back({piece, 100 * first, 100 * kept, double(agree)});
    }
    fmt::print("\nalong a sentence, {}\n{}", guesser.name, table.text());
    lab.exhibit("along", {"piece", "percent_first", "percent_kept", "agree"}, cells);

    // And along the article: where the target is sure, in between, and at a loss.
    const auto article =
        walk(desk, guesser.draft, sampler, lab.text("article.txt", read_along));
    const auto share = [&](const std::string& id, const std::string& what,
                           double from, double to) {
        double count = 0, kept = 0, agree = 0;
        for (const Position& at : article)
            if (at.first >= from && at.first < to) {
                ++count;
                kept += at.kept;
                agree += at.agree;
            }
        lab.note(id + "_positions", "article: " + what,
                 100 * count / double(article.size()), "%");
        lab.note(id + "_kept", "article: guesses kept there",
                 100 * kept / std::max(count, 1.0), "%");
        lab.note(id + "_agree", "article: the same first candidate there",
                 100 * agree / std::max(count, 1.0), "%");
    };
    share("high", "first candidate above 90%", 0.9, 2);
    share("middle", "first candidate from 50% to 90%", 0.5, 0.9);
    share("low", "first candidate below 50%", 0, 0.5);
}

// With a clock
// ------------

// What all speculated texts have to say to the checks.
struct Seen {
    std::vector<lab::Cells> cells = {};
    int greedy = 0, other_text = 0, other_trips = 0;
    std::int64_t floats = 0, differ = 0;
};

// The scores behind a text's tokens, found by reading it at once.
std::vector<float> read_scores(const Desk& desk, Tokens written) {
    gpt2::KvCache cache = desk.target.new_cache();
    const Tokens opening = desk.opening;
    Text text(written.begin(), written.end() - 1);
    text.insert(text.begin(), opening.back());
    if (opening.size() > 1)
        desk.target.forward(opening.first(opening.size() - 1), cache,
                            gpt2::Rows::none);
    const gpt2::Logits logits = desk.target.forward(text, cache, gpt2::Rows::all);
    return {&logits[0].front(), &logits[logits.rows() - 1].back() + 1};
}

void speculate(const Desk& desk, const Plain& plain, const Guesser& guesser, int k,
               Seen& seen) {
    const Ask ask = k == adapting ? adapted(desk.cost(guesser)) : always(k);
    // [speculate]
    // In turns with the plain way: what memory gives changes from minute to minute.
    std::vector<gpt2::Generation> alone, runs;
    std::vector<float> scores;
    Trips trips;
    const auto one_run = [&] {
        gpt2::KvCache own = desk.target.new_cache(), cache = desk.target.new_cache();
        alone.push_back(gpt2::generate(desk.target, own, desk.opening,
                                       {.max_tokens = n, .sampler = plain.sampler}));
        gpt2::Speculation run = gpt2::speculate(
            desk.target, cache, desk.opening, guesser.draft,
            {.generate = {.max_tokens = n, .sampler = plain.sampler}, .adapt = ask},
            [&](gpt2::Token, std::span<const float> row) {
                if (runs.empty())
                    scores.insert(scores.end(), row.begin(), row.end());
                return true;
            });
        runs.push_back(std::move(run.generation));
        trips = std::move(run.trips);
    };
    const lab::Measured measured = desk.lab.time(one_run, little);
    // [speculate]
    const auto counted = [&](const std::vector<gpt2::Generation>& all) {
        return behind_first(std::span(all).last(std::size_t(measured.runs)));
    };
    const lab::Measured times = counted(alone) / counted(runs);
    const double predicted = predict_plain(desk) / predict(desk, guesser, trips);
    const Count count(trips);
    const std::string how =
        k == adapting ? "adapted" : fmt::format("{} at a time", k);
    const std::string what =
        fmt::format("{} text, {}, {}", plain.name, guesser.name, how);
    const std::string id =
        fmt::format("{}_{}_{}", plain.name, guesser.id,
                    k == adapting ? "adapted" : std::to_string(k));
    desk.lab.row(id, what, "times", predicted, times);
    if (k == usual()) {
        desk.lab.row(id + "_trip", what + ": a trip", "tokens",
                     by_the_formula(trips),
                     lab::summarize({count.tokens_per_trip()}));
        desk.lab.note(id + "_kept", what + ": guesses kept",
                      100 * count.acceptance(), "%");
    }
    seen.cells.push_back({plain.name, guesser.id, double(k), count.acceptance(),
                          count.tokens_per_trip(), predicted, times.median});

    // What must hold. The drawn text is another one than the plain one, of the same
    // law: read it anew, and each token must have been drawn from the very scores
    // found now.

    // [same]
    const Text& written = runs[0].tokens;
    const std::size_t opening = desk.opening.size();
    if (plain.greedy()) {
        ++seen.greedy;
        seen.other_text += !std::ranges::equal(written, Tokens(plain.text).last(n));
        seen.other_trips += trips != replay(guesser.draft, plain.text, opening, ask);
    }
    const auto& expected = plain.greedy() ? plain.rows : read_scores(desk, written);
    seen.differ += lab::differing_floats(scores, expected);
    seen.floats += std::int64_t(scores.size());
    // [same]
}

void with_a_clock(const Desk& desk, const Plain& predictable,
                  const Plain& surprising) {
    // Some 36 texts, three times each, twice as fast as the plain ones beside them.
    fmt::print("time     {} or more, if all goes as predicted\n",
               lab::quantity(162 * predict_plain(desk), "s"));
    std::fflush(stdout);
    Seen seen;
    for (const Plain* plain : {&predictable, &surprising})
        for (const Guesser& guesser : desk.guessers) {
            const bool all =
                plain->greedy() || guesser.id == "itself" || guesser.id == "draft";
            for (int k = 1; k <= most; k *= 2)
                if (all || k == usual()) speculate(desk, *plain, guesser, k, seen);
            if (guesser.id == "draft" || guesser.id == "bad")
                speculate(desk, *plain, guesser, adapting, seen);
        }
    lab::Experiment& lab = desk.lab;
    lab.exhibit("timed",
                {"text", "draft", "guesses", "acceptance", "tokens_per_trip",
                 "predicted", "measured"},
                seen.cells);
    lab.check("spec_same", "whatever the draft, the text is the target's own",
              seen.other_text == 0,
              fmt::format("{} of {} texts differ", seen.other_text, seen.greedy));
    lab.check("spec_bits", "each token comes from the scores of plain decoding",
              seen.differ == 0,
              fmt::format("{} of {} floats differ in their bits", seen.differ,
                          lab::number(double(seen.floats))));
    lab.check("trips_counted", "the trips are those counted without the target",
              seen.other_trips == 0);
}

// What a trip is made of: a pass over the guesses and the token before, and the
// guesses.
void parts_of_a_trip(const Desk& desk, Tokens text) {
    auto& [lab, target, engine, guessers, opening] = desk;
    const int past = int(opening.size());
    gpt2::KvCache cache = target.new_cache();
    target.forward(opening, cache, gpt2::Rows::none);
    for (int k = 0; k <= std::min(most, n - 1); k = std::max(1, 2 * k)) {
        const Tokens some = text.subspan(opening.size(), std::size_t(k) + 1);
        const auto pass = lab.time(
            [&] {
                target.forward(some, cache, gpt2::Rows::all);
                cache.truncate(past);
            },
            little);
        lab.row(fmt::format("pass_{}", k + 1),
                fmt::format("a pass over {} token{}", k + 1, k ? "s" : ""), "s",
                engine.forward({.tokens = k + 1, .past = past, .rows = k + 1}),
                pass);
    }
    for (const Guesser& guesser : guessers) {
        if (!guesser.engine || guesser.id == "bad") continue;
        double made = 0;
        const auto all = lab.time(
            [&] { made = double(guesser.draft.guess(text, most, {}, 0).size()); },
            little);
        if (made > 0)
            lab.row("guess_" + guesser.id, "a guess by " + guesser.name, "s",
                    guesser.guess(int(text.size()), engine.machine()),
                    {all.min / made, all.median / made, all.max / made, all.runs});
    }
}

void check_room(const gpt2::Model& target, const Text& opening, const Text& along) {
    const int context = target.config().n_ctx,
              needed = int(opening.size()) + n + most;
    if (opening.empty()) throw gpt2::BadInput("--prompt: empty");
    if (along.size() < 2 || int(along.size()) > context)
        throw gpt2::BadInput(fmt::format(
            "--sentence: expected 2 to {} tokens, found {}", context, along.size()));
    if (needed > context)
        throw gpt2::BadInput(
            fmt::format("--prompt, --tokens, --guesses: they ask for {} positions, "
                        "but the context has {}",
                        needed, context));
}

void speculative(lab::Experiment& lab) {
    gpt2::check_utf8(prompt, "--prompt");
    gpt2::check_utf8(sentence, "--sentence");
    const std::unique_ptr<gpt2::Model> target = lab.load_model();
    const gpt2::Tokenizer& words = lab.tokenizer();
    const Text opening = words.encode(prompt), along = words.encode(sentence);
    check_room(*target, opening, along);

    // [drafts]
    const std::filesystem::path own = lab.options().model;
    const std::filesystem::path real =
        draft_model.empty() ? gpt2::data_directory() / "models/story-draft"
                            : std::filesystem::path(draft_model);
    const gpt2::LoadOptions load{.dtype = lab.options().dtype,
                                 .kv = lab.options().kv,
                                 .threads = lab.threads()};
    // At its own shape the target was not widened: it is its own draft.
    const bool widened = lab.options().shape != "own" && own != "random";
    const auto narrow = widened ? gpt2::load_model(own, load) : nullptr;
    const auto small = gpt2::load_model(real, load);
    gpt2::Model& first = widened ? *narrow : *target;
    gpt2::ModelDraft itself(first,
                            {words, widened ? gpt2::load_tokenizer(own) : words});
    gpt2::ModelDraft draft(*small, {words, gpt2::load_tokenizer(real)});
    gpt2::PromptLookup lookup;
    Shifted bad(draft, target->config().n_vocab);
    // [drafts]
    const auto costs = [&](const gpt2::Model& model) {
        return ledger::Engine(model.config(), load.dtype, load.kv, lab.machine());
    };
    const auto name_of = [](const std::filesystem::path& directory) {
        return (directory / "").parent_path().filename().string();
    };
    const std::string name = name_of(real);
    const Desk desk{lab,
                    *target,
                    lab.engine(),
                    {{"itself", name_of(own), itself, costs(first)},
                     {"draft", name, draft, costs(*small)},
                     {"lookup", "look-up", lookup, {}},
                     {"bad", name + " shifted", bad, costs(*small)}},
                    opening};

    const gpt2::SamplerOptions drawing{.temperature = float(temperature),
                                       .top_k = candidates,
                                       .seed = lab.options().seed};
    beside_certainty(desk, desk.guessers[1], gpt2::Sampler(drawing), along);
    const Plain predictable = write_plainly(desk, "predictable", {});
    const Plain surprising = write_plainly(desk, "surprising", drawing);
    count_trips(desk, predictable);
    parts_of_a_trip(desk, predictable.text);
    with_a_clock(desk, predictable, surprising);
    lab.headline(fmt::format("predictable_draft_{}", usual()));

    lab.keep(
        "A draft that is often right turns writing into reading: fewer trips, and "
        "every word still the target's own.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "14_speculative",
         .title = "Speculative decoding: writing turned into reading",
         .question =
             "How much sooner is the same text written when another one guesses?",
         .experiment = speculative,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--prompt", prompt, "The text to continue");
             arguments.add("--sentence", sentence, "The text to walk along");
             arguments.add("--tokens", n, "Tokens to write",
                           {.least = 8, .most = 1000, .quick = 24});
             arguments.add("--guesses", most, "Guesses in a trip, at most",
                           {.least = 1, .most = 64});
             arguments.add("--along", read_along,
                           "Tokens of the article to walk along",
                           {.least = 2, .most = 1024, .quick = 48});
             arguments.add("--draft", draft_model,
                           "The draft's model directory [data/models/story-draft]");
             arguments.add("--temperature", temperature,
                           "At which the surprising text is drawn",
                           {.least = 0.01, .most = 10});
         }});
}
