// What the pictures of the chapters are made of. Never how long something took: only that
// it is there, and possible.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "chapters/program.hpp"
#include "lab/results.hpp"

namespace {

using support::column;
using support::note;

using Column = std::vector<double>;
using Words = std::vector<std::string>;

lab::Results results(const std::string& chapter, const std::string& options = "") {
    return support::finish(chapter, "--quick --shape own " + options).results;
}

void expect_positive(const Column& numbers) {
    for (const double number : numbers) EXPECT_GT(number, 0);
}

void expect_rising(const Column& numbers) {
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

}  // namespace

TEST(Exhibits, HelloHasABeatForEveryToken) {
    const lab::Results hello = results("00_hello", "--tokens 7");
    EXPECT_EQ(column<std::string>(hello, "beats", "piece").size(), 7u);
    const Column seconds = column<double>(hello, "beats", "seconds");
    EXPECT_EQ(seconds.size(), 7u);
    expect_positive(seconds);
}

TEST(Exhibits, TokensHasChipsOfBothVocabularies) {
    const lab::Results tokens = results("01_tokens", "--word ' the'");
    const Words texts = column<std::string>(tokens, "chips", "text");
    const Words vocabularies = column<std::string>(tokens, "chips", "vocabulary");
    const Words pieces = column<std::string>(tokens, "chips", "piece");
    const Column ids = column<double>(tokens, "chips", "token");
    EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), 4u);
    std::map<std::string, std::string> joined;
    std::map<std::string, int> count;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        joined[texts[i] + " " + vocabularies[i]] += pieces[i];
        ++count[texts[i] + " " + vocabularies[i]];
        EXPECT_GE(ids[i], 0);
        EXPECT_LT(ids[i], vocabularies[i] == "gpt2" ? 50257 : 4096);
    }
    EXPECT_EQ(joined.size(), 8u);
    for (const std::string text : {"english", "chinese", "code", "emoji"}) {
        EXPECT_GE(count[text + " model"], count[text + " gpt2"]) << text;
        EXPECT_LT(count[text + " gpt2"], 120) << text;
    }
    // Whole characters in English, pieces of them in Chinese.
    EXPECT_EQ(joined["english gpt2"], joined["english model"]);
    EXPECT_TRUE(joined["english gpt2"].ends_with("kettle\u2423boiled."));
    EXPECT_NE(joined["chinese gpt2"].find("\\xe8\\xaf\\xbb"), std::string::npos);

    EXPECT_EQ(column<double>(tokens, "merges", "step"),
              (Column{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}));
    EXPECT_EQ(column<std::string>(tokens, "merges", "piece").back(), "\u2423the");
    EXPECT_EQ(column<double>(tokens, "bill_gpt2", "tokens")[0], 102);
    EXPECT_EQ(column<double>(tokens, "bill_gpt2", "dollars")[0], 1.09);
}

TEST(Exhibits, NextTokenHasItsCandidatesAndTheTextAlong) {
    const lab::Results next = results("02_next_token");
    const Column percent = column<double>(next, "candidates", "percent");
    const Column bits = column<double>(next, "candidates", "bits");
    ASSERT_EQ(percent.size(), 10u);
    EXPECT_TRUE(std::ranges::is_sorted(percent, std::greater()));
    for (std::size_t i = 0; i < percent.size(); ++i)
        EXPECT_NEAR(percent[i], 100 * std::exp2(-bits[i]), 1e-6);

    const Column surprise = column<double>(next, "along", "bits");
    const Column first = column<double>(next, "along", "percent_first");
    EXPECT_EQ(surprise.size(), 47u);
    for (std::size_t i = 0; i < first.size(); ++i) {
        EXPECT_LE(first[i], 100);
        // No candidate is likelier than the first.
        EXPECT_LE(100 * std::exp2(-surprise[i]), first[i] + 1e-6);
    }
    EXPECT_EQ(results("02_next_token", "--tokens 99").find_exhibit("along")->rows.size(),
              60u);
    // Another prompt has other candidates: none are passed off as the course's.
    EXPECT_FALSE(results("02_next_token", "--prompt Once").find_exhibit("candidates"));
}

