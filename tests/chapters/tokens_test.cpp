// The tokens chapter, beyond what every chapter is tested for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "chapters/program.hpp"
#include "lab/results.hpp"
#include "support.hpp"

using support::Outcome;
using testing::HasSubstr;

namespace {

Outcome tokens(const std::string& arguments) {
    return support::run("01_tokens", "--quick " + arguments);
}

double measured(const lab::Results& results, const std::string& id) {
    for (const lab::Row& row : results.rows)
        if (row.id == id) return row.measured.median;
    ADD_FAILURE() << "no row " << id;
    return 0;
}

}  // namespace

// 102 tokens for the 372 characters of english.txt: tokenizer_test answers for those.
TEST(Tokens, CountsAndBills) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    const Outcome outcome = tokens("--json " + json);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const lab::Results results = lab::read_results(json);
    EXPECT_EQ(results.headline, "chinese_over_english_gpt2");
    EXPECT_NEAR(measured(results, "english_gpt2"), 1000 * 102 / 372., 0.01);
    // 102 tokens at 4 dollars a million, for a million characters instead of 372.
    EXPECT_THAT(outcome.out, HasSubstr("$1.09"));
    // A longer list of tokens never needs more of them.
    for (const std::string text : {"english", "chinese", "code", "emoji"})
        EXPECT_LT(measured(results, text + "_gpt2"), measured(results, text + "_model"));
}

TEST(Tokens, BuildsAWordRuleByRule) {
    const Outcome outcome = tokens("--word ' the'");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("bytes  ␣ | t | h | e\n"
                                       "    0  ␣t | h | e\n"
                                       "    2  ␣t | he\n"
                                       "    6  ␣the\n"));
}

TEST(Tokens, TakesATextOfYours) {
    const Outcome outcome = tokens("--text 'naïve\tidea'");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("6e 61 c3 af 76 65 09 69 64 65 61"));
    EXPECT_THAT(outcome.out, HasSubstr("na | ïve | \\t | ide | a"));
}

// The vocabulary's own model may be of any shape, or OpenAI's size.
TEST(Tokens, RunsWithOtherModels) {
    EXPECT_EQ(tokens("--shape small").status, 0);
    const Outcome random = tokens("--model random --shape small");
    EXPECT_EQ(random.status, 0) << random.err;
    EXPECT_THAT(random.out, testing::Not(HasSubstr("4,096")));
}

TEST(Tokens, RefusesWhatIsNoWordAndNoText) {
    for (const std::string& arguments : std::vector<std::string>{
             "--word ''", "--word 'two words'", "--word $(printf 'a%.0s' $(seq 49))",
             "--word \"$(printf 'a\\377')\"", "--text \"$(printf 'a\\377')\""}) {
        const Outcome outcome = tokens(arguments);
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
}
