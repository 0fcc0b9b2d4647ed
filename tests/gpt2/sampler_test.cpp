#include "gpt2/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpt2/error.hpp"
#include "gpt2/philox.hpp"

// S01 ... are cases of tests/data/cases.tsv.

namespace gpt2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Row = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Row logs(std::initializer_list<double> probabilities) {
    Row row;
    for (const double p : probabilities) row.push_back(float(std::log(p)));
    return row;
}

// Options in the order of their declaration; top_p 1 and seed 1 unless given.
Sampler sampler(float temperature, int top_k = 0, float top_p = 1,
                std::uint64_t seed = 1) {
    return Sampler(SamplerOptions{temperature, top_k, top_p, seed});
}

std::vector<Token> kept(const Row& logits, int top_k, float top_p = 1,
                        float temperature = 1) {
    std::vector<Token> ids;
    for (const Candidate& c : sampler(temperature, top_k, top_p).candidates(logits))
        ids.push_back(c.token);
    return ids;
}

TEST(Sampler, S01TemperatureZeroIsGreedy) {
    const Row row{1, 2};
    for (const float t : {0.0f, -0.0f})
        for (int position = 0; position < 100; ++position)
            EXPECT_EQ(sampler(t).pick(row, 0, position), 1);
    EXPECT_EQ(Sampler().pick(row, 0, 0), 1);
}

TEST(Sampler, S02ExtremeTemperatures) {
    const Row row{10, 9.99f, -50};
    for (const float t :
         {1e-4f, 1e-8f, 1e-38f, std::numeric_limits<float>::denorm_min()}) {
        const Sampler cold = sampler(t);
        double sum = 0;
        for (const Candidate& c : cold.candidates(row)) sum += c.probability;
        EXPECT_NEAR(sum, 1, 1e-12);
        for (int position = 0; position < 100; ++position)
            EXPECT_EQ(cold.pick(row, 0, position), 0);
    }
    for (const float t : {-1.0f, inf, -inf, nan}) EXPECT_THROW(sampler(t), BadInput);
    EXPECT_EQ(kept(row, 0, 1, std::numeric_limits<float>::max()).size(), 3u);
}

TEST(Sampler, TemperatureDividesTheLogits) {
    const auto candidates = sampler(2).candidates(Row{0, 2, 4});
    const double e = std::exp(1.0), sum = 1 + e + e * e;
    ASSERT_EQ(candidates.size(), 3u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(candidates[i].token, 2 - i);
        EXPECT_NEAR(candidates[i].probability, std::pow(e, 2 - i) / sum, 1e-15);
    }
}

TEST(Sampler, S04TopPAtItsEnds) {
    const Row row = logs({.5, .3, .15, .05});
    EXPECT_THAT(kept(row, 0, 0), ElementsAre(0));
    EXPECT_THAT(kept(row, 0, 1e-8f), ElementsAre(0));
    EXPECT_THAT(kept(row, 0, 1), ElementsAre(0, 1, 2, 3));
    for (const float p : {1.0000001f, -0.1f, nan, inf})
        EXPECT_THROW(sampler(1, 0, p), BadInput);
    // The running sum of these reaches 1 before the last, by rounding and by size.
    Row steep(50257, 0);
    steep[7] = 60;
    EXPECT_EQ(kept(steep, 0, 1).size(), 50257u);
}

TEST(Sampler, S05TheTokenThatCrossesTopPStays) {
    EXPECT_EQ(kept(logs({.5, .41, .09}), 0, .9f).size(), 2u);
    EXPECT_EQ(kept(logs({.4, .3, .2, .1}), 0, .8f).size(), 3u);
    EXPECT_EQ(kept(logs({.5, .3, .15, .05}), 0, .6f).size(), 2u);
    EXPECT_EQ(kept(logs({.5, .3, .15, .05}), 0, .85f).size(), 3u);
    EXPECT_EQ(kept({0, 0}, 0, .5f).size(), 1u);
}

TEST(Sampler, S06TopK) {
    const Row row{1, 5, 3, 4, 2};
    for (const int k : {5, 6, 100000, 0})
        EXPECT_THAT(kept(row, k), ElementsAre(1, 3, 2, 4, 0));
    EXPECT_THAT(kept(row, 1), ElementsAre(1));
    EXPECT_THAT(kept(row, 2), ElementsAre(1, 3));
    EXPECT_THROW(sampler(1, -1), BadInput);
}

TEST(Sampler, TopPSeesWhatTopKLeft) {
    // The best alone is .4 of all, and .57 of the best two.
    const Row row = logs({.4, .3, .2, .1});
    EXPECT_THAT(kept(row, 2, .55f), ElementsAre(0));
    EXPECT_THAT(kept(row, 0, .55f), ElementsAre(0, 1));
    const auto two = sampler(1, 2).candidates(row);
    EXPECT_NEAR(two[0].probability, 4.0 / 7, 1e-7);
    EXPECT_NEAR(two[1].probability, 3.0 / 7, 1e-7);
}

