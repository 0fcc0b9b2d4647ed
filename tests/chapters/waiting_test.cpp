// 06_waiting: how many tokens it times, and what it refuses.

#include <gmock/gmock.h>

#include "chapters/program.hpp"
#include "lab/results.hpp"

namespace {

support::Outcome run(const std::string& options) {
    return support::run("06_waiting", "--quick --shape own " + options);
}

}  // namespace

TEST(Waiting, TimesEveryToken) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    const support::Outcome outcome = run("--input 5 --output 21 --json " + json);
    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    const lab::Results results = lab::read_results(json);
    const auto runs = [&](const std::string& id) {
        for (const lab::Row& row : results.rows)
            if (row.id == id) return row.measured.runs;
        ADD_FAILURE() << "no row '" << id << "'";
        return 0;
    };
    // A beat ends with every token but the first; a quarter of 20 is 5.
    EXPECT_EQ(runs("first_token_wait"), runs("wait"));
    EXPECT_EQ(runs("beat"), 20 * runs("wait"));
    EXPECT_EQ(runs("beat_easy"), 5 * runs("wait"));
    EXPECT_EQ(runs("beat_hard"), 5 * runs("wait"));
    EXPECT_EQ(results.headline, "double_output");
    // A line of time for each of the three waits.
    EXPECT_THAT(outcome.out, testing::HasSubstr("\n    5 in   21 out  #"));
    EXPECT_THAT(outcome.out, testing::HasSubstr("\n    5 in   42 out  #"));
    EXPECT_THAT(outcome.out, testing::HasSubstr("\n   10 in   21 out  #"));
}

TEST(Waiting, TakesTheSmallestAndTheLargestSizes) {
    EXPECT_EQ(run("--input 1 --output 2 --context 20").status, 0);
    EXPECT_EQ(run("--context 1000 --kv f16 --seed 9 --threads 1").status, 0);
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
