// 14_speculative: what it counts, against what the library does, and what it refuses.

#include <gmock/gmock.h>

#include <cmath>

#include "chapters/program.hpp"
#include "gpt2/load.hpp"
#include "gpt2/speculative.hpp"

namespace {

using support::note;
using support::row;

using testing::HasSubstr;
using Column = std::vector<double>;

support::Outcome run(const std::string& options) {
    return support::run("14_speculative", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("14_speculative", "--quick --shape own " + options).results;
}

/// A column of numbers, of the rows that stand for one draft where one is named.
Column column(const lab::Results& results, const std::string& id, const std::string& name,
              const std::string& draft = "") {
    const lab::Exhibit* exhibit = results.find_exhibit(id);
    if (!exhibit) throw std::runtime_error("no exhibit " + id);
    const auto at = [&](const std::string& wanted) {
        const auto found = std::ranges::find(exhibit->columns, wanted);
        if (found == exhibit->columns.end())
            throw std::runtime_error(id + ": no " + wanted);
        return std::size_t(found - exhibit->columns.begin());
    };
    Column cells;
    for (const lab::Cells& row : exhibit->rows)
        if (draft.empty() || std::get<std::string>(row[at("draft")]) == draft)
            cells.push_back(std::get<double>(row[at(name)]));
    return cells;
}

/// What the shipped draft gets accepted on the program's own prompt, k at a time.
struct Accepted {
    double acceptance, tokens_per_trip, formula;
};

Accepted accepted(int tokens, int k) {
    const std::filesystem::path models = gpt2::data_directory() / "models";
    const auto target = gpt2::load_model(models / "story"),
               small = gpt2::load_model(models / "story-draft");
    const gpt2::Tokenizer words = gpt2::load_tokenizer(models / "story");
    gpt2::ModelDraft draft(*small, {words, gpt2::load_tokenizer(models / "story-draft")});
    gpt2::KvCache cache = target->new_cache();
    const gpt2::Speculation found =
        gpt2::speculate(*target, cache, words.encode("\"Thank you very"), draft,
                        {.generate = {.max_tokens = tokens}, .guesses = k});
    double kept = 0, refused = 0;
    for (const gpt2::Trip& trip : found.trips) {
        kept += trip.accepted;
        refused += trip.accepted < trip.guessed;
    }
    const double a = kept / (kept + refused), trips = double(found.trips.size());
    double formula = 0;
    for (const gpt2::Trip& trip : found.trips)
        formula += (1 - std::pow(a, trip.guessed + 1)) / (1 - a) / trips;
    return {a, (tokens - 1) / trips, formula};
}

}  // namespace

TEST(SpeculativeChapter, CountsWhatTheLibraryDoes) {
    const lab::Results results = finish("--tokens 40 --guesses 6");
    const Column acceptance = column(results, "counted", "acceptance", "draft");
    const Column trip = column(results, "counted", "tokens_per_trip", "draft");
    const Column formula = column(results, "counted", "formula", "draft");
    ASSERT_EQ(column(results, "counted", "guesses", "draft"), (Column{1, 2, 3, 4, 5, 6}));
    for (int k = 1; k <= 6; ++k) {
        const Accepted found = accepted(40, k);
        EXPECT_DOUBLE_EQ(acceptance[k - 1], found.acceptance) << k;
        EXPECT_DOUBLE_EQ(trip[k - 1], found.tokens_per_trip) << k;
        EXPECT_NEAR(formula[k - 1], found.formula, 1e-12) << k;
    }
    EXPECT_DOUBLE_EQ(row(results, "predictable_draft_4_trip").measured.median, trip[3]);
    EXPECT_DOUBLE_EQ(*row(results, "predictable_draft_4_trip").predicted, formula[3]);
    EXPECT_DOUBLE_EQ(note(results, "predictable_draft_4_kept"), 100 * acceptance[3]);

    // At its own shape the target is its own draft: it agrees with itself.
    const Column itself = column(results, "counted", "tokens_per_trip", "itself");
    for (int k = 1; k <= 6; ++k) EXPECT_EQ(itself[k - 1], 39 / std::ceil(39.0 / (k + 1)));
    // Each guess costs a pass of its own there. It cannot pay.
    for (const double times : column(results, "counted", "predicted", "itself"))
        EXPECT_LT(times, 1);
    EXPECT_EQ(note(results, "best_itself"), 0);
    EXPECT_EQ(note(results, "best_bad"), 0);
    for (const double tokens : column(results, "counted", "tokens_per_trip", "bad"))
        EXPECT_LT(tokens, 1.1);
    for (const double tokens : column(results, "counted", "tokens_per_trip", "lookup"))
        EXPECT_GE(tokens, 1);
}

TEST(SpeculativeChapter, TimesBothTextsAndComparesTheirBits) {
    const lab::Results results = finish("--guesses 4");
    EXPECT_EQ(results.headline, "predictable_draft_4");
    for (const char* id :
         {"predictable", "surprising", "pass_1", "pass_5", "guess_draft", "guess_itself",
          "predictable_itself_1", "predictable_draft_2", "predictable_lookup_4",
          "predictable_bad_4", "predictable_draft_adapted", "predictable_bad_adapted",
          "surprising_itself_4", "surprising_draft_1", "surprising_lookup_4",
          "surprising_bad_4", "surprising_draft_adapted"})
        EXPECT_GT(row(results, id).predicted.value(), 0) << id;
    // 4 drafts with 1, 2, 4 guesses and two adapted; then two with all, two with 4.
    const std::size_t texts = 4 * 3 + 2 + 2 * 3 + 2 + 2;
    EXPECT_EQ(column(results, "timed", "measured").size(), texts);
    EXPECT_EQ(column(results, "timed", "guesses", "draft"),
              (Column{1, 2, 4, 0, 1, 2, 4, 0}));
    for (const char* name : {"tokens_per_trip", "predicted", "measured"})
        for (const double number : column(results, "timed", name)) EXPECT_GT(number, 0);
    // 24 tokens of 4,096 scores in every text.
    bool found = false;
    for (const lab::Check& check : results.checks) {
        EXPECT_TRUE(check.holds) << check.what;
        if (check.id != "spec_bits") continue;
        found = true;
        EXPECT_THAT(check.detail, HasSubstr("0 of 2,359,296 floats"));
        EXPECT_EQ(texts * 24 * 4096, 2359296u);
    }
    EXPECT_TRUE(found);
}

TEST(SpeculativeChapter, WalksAlongASentence) {
    const lab::Results real = finish("--guesses 1");
    const Column kept = column(real, "along", "percent_kept");
    EXPECT_GE(kept.size(), 20u);
    for (const double percent : kept) {
        EXPECT_GT(percent, 0);
        EXPECT_LE(percent, 100 + 1e-9);
    }
    for (const double percent : column(real, "along", "percent_first")) {
        EXPECT_GT(percent, 0);
        EXPECT_LE(percent, 100);
    }
    double shares = 0;
    for (const char* id : {"high_positions", "middle_positions", "low_positions"})
        shares += note(real, id);
    EXPECT_NEAR(shares, 100, 1e-9);

    // The target as a draft of its own: every guess is kept, drawn or not.
    const std::string story = (gpt2::data_directory() / "models/story").string();
    const lab::Results same =
        finish("--guesses 4 --sentence 'Once upon a time' --draft " + story);
    EXPECT_EQ(column(same, "along", "percent_kept").size(), 4u);
    for (const double percent : column(same, "along", "percent_kept"))
        EXPECT_NEAR(percent, 100, 1e-9);
    EXPECT_EQ(column(same, "along", "agree"), (Column{1, 1, 1, 1}));
    EXPECT_EQ(note(same, "surprising_draft_4_kept"), 100);
    EXPECT_EQ(row(same, "surprising_draft_4_trip").measured.median, 23.0 / 5);
}

TEST(SpeculativeChapter, TakesOtherModelsAndSizes) {
    finish("--tokens 8 --guesses 16 --along 2 --prompt a --temperature 3 --seed 4");
    finish("--dtype int8 --kv f16 --threads 1 --guesses 3 --temperature 0.01");
    const lab::Results random =
        support::finish(
            "14_speculative",
            "--quick --model random --shape small --tokens 8 --guesses 2 --along 2")
            .results;
    EXPECT_EQ(random.checks_held(), int(random.checks.size()));
}

TEST(SpeculativeChapter, RefusesInOneLine) {
    const auto refused = [](const std::string& options) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(refused("--prompt ''"), "14_speculative: --prompt: empty\n");
    EXPECT_EQ(refused("--sentence a"),
              "14_speculative: --sentence: expected 2 to 1024 tokens, found 1\n");
    EXPECT_EQ(
        refused("--tokens 1000 --guesses 64"),
        "14_speculative: --prompt, --tokens, --guesses: they ask for 1069 positions, "
        "but the context has 1024\n");
    EXPECT_THAT(refused("--prompt \"$(printf 'a\\377')\""), HasSubstr("expected UTF-8"));
    EXPECT_THAT(refused("--sentence \"$(printf 'a\\377')\""), HasSubstr("--sentence"));
    EXPECT_THAT(refused("--draft /nowhere"), HasSubstr("/nowhere"));
    for (const char* options :
         {"--tokens 7", "--tokens 1001", "--guesses 0", "--guesses 65", "--along 1",
          "--along 1025", "--temperature 0", "--temperature nan", "--temperature 11",
          "--draft /"})
        refused(options);

    // A draft that knows a word which the target does not.
    const support::TempDir dir;
    for (const char* file : {"config.json", "model.safetensors", "merges.txt"})
        std::filesystem::copy(gpt2::data_directory() / "models/story-draft" / file,
                              dir / file);
    std::string words =
        support::slurp(gpt2::data_directory() / "models/story-draft/vocab.json");
    const std::size_t at = words.find("\"the\"");
    ASSERT_NE(at, std::string::npos);
    words.replace(at, 5, "\"thx\"");
    support::spew(dir / "vocab.json", words);
    refused("--draft " + dir.path().string());
}