TEST(Sampler, TiesGoToTheLowerId) {
    EXPECT_THAT(kept(Row{1, 2, 2, 2, 1}, 2), ElementsAre(1, 2));
    EXPECT_THAT(kept(Row(1000, 3), 3), ElementsAre(0, 1, 2));
    EXPECT_EQ(argmax(Row{1, 2, 2}), 1);
    EXPECT_EQ(argmax(Row{-0.0f, 0.0f}), 0);
}

TEST(Sampler, S07NoMaskedTokenIsDrawn) {
    const Row row{-inf, float(std::log(.3)), -inf, float(std::log(.7)), -inf};
    const auto candidates = sampler(1).candidates(row);
    ASSERT_EQ(candidates.size(), 2u);
    EXPECT_EQ(draw(candidates, 0), 3);
    EXPECT_EQ(draw(candidates, 0.3), 3);
    EXPECT_EQ(draw(candidates, 0.99999997), 1);
    EXPECT_EQ(draw(candidates, 1 - 0x1p-53), 1);
    constexpr int draws = 10'000'000;
    int others = 0, threes = 0;
    for (int i = 0; i < draws; ++i) {
        const Token token = draw(candidates, uniform(1, 0, i));
        threes += token == 3;
        others += token != 3 && token != 1;
    }
    EXPECT_EQ(others, 0);
    EXPECT_NEAR(double(threes) / draws, .7, 0.0006);  // four standard deviations
}

TEST(Sampler, S07ASumThatRoundingLeavesShortDrawsTheLast) {
    const std::vector<Candidate> short_of_one{{5, 0.5}, {9, 0.4999999}};
    EXPECT_EQ(draw(short_of_one, 1 - 0x1p-53), 9);
}

TEST(Sampler, S08NonFiniteLogitsAreAnError) {
    const Row rows[] = {{nan, 1, 2}, {1, nan, 2},     {1, 2, nan},       {inf, 1, 2},
                        {1, 2, inf}, {nan, nan, nan}, {-inf, -inf, -inf}};
    for (const Row& row : rows)
        for (const float t : {0.0f, 1.0f}) {
            try {
                sampler(t, 2).pick(row, 0, 0);
                ADD_FAILURE() << "no error";
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), HasSubstr("non-finite logits"));
            }
            EXPECT_THROW(sampler(t, 2).candidates(row), Error);
        }
    EXPECT_THROW(argmax(Row{}), Error);
    EXPECT_THROW(sampler(1).pick(Row{}, 0, 0), Error);
    EXPECT_EQ(argmax(Row{-inf, -3, -inf}), 1);
}

// One seed writes the same text everywhere: these ids are fixed by Philox.
TEST(Sampler, S10TheSameDrawsOnEveryMachine) {
    Row row(50);
    for (int i = 0; i < 50; ++i) row[i] = float(i % 7) * 0.5f;
    const Sampler fixed = sampler(0.8f, 20, 0.9f, 42);
    std::vector<Token> ids;
    for (int position = 0; position < 8; ++position)
        ids.push_back(fixed.pick(row, 3, position));
    EXPECT_THAT(ids, ElementsAre(6, 41, 27, 20, 27, 20, 48, 34));
}

TEST(Sampler, DrawsFollowTheDistribution) {
    const Row row{0, 1, 2, -1, 0.5f};
    const Sampler warm = sampler(1.3f, 0, 1, 9);
    std::vector<int> count(row.size());
    constexpr int draws = 100000;
    for (int i = 0; i < draws; ++i) ++count[warm.pick(row, i % 4, i / 4)];
    for (const Candidate& c : warm.candidates(row)) {
        const double deviation = std::sqrt(c.probability * (1 - c.probability) / draws);
        EXPECT_NEAR(double(count[c.token]) / draws, c.probability, 4 * deviation);
    }
}

TEST(Sampler, ADrawDependsOnSeedRequestAndPosition) {
    const Row row(1000, 0);
    const Sampler a = sampler(1, 0, 1, 5), b = sampler(1, 0, 1, 6);
    EXPECT_EQ(a.pick(row, 1, 2), sampler(1, 0, 1, 5).pick(row, 1, 2));
    int same = 0;
    for (int i = 0; i < 100; ++i) {
        same += a.pick(row, 1, i) == b.pick(row, 1, i);
        same += a.pick(row, 1, i) == a.pick(row, 2, i);
        same += a.pick(row, 1, i) == a.pick(row, 1, i + 1);
    }
    EXPECT_LT(same, 10);
}

}  // namespace
}  // namespace gpt2
