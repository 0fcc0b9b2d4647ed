// The next-token chapter, beyond what every chapter is tested for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "chapters/program.hpp"
#include "lab/results.hpp"
#include "support.hpp"

using support::Outcome;
using testing::HasSubstr;

namespace {

struct Told {
    Outcome outcome;
    std::map<std::string, lab::Row> rows;
    std::map<std::string, lab::Check> checks;
};

Told next_token(const std::string& arguments) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    Told told{support::run("02_next_token", "--quick --json " + json + " " + arguments),
              {},
              {}};
    if (!std::filesystem::exists(json)) return told;
    const lab::Results results = lab::read_results(json);
    for (const lab::Row& row : results.rows) told.rows[row.id] = row;
    for (const lab::Check& check : results.checks) told.checks[check.id] = check;
    return told;
}

// Where OpenAI's weights are, if they are.
std::string openai() {
    const char* set = std::getenv("GPT2_OPENAI");
    return set && *set ? set : SOURCE_DIR "/models/gpt2";
}

}  // namespace

TEST(NextToken, BitsAndShareBelongTogether) {
    Told told = next_token("--shape own");
    ASSERT_EQ(told.outcome.status, 0) << told.outcome.err;
    EXPECT_NEAR(told.rows["thank_you"].measured.median,
                100 * std::exp2(-told.rows["thank_you_bits"].measured.median), 1e-9);
    EXPECT_NEAR(told.rows["text_perplexity"].measured.median,
                std::exp2(told.rows["text_surprise"].measured.median), 1e-6);
    // It has learned something: a blind guess among 4,096 costs 12 bits.
    EXPECT_LT(told.rows["text_surprise"].measured.median, 11);
    EXPECT_EQ(told.checks.count("course_figures"), 0u);
    EXPECT_EQ(told.rows.count("paris"), 0u);
}

// The widened model is the same model, to rounding.
TEST(NextToken, AnotherShapeSaysTheSame) {
    Told own = next_token("--shape own --tokens 12"), wide = next_token("--tokens 12");
    ASSERT_EQ(wide.outcome.status, 0) << wide.outcome.err;
    for (const char* id : {"thank_you_bits", "thank_you_entropy", "text_surprise"})
        EXPECT_NEAR(own.rows[id].measured.median, wide.rows[id].measured.median, 0.01);
}

TEST(NextToken, AnotherPromptHasNoFiguresOfTheCourse) {
    Told told = next_token("--shape own --prompt 'Once upon a' --top 3");
    ASSERT_EQ(told.outcome.status, 0) << told.outcome.err;
    EXPECT_THAT(told.outcome.out, HasSubstr("after \"Once upon a\""));
    EXPECT_EQ(told.rows.count("thank_you"), 0u);
}

TEST(NextToken, HoldsInHalfPrecisionOnOneThread) {
    const Told told = next_token("--shape own --dtype f16 --kv f16 --threads 1");
    EXPECT_EQ(told.outcome.status, 0) << told.outcome.out << told.outcome.err;
}

TEST(NextToken, RefusesPromptsAndLengths) {
    for (const std::string& arguments : std::vector<std::string>{
             "--prompt ''", "--prompt \"$(printf 'a\\377')\"", "--tokens 1",
             "--tokens 1025", "--top 0", "--top 101",
             "--prompt \"$(yes word | head -n 3000 | tr '\\n' ' ')\""}) {
        const Outcome outcome = next_token("--shape own " + arguments).outcome;
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
}

TEST(NextToken, OpenAisWeightsMeetTheCoursesFigures) {
    const std::string model = openai();
    if (!std::filesystem::exists(model + "/model.safetensors"))
        GTEST_SKIP() << "no OpenAI weights: scripts/get_gpt2 fetches them, or set "
                        "GPT2_OPENAI to their folder";
    Told told = next_token("--model '" + model + "'");
    ASSERT_EQ(told.outcome.status, 0) << told.outcome.out << told.outcome.err;
    ASSERT_EQ(told.checks.count("course_figures"), 1u);
    EXPECT_TRUE(told.checks["course_figures"].holds);
    EXPECT_NEAR(told.rows["thank_you"].measured.median, 99.16, 0.005);
    EXPECT_NEAR(told.rows["thank_you_entropy"].measured.median, 0.10, 0.005);
    // Shown only: the course does not print its prompts.
    EXPECT_GT(told.rows["paris_after_example"].measured.median,
              told.rows["paris"].measured.median);
}
