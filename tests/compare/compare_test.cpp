// The program behind scripts/compare, with another side that answers as a test likes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "chapters/program.hpp"
#include "gpt2/load.hpp"
#include "gpt2/sampler.hpp"
#include "lab/results.hpp"
#include "support.hpp"

using testing::HasSubstr;

namespace {

/// A script that gives one answer to every question.
std::string always(const std::string& answer) {
    return "while read -r question; do echo '" + answer + "'; done\n";
}

std::string answer(const std::string& works, const std::string& difference,
                   const std::string& tokens = "[]") {
    return R"({"versions": {"them": "1.0"}, "works": {"them": [)" + works +
           R"(]}, "largest_difference": )" + difference +
           R"(, "seconds": 0.5, "tokens": )" + tokens + "}";
}

/// What the model finds best behind the eight tokens that a Comparison reads.
gpt2::Token next() {
    const auto story = gpt2::data_directory() / "models/story";
    const auto text = gpt2::load_tokenizer(story).encode(
        support::slurp(gpt2::data_directory() / "texts/article.txt"));
    const auto model = gpt2::load_model(story);
    gpt2::KvCache cache = model->new_cache();
    return gpt2::argmax(model->forward(std::span(text).first(8), cache)[0]);
}

struct Comparison {
    explicit Comparison(const std::string& script) {
        support::spew(dir / "them", script);
        outcome = support::run(
            "compare",
            "--shape own --quick --tokens 8 --written 2 --rounds 3 --weights x "
            "--theirs 'sh " +
                (dir / "them").string() + "' --json " + json().string());
    }
    std::filesystem::path json() const { return dir / "results.json"; }

    support::TempDir dir;
    support::Outcome outcome;
};

}  // namespace

TEST(Compare, MeasuresBothSidesInTurns) {
    const Comparison c(always(
        answer(R"("read_all", "write")", "1e-5", "[" + std::to_string(next()) + "]")));
    ASSERT_EQ(c.outcome.status, 0) << c.outcome.out << c.outcome.err;
    const lab::Results results = lab::read_results(c.json());
    const auto row = [&](const std::string& id) {
        const auto found = std::ranges::find(results.rows, id, &lab::Row::id);
        if (found == results.rows.end()) throw std::runtime_error("no row " + id);
        return found->measured;
    };
    EXPECT_EQ(row("read_all_them").median, 8 / 0.5);
    EXPECT_EQ(row("read_all_them").runs, 3);
    // The ratio is how many times ours goes into theirs.
    EXPECT_NEAR(row("read_all_over_them").median, row("read_all_ours").median / 16, 1e-9);
    EXPECT_GT(row("write_over_them").median, 0);
    EXPECT_GT(row("encode_ours").median, 0);  // though nobody else does that
    EXPECT_THROW(row("encode_them"), std::runtime_error);
    ASSERT_NE(results.find_exhibit("versions"), nullptr);
    EXPECT_EQ(std::get<std::string>(results.find_exhibit("versions")->rows[0][1]), "1.0");
}

TEST(Compare, SaysWhereTheSidesDiffer) {
    const Comparison tokens(always(answer(R"("cached")", "1e-5", "[1, 2, 3]")));
    EXPECT_EQ(tokens.outcome.status, 1) << tokens.outcome.err;
    EXPECT_THAT(tokens.outcome.out, HasSubstr("FAILED  write 2 with a cache"));
    const Comparison logits(always(answer(R"("read_all")", "0.5")));
    EXPECT_EQ(logits.outcome.status, 1) << logits.outcome.err;
    EXPECT_THAT(logits.outcome.out, HasSubstr("FAILED  at every position"));
}

TEST(Compare, EndsWhenTheOtherSideFails) {
    const struct {
        std::string script;
        int status;
        const char* says;
    } cases[] = {
        {"exit 77", 77, "the other side ended with status 77"},
        {"read -r question; exit 3", 1, "the other side ended with status 3"},
        {"kill -9 $$", 1, "the other side ended with status 137"},
        {always("[]"), 1, "expected an object, found '[]'"},
        {always("nonsense"), 1, "found 'nonsense'"},
        {always("{}"), 1, "versions"},
    };
    for (const auto& [script, status, says] : cases) {
        const Comparison c(script);
        EXPECT_EQ(c.outcome.status, status) << script << c.outcome.err;
        EXPECT_THAT(c.outcome.err, HasSubstr(says)) << script;
        EXPECT_EQ(std::ranges::count(c.outcome.err, '\n'), 1) << c.outcome.err;
        EXPECT_FALSE(exists(c.json()));
    }
}