void check_attention(const lab::Results& read) {
    const Column query = column<double>(read, "attention", "query");
    const Column key = column<double>(read, "attention", "key");
    const Column weight = column<double>(read, "attention", "weight");
    const Words pieces = column<std::string>(read, "attention_tokens", "piece");
    EXPECT_GE(pieces.size(), 12u);
    EXPECT_EQ(weight.size(), pieces.size() * (pieces.size() + 1) / 2);
    Column sums(pieces.size());
    for (std::size_t i = 0; i < weight.size(); ++i) {
        EXPECT_LE(key[i], query[i]);
        EXPECT_GE(weight[i], 0);
        sums.at(std::size_t(query[i])) += weight[i];
    }
    for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Exhibits, ParallelReadShowsAHeadThatLooksBack) {
    const lab::Results read = results("03_parallel_read");
    check_attention(read);
    // The trained model's choice is a clear one, and what the chapter says of it true.
    EXPECT_EQ(note(read, "attention_layer"), 1);
    EXPECT_EQ(note(read, "attention_head"), 1);
    EXPECT_GT(note(read, "attention_boy"), 50);
    const Words pieces = column<std::string>(read, "attention_tokens", "piece");
    const Column query = column<double>(read, "attention", "query");
    const Column key = column<double>(read, "attention", "key");
    const Column weight = column<double>(read, "attention", "weight");
    const auto gives = [&](const std::string& from, const std::string& to) {
        for (std::size_t i = 0; i < weight.size(); ++i)
            if (pieces[std::size_t(query[i])] == from &&
                pieces[std::size_t(key[i])] == to)
                return weight[i];
        return 0.0;
    };
    EXPECT_GT(gives("\u2423went", "\u2423boy"), 0.8);
    EXPECT_GT(gives("\u2423met", "\u2423he"), 0.2);
    EXPECT_GT(gives(".", "\u2423woman"), 0.5);
    EXPECT_EQ(column<double>(read, "endings", "bits_each").size(), 4u);
}

// Another number of layers and heads.
TEST(Exhibits, ParallelReadTakesOtherModels) {
    check_attention(
        results("03_parallel_read", "--model " SOURCE_DIR "/data/models/story-draft"));
}

TEST(Exhibits, KvCacheStampsBothWays) {
    const lab::Results cache = results("05_kv_cache", "--long 100");
    const Column tokens = column<double>(cache, "elapsed", "tokens");
    EXPECT_EQ(tokens.size(), 50u);
    EXPECT_EQ(tokens.back(), 100);
    expect_rising(tokens);
    for (const char* name : {"with_seconds", "without_seconds"}) {
        expect_positive(column<double>(cache, "elapsed", name));
        expect_rising(column<double>(cache, "elapsed", name));
    }
    EXPECT_EQ(column<double>(results("05_kv_cache", "--long 1"), "elapsed", "tokens"),
              Column{1});
}

TEST(Exhibits, WaitingHasThreeAnswersAndSixContexts) {
    const lab::Results waiting = results("06_waiting", "--input 5 --output 9");
    EXPECT_EQ(column<double>(waiting, "timeline", "tokens_in"), (Column{5, 5, 10}));
    EXPECT_EQ(column<double>(waiting, "timeline", "tokens_out"), (Column{9, 18, 9}));
    const Column first = column<double>(waiting, "timeline", "first_token_seconds");
    const Column total = column<double>(waiting, "timeline", "total_seconds");
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(first[i], total[i]);
    EXPECT_EQ(column<double>(waiting, "context", "past"),
              (Column{10, 12, 30, 60, 90, 120}));
    expect_rising(column<double>(waiting, "context", "predicted_seconds"));
    expect_positive(column<double>(waiting, "context", "measured_seconds"));
}

TEST(Exhibits, TwoCeilingsHasItsRoofline) {
    const lab::Results ceilings = results("07_two_ceilings");
    EXPECT_EQ(column<double>(ceilings, "roofline", "tokens"),
              (Column{1, 2, 4, 8, 16, 32, 64}));
    const Column flops = column<double>(ceilings, "roofline", "flops");
    const Column bytes = column<double>(ceilings, "roofline", "bytes");
    expect_positive(column<double>(ceilings, "roofline", "seconds"));
    expect_rising(bytes);
    for (std::size_t i = 1; i < flops.size(); ++i)
        EXPECT_GT(flops[i] / bytes[i], flops[i - 1] / bytes[i - 1]);
}
