// Chapter 07: what it measures depends on the model that it is given.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "chapters/program.hpp"
#include "lab/results.hpp"

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

namespace {

struct Ran {
    std::string out;
    lab::Results results;
    std::set<std::string> rows, checks;
};

Ran run(const std::string& arguments) {
    auto [out, results] = support::finish("07_two_ceilings", "--quick " + arguments);
    Ran ran{std::move(out), std::move(results), {}, {}};
    for (const lab::Row& row : ran.results.rows) ran.rows.insert(row.id);
    for (const lab::Check& check : ran.results.checks) ran.checks.insert(check.id);
    return ran;
}

double note(const Ran& ran, const std::string& id) {
    return support::note(ran.results, id);
}

const lab::Row& row(const Ran& ran, const std::string& id) {
    return support::row(ran.results, id);
}

}  // namespace

TEST(TwoCeilings, AtItsOwnShapeItWidensNothing) {
    const Ran ran = run("--shape own --threads 2");
    EXPECT_THAT(ran.rows, IsSupersetOf({"read_own_f32", "write_own_f32", "read_own_f16",
                                        "write_own_f16", "write_own_f32_one_thread",
                                        "read_own_int8", "write_own_int8", "dtype_write",
                                        "int8_write", "more_compute"}));
    EXPECT_THAT(ran.rows, Not(Contains("smaller_faster")));
    EXPECT_THAT(ran.checks,
                IsSupersetOf({"same_flops", "threads_same", "floor_140", "bits_f32",
                              "bits_f16", "bits_bf16", "bits_int8", "bits_kv_f16"}));
    EXPECT_THAT(ran.checks, Not(Contains("same_words")));
    EXPECT_THAT(ran.out, HasSubstr("left out larger models, and the same words"));
    EXPECT_THAT(ran.out, HasSubstr("70 µs (an erratum)"));
    EXPECT_EQ(ran.results.headline, "dtype_write");

    // The course's figures are GPT-2 small's, whatever runs.
    EXPECT_NEAR(note(ran, "params_body"), 85.056, 1e-9);
    EXPECT_NEAR(note(ran, "weights_f32"), 497.759232, 1e-9);
    EXPECT_NEAR(note(ran, "flops_body"), 169.869312, 1e-9);
    EXPECT_NEAR(note(ran, "floor_140"), 70, 1e-9);
}

TEST(TwoCeilings, WhatAByteLessCosts) {
    const Ran ran = run("--shape own --threads 2");
    // 4,194,304 weights stand in matrices; the other parameters stay f32.
    EXPECT_EQ(note(ran, "bytes_f32"), 17'881'088);
    EXPECT_EQ(note(ran, "bytes_f16"), 17'881'088 - 4'194'304 * 2);
    EXPECT_EQ(note(ran, "bytes_bf16"), note(ran, "bytes_f16"));
    EXPECT_EQ(note(ran, "bytes_int8"), 17'881'088 - 4'194'304 * (4 - 1.125));

    const auto cost = [&](const std::string& id) {
        return row(ran, "cost_" + id).measured.median;
    };
    // The shipped file is in f16 itself: nothing is lost.
    for (const char* id : {"f16_mean", "f16_max", "f16_perplexity"})
        EXPECT_EQ(cost(id), 0) << id;
    for (const std::string id : {"bf16", "int8", "kv_f16"}) {
        EXPECT_GT(cost(id + "_mean"), 0) << id;
        EXPECT_GT(cost(id + "_max"), 2 * cost(id + "_mean")) << id;
        EXPECT_LT(cost(id + "_max"), 1) << id;
        EXPECT_LT(std::abs(cost(id + "_perplexity")), 2) << id;
    }
    EXPECT_LT(cost("kv_f16_mean"), cost("bf16_mean"));
    EXPECT_LT(cost("bf16_mean"), cost("int8_mean"));
}

TEST(TwoCeilings, EachOperationHasItsCeiling) {
    const std::string out = run("--shape own --threads 1").out;
    const std::size_t writing = out.find("Tokens: 1, behind 64.");
    ASSERT_NE(writing, std::string::npos) << out;
    const auto line = [&](const std::string& name, std::size_t from) {
        const std::size_t begin = out.find("\n" + name, from) + 1;
        return out.substr(begin, out.find('\n', begin) - begin);
    };
    const std::size_t reading = out.find("Tokens: 64, behind 0.");
    ASSERT_LT(reading, writing);
    // 64 tokens, 2 multiply-adds' worth of FLOPs, 4 layers, 256 x 768.
    EXPECT_THAT(line("attn qkv", reading), HasSubstr(" 100,663,296 "));
    EXPECT_THAT(line("attn qkv", writing), HasSubstr(" 1,572,864 "));
    // No byte at all is above any ridge, no FLOP at all below: whatever was measured.
    EXPECT_THAT(line("attention", reading), HasSubstr("arithmetic"));
    // Where the pass fits the last cache, its bytes come from there.
    EXPECT_THAT(line("embed", reading), AnyOf(HasSubstr("memory"), HasSubstr("cache")));
    EXPECT_THAT(out, HasSubstr("left out one thread against all"));
}

TEST(TwoCeilings, HalfPrecisionByDefaultIsComparedWithSingle) {
    const Ran ran = run("--shape own --threads 1 --dtype f16 --kv f16");
    EXPECT_THAT(ran.rows, IsSupersetOf({"write_own_f16", "write_own_f32"}));
    EXPECT_EQ(ran.results.model->dtype, "f16");
    EXPECT_THAT(ran.out, HasSubstr("writing, f32 over f16"));
}

TEST(TwoCeilings, Int8ByDefaultIsComparedWithTheOthers) {
    const Ran ran = run("--shape own --threads 1 --dtype int8");
    EXPECT_THAT(ran.rows, IsSupersetOf({"write_own_int8", "write_own_f32",
                                        "write_own_f16", "dtype_write"}));
    EXPECT_THAT(ran.rows, Not(Contains("int8_write")));
    EXPECT_THAT(ran.out, HasSubstr("writing, f16 over int8"));
    EXPECT_EQ(ran.results.model->dtype, "int8");
    // Rounding is compared with f32 whatever the default is.
    EXPECT_GT(row(ran, "cost_int8_mean").measured.median, 0);
}

TEST(TwoCeilings, RefusesWhatTheContextCannotHold) {
    for (const char* arguments :
         {"--shape own --threads 1 --tokens 1000 --beats 24",
          "--shape own --threads 1 --tokens 1 --beats 1 --words 9999", "--beats 0",
          "--tokens 0", "--words 1"}) {
        const support::Outcome outcome = support::run("07_two_ceilings", arguments);
        EXPECT_EQ(outcome.status, 2) << arguments << outcome.out << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(TwoCeilings, TheSameWordsForTwentyNineTimesTheBytes) {
    const Ran ran = run("--threads 2");
    EXPECT_THAT(ran.rows,
                IsSupersetOf({"read_medium_f32", "write_medium_f32", "smaller_faster",
                              "beat_own", "beat_small", "same_words_cost"}));
    EXPECT_THAT(ran.checks, Contains("same_words"));
    const auto ratio =
        std::ranges::find(ran.results.notes, "times", &lab::Note::unit)->value;
    EXPECT_NEAR(ratio, 29, 0.5);
    // The default model, though it was not the last.
    EXPECT_EQ(ran.results.model->shape, "small");
    EXPECT_EQ(ran.results.model->parameters, 124'439'808);
}
#endif
