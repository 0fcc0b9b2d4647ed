#include "lab/writing.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Writing, BeatsLieBetweenTokens) {
    const gpt2::Generation written{.tokens = {5, 6, 7}, .seconds = {1, 1.5, 3.5}};
    EXPECT_EQ(lab::beats(written), (std::vector<double>{0.5, 2}));
    EXPECT_TRUE(lab::beats({.tokens = {5}, .seconds = {1}}).empty());
}

TEST(Writing, SummarizesAllRuns) {
    const lab::Writing writing = lab::last_runs({{.tokens = {1, 2}, .seconds = {7, 70}},
                                                 {.tokens = {1, 2}, .seconds = {4, 5}},
                                                 {.tokens = {1, 2}, .seconds = {2, 9}}},
                                                2);
    EXPECT_EQ(writing.runs.size(), 2u);
    EXPECT_EQ(writing.total.min, 5);
    EXPECT_EQ(writing.total.max, 9);
    EXPECT_EQ(writing.total.runs, 2);
    EXPECT_EQ(writing.first_token().min, 2);
    EXPECT_EQ(writing.first_token().median, 3);
    EXPECT_EQ(writing.first_token().runs, 2);
    EXPECT_EQ(writing.beat().min, 1);
    EXPECT_EQ(writing.beat().max, 7);
}

TEST(Writing, EveryRunThatCountsIsKeptAndWritesTheSame) {
    const auto write = [](lab::Experiment& lab) {
        const auto model = lab.load_model();
        const lab::Writing writing =
            lab::time_writing(lab, *model, lab.text("article.txt", 8), {.max_tokens = 5});
        ASSERT_EQ(int(writing.runs.size()), writing.total.runs);
        for (const gpt2::Generation& run : writing.runs) {
            EXPECT_EQ(run.tokens.size(), 5u);
            EXPECT_EQ(run.tokens, writing.runs.front().tokens);
        }
        EXPECT_EQ(writing.beat().runs, 4 * writing.total.runs);
        EXPECT_LT(writing.first_token().max, writing.total.max);
    };
    const char* const words[] = {"99_test", "--quick", "--threads", "1"};
    testing::internal::CaptureStdout();
    const int status = lab::run(4, words,
                                {.name = "99_test",
                                 .title = "A test",
                                 .question = "Does it work?",
                                 .experiment = write,
                                 .shape = "own"});
    testing::internal::GetCapturedStdout();
    EXPECT_EQ(status, 0);
}

}  // namespace
