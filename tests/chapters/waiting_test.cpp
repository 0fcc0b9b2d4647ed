// 06_waiting: how many tokens it times, and what it refuses.

#include <gmock/gmock.h>

#include "chapters/program.hpp"

namespace {

support::Outcome run(const std::string& options) {
    return support::run("06_waiting", "--quick --shape own " + options);
}

support::Finished finish(const std::string& options) {
    return support::finish("06_waiting", "--quick --shape own " + options);
}

lab::Measured row(const lab::Results& results, const std::string& id) {
    return support::row(results, id).measured;
}

}  // namespace

TEST(Waiting, TimesEveryToken) {
    const auto [out, results] = finish("--input 5 --output 21");
    // A beat ends with every token but the first; a quarter of 20 is 5.
    const int runs = row(results, "wait").runs;
    EXPECT_EQ(row(results, "first_token_wait").runs, runs);
    EXPECT_EQ(row(results, "beat").runs, 20 * runs);
    EXPECT_EQ(row(results, "beat_easy").runs, 5 * runs);
    EXPECT_EQ(row(results, "beat_hard").runs, 5 * runs);
    EXPECT_EQ(results.headline, "double_output");
    // A line of time for each of the three waits.
    EXPECT_THAT(out, testing::HasSubstr("\n    5 in   21 out  #"));
    EXPECT_THAT(out, testing::HasSubstr("\n    5 in   42 out  #"));
    EXPECT_THAT(out, testing::HasSubstr("\n   10 in   21 out  #"));
}

TEST(Waiting, TakesTheSmallestAndTheLargestSizes) {
    for (const char* options : {"--input 1 --output 2 --context 20",
                                "--context 1000 --kv f16 --seed 9 --threads 1"}) {
        const lab::Results results = finish(options).results;
        for (const char* id : {"beat_short", "beat_middle", "beat_long"}) {
            EXPECT_EQ(row(results, id).runs % 22, 0) << options;
            EXPECT_GT(row(results, id).min, 0) << options;
        }
    }
}

TEST(Waiting, RefusesWhatTheContextCannotHold) {
    const support::Outcome outcome = run("--input 500 --output 400");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(
        outcome.err,
        "06_waiting: --input, --output, --context: they ask for 1400 positions, but "
        "the context has 1024\n");
    for (const char* options : {"--input 0", "--output 1", "--context 1001"})
        EXPECT_EQ(run(options).status, 2) << options;
}
