// 12_vote_or_verify: the course's figures, its counts against sums made here, and what it
// refuses. Rates are counts of seeded draws: the same on every run.

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "chapters/program.hpp"

namespace {

using support::column;
using support::note;
using support::row;

namespace fs = std::filesystem;
using testing::HasSubstr;
using Column = std::vector<double>;

support::Outcome run(const std::string& options) {
    return support::run("12_vote_or_verify", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options = "") {
    return support::finish("12_vote_or_verify", "--quick --shape own " + options).results;
}

/// Of one run without further options.
const lab::Results& standard() {
    static const lab::Results results = finish();
    return results;
}

double mean(const Column& values) {
    double sum = 0;
    for (const double value : values) sum += value / double(values.size());
    return sum;
}

/// Of one prompt: all draws, as counts.
std::vector<Column> counts(const lab::Results& results) {
    std::vector<Column> all;
    for (const char* name : {"groups", "any", "majority", "vote", "vote_predicted"})
        all.push_back(column(results, "one", name));
    for (const char* name : {"learned", "one", "any", "vote", "tokens"})
        all.push_back(column(results, "questions", name));
    for (const char* name : {"right", "cost"})
        all.push_back(column(results, "routing", name));
    return all;
}

}  // namespace

TEST(VoteOrVerify, TheCourseFiguresComeOut) {
    const lab::Results& results = standard();
    const auto expect = [&](const char* id, double value, double tolerance,
                            double printed) {
        const lab::Row& found = row(results, id);
        EXPECT_NEAR(*found.predicted, value, 1e-9) << id;
        EXPECT_NEAR(*found.predicted, printed, tolerance) << id;
        ASSERT_TRUE(found.published) << id;
        EXPECT_EQ(found.published->value, printed) << id;
        // 20,000 games, 5 standard errors.
        const double error = std::sqrt(value * (100 - value) / 20'000);
        EXPECT_NEAR(found.measured.median, value, 5 * error) << id;
    };
    expect("majority", 100 * (10 * 0.001 * 0.81 + 5 * 0.0001 * 0.9 + 0.00001), 0.05, 0.9);
    expect("verifier", 100 * (1 - std::pow(0.9, 8)), 0.5, 57);
    expect("q3_right", 100 * (1 - std::pow(0.9, 22)), 0.5, 90);
    EXPECT_NEAR(note(results, "verifier_all_wrong"), std::pow(0.9, 8), 1e-12);
    EXPECT_EQ(note(results, "q3"), 22);
    EXPECT_EQ(note(results, "q3_cost"), 22);
    EXPECT_EQ(note(results, "majority_one"), 10);
    EXPECT_EQ(note(results, "majority_votes"), 5);
    EXPECT_EQ(note(results, "verifier_samples"), 8);
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
    EXPECT_EQ(
        std::ranges::count_if(results.checks,
                              [](const lab::Check& check) {
                                  return check.what.starts_with("the course's figure");
                              }),
        9);
}

TEST(VoteOrVerify, RoutesTheCourseQuestions) {
    const lab::Results& results = standard();
    EXPECT_NEAR(note(results, "paper_brief"), 80 * 0.98 + 20 * 0.1, 1e-9);
    EXPECT_NEAR(note(results, "paper_careful"), 80 * 0.99 + 20 * 0.7, 1e-9);
    EXPECT_NEAR(note(results, "paper_perfect"), 80 * 0.98 + 20 * 0.7, 1e-9);
    EXPECT_NEAR(note(results, "paper_perfect_cost"), 0.8 + 0.2 * 21, 1e-9);
    EXPECT_NEAR(note(results, "paper_routed"),
                80 * (0.8 * 0.98 + 0.2 * 0.99) + 20 * (0.8 * 0.7 + 0.2 * 0.1), 1e-9);
    EXPECT_NEAR(note(results, "paper_routed_cost"), 0.68 + 0.32 * 21, 1e-9);
    const lab::Results other = finish(
        "--tries 32 --most 2 --easy 1 --easy-careful 1 --hard 0 --hard-careful 0.5 "
        "--careful 3 --hard-share "
        "0.5 "
        "--mistaken 0");
    EXPECT_NEAR(note(other, "paper_routed"), 75, 1e-9);
    EXPECT_NEAR(note(other, "paper_routed_cost"), 2, 1e-9);
    EXPECT_NEAR(note(other, "paper_brief"), 50, 1e-9);
}

TEST(VoteOrVerify, OtherNumbersAreNotPassedOffAsTheCourses) {
    const lab::Results results =
        finish("--tries 32 --most 2 --p 0.2 --votes 3 --samples 4 --wanted 0.5");
    EXPECT_NEAR(*row(results, "my_majority").predicted, 100 * (3 * 0.04 * 0.8 + 0.008),
                1e-9);
    EXPECT_NEAR(*row(results, "my_verifier").predicted, 100 * (1 - 0.4096), 1e-9);
    EXPECT_EQ(note(results, "my_q3"), 4);  // 0.8^3 = 0.512
    for (const lab::Row& any : results.rows) EXPECT_FALSE(any.published) << any.id;
    for (const lab::Note& any : results.notes) EXPECT_FALSE(any.published) << any.id;
}

TEST(VoteOrVerify, ItsPredictionsAreTheFormulas) {
    const lab::Results& results = standard();
    const Column n = column(results, "one", "n");
    EXPECT_EQ(n, (Column{1, 2, 4, 8, 16, 32}));
    EXPECT_EQ(column(results, "one", "groups"), (Column{256, 128, 64, 32, 16, 8}));
    const Column learned = column(results, "questions", "learned");
    ASSERT_EQ(learned.size(), 8u);
    const Column predicted = column(results, "one", "any_predicted");
    const Column half = column(results, "one", "majority_predicted");
    const Column by_mean = column(results, "several", "by_mean");
    const Column by_each = column(results, "several", "by_each");
    for (std::size_t i = 0; i < n.size(); ++i) {
        const auto any = [&](double p) { return 1 - std::pow(1 - p, n[i]); };
        EXPECT_NEAR(predicted[i], any(learned[0]), 1e-12);
        EXPECT_NEAR(by_mean[i], any(mean(learned)), 1e-12);
        Column each;
        for (const double p : learned) each.push_back(any(p));
        EXPECT_NEAR(by_each[i], mean(each), 1e-12);
        // The mean of a formula that bends down is below the formula of the mean.
        EXPECT_LE(by_each[i], by_mean[i] + 1e-12);
    }
    const double p = learned[0];
    EXPECT_NEAR(half[0], p, 1e-12);
    EXPECT_NEAR(half[1], p * p, 1e-12);
    EXPECT_NEAR(half[2], 4 * p * p * p * (1 - p) + p * p * p * p, 1e-12);
}

TEST(VoteOrVerify, ItsCountsFitTogether) {
    const lab::Results& results = standard();
    const Column any = column(results, "one", "any");
    const Column half = column(results, "one", "majority");
    const Column vote = column(results, "one", "vote");
    // With one try all three are that try.
    EXPECT_EQ(any[0], half[0]);
    EXPECT_EQ(any[0], vote[0]);
    EXPECT_EQ(any[0], column(results, "questions", "one")[0]);
    for (std::size_t i = 0; i < any.size(); ++i) {
        // More than half of the votes always win, and somebody must have voted.
        EXPECT_LE(half[i], vote[i]);
        EXPECT_LE(vote[i], any[i]);
        if (i > 0) {
            EXPECT_GE(any[i], any[i - 1]);
        }
    }
    for (const double tokens : column(results, "questions", "tokens")) {
        EXPECT_GE(tokens, 1);
        EXPECT_LE(tokens, 40);
    }
    // With a judge that is a coin, care falls on half of the questions.
    EXPECT_NEAR(column(results, "routing", "cost_predicted")[5], 16.5, 1e-9);
    EXPECT_EQ(row(results, "brief_cost").measured.median, 1);
    EXPECT_EQ(row(results, "careful_cost").measured.median, 32);
    EXPECT_EQ(row(results, "careful").measured.median,
              row(results, "several_32").measured.median);
    for (const double seconds : column(results, "time", "seconds")) EXPECT_GT(seconds, 0);
}

// Draws depend on the seed, and neither on threads nor on how often the program runs.
TEST(VoteOrVerify, TheSeedDecidesEveryCount) {
    const std::string brief = "--tries 40 --most 16 --tokens 24 ";
    const auto first = counts(finish(brief + "--seed 3"));
    EXPECT_EQ(first, counts(finish(brief + "--seed 3 --threads 1")));
    EXPECT_NE(first, counts(finish(brief + "--seed 4")));
}

TEST(VoteOrVerify, FailsWhereTheCourseDiffers) {
    const support::TempDir data;
    for (const char* folder : {"models", "texts", "gpt2-vocab"})
        fs::create_directory_symlink(fs::path(SOURCE_DIR "/data") / folder,
                                     data / folder);
    std::string published = support::slurp(SOURCE_DIR "/data/published.json");
    const std::string printed = "\"value\": 0.9,";
    const std::size_t at =
        published.find(printed, published.find("\"id\": \"majority\""));
    ASSERT_NE(at, std::string::npos);
    support::spew(data / "published.json",
                  published.replace(at, printed.size(), "\"value\": 1.0,"));
    setenv("GPT2_DATA", data.path().c_str(), 1);
    const support::Outcome outcome = run("--tries 32 --most 2");
    unsetenv("GPT2_DATA");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("0.856 %, the course's 1 give or take 0.05"));
}

TEST(VoteOrVerify, TakesTheSmallestAndOtherSizes) {
    const lab::Results least = finish(
        "--tries 32 --most 2 --samples 1 --votes 1 --tokens 2 --games 100 --p 0.001 "
        "--wanted 0 --temperature 0 --mistaken 1");
    EXPECT_EQ(column(least, "one", "n"), (Column{1, 2}));
    EXPECT_EQ(row(least, "routed_cost").measured.median, 1);
    const lab::Results odd = finish(
        "--tries 50 --most 33 --tokens 12 --samples 7 --votes 2 --temperature 1.3 --kv "
        "f16 --dtype "
        "int8 --threads 1 --seed 5 --model " SOURCE_DIR "/data/models/story-draft");
    EXPECT_EQ(column(odd, "one", "n"), (Column{1, 2, 4, 8, 16, 32}));
}

TEST(VoteOrVerify, RefusesWhatIsNoShareAndTooFewTries) {
    const auto refused = [](const std::string& options) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(
        refused("--tries 40 --most 41"),
        "12_vote_or_verify: --most: expected at most --tries, which is 40, found 41\n");
    EXPECT_THAT(refused("--p 0.001 --wanted 0.9999"), HasSubstr("--wanted"));
    for (const char* options : {"--p 0",
                                "--p 1.1",
                                "--p nan",
                                "--wanted 1",
                                "--votes 0",
                                "--votes 1002",
                                "--samples 0",
                                "--easy -0.1",
                                "--easy-careful 2",
                                "--hard x",
                                "--hard-careful 2",
                                "--hard-share 1.01",
                                "--mistaken -1",
                                "--careful 0.5",
                                "--careful inf",
                                "--games 99",
                                "--tries 31",
                                "--most 1",
                                "--most 65",
                                "--tokens 1",
                                "--tokens 201",
                                "--temperature -1",
                                "--temperature nan"})
        refused(options);
}
