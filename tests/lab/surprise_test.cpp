#include "lab/surprise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/error.hpp"
#include "gpt2/sampler.hpp"
#include "support.hpp"

namespace {

using lab::entropy;
using lab::surprise;

constexpr float never = -INFINITY;

TEST(Surprise, CoinsDiceAndCertainty) {
    const std::vector<float> coin{3, 3}, die(8, -2.5f), sure{never, 7, never};
    EXPECT_DOUBLE_EQ(surprise(coin, 0), 1);
    EXPECT_DOUBLE_EQ(entropy(coin), 1);
    EXPECT_DOUBLE_EQ(surprise(die, 5), 3);
    EXPECT_DOUBLE_EQ(entropy(die), 3);
    EXPECT_EQ(surprise(sure, 1), 0);
    EXPECT_EQ(entropy(sure), 0);
    EXPECT_EQ(surprise(sure, 0), INFINITY);
    EXPECT_EQ(surprise(std::vector<float>{1}, 0), 0);
}

TEST(Surprise, OfThreeQuarters) {
    const std::vector<float> logits{std::log(3.f), 0};  // 75% and 25%
    EXPECT_NEAR(surprise(logits, 0), -std::log2(0.75), 1e-7);
    EXPECT_NEAR(surprise(logits, 1), 2, 1e-7);
    EXPECT_NEAR(entropy(logits), 0.75 * -std::log2(0.75) + 0.25 * 2, 1e-7);
}

TEST(Surprise, AgreesWithTheSamplersProbabilities) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(-100, 4);
    std::vector<float> logits(50257);
    for (float& logit : logits) logit = normal(random);
    double expected = 0;
    const gpt2::Sampler as_it_is({.temperature = 1});
    for (const auto& [token, probability] : as_it_is.candidates(logits)) {
        expected -= probability * std::log2(probability);
        if (probability < 1e-3) continue;
        EXPECT_NEAR(surprise(logits, token), -std::log2(probability), 1e-9);
    }
    EXPECT_NEAR(entropy(logits), expected, 1e-9);
}

// exp(2000) is beyond any double, and one token holds nearly everything.
TEST(Surprise, SurvivesExtremeLogits) {
    const std::vector<float> logits{1000, -1000, 3.4e38f, -3.4e38f};
    EXPECT_EQ(surprise(logits, 2), 0);
    EXPECT_EQ(entropy(logits), 0);
    EXPECT_NEAR(surprise(std::vector<float>{1000, 0}, 1), 1442.695, 1e-3);
    EXPECT_TRUE(std::isfinite(surprise(logits, 3)));
}

TEST(Surprise, RefusesNonsense) {
    const std::vector<float> logits{0, 1};
    EXPECT_NE(support::bad_input([&] { surprise(logits, 2); }).find("token 2"),
              std::string::npos);
    support::bad_input([&] { surprise(logits, -1); });
    EXPECT_THROW(surprise(std::vector<float>{NAN, 1}, 1), gpt2::Error);
    EXPECT_THROW(surprise(std::vector<float>{INFINITY, 1}, 1), gpt2::Error);
    EXPECT_THROW(entropy(std::vector<float>{never, never}), gpt2::Error);
    EXPECT_THROW(entropy(std::vector<float>{}), gpt2::Error);
}

TEST(Surprises, OfATextReadAtOnceAreThoseReadOneByOne) {
    const gpt2::Config config{50, 30, 16, 2, 2};
    const auto model = gpt2::cpu::load(*gpt2::random_weights(config, 3), gpt2::DType::f32,
                                       gpt2::DType::f32, 1);
    // The last token needs no position: it is only predicted.
    const auto text = support::random_tokens(31, 50, 3);
    const std::vector<double> bits = lab::surprises(*model, text);
    ASSERT_EQ(bits.size(), 30u);
    gpt2::KvCache cache = model->new_cache();
    for (std::size_t i = 0; i < 30; ++i) {
        const gpt2::Logits row = model->forward(std::span(text).subspan(i, 1), cache);
        EXPECT_EQ(bits[i], surprise(row[0], text[i + 1]));
    }
    EXPECT_THROW(lab::surprises(*model, std::span(text).first(1)), gpt2::BadInput);
}

TEST(Surprises, ShiftFromOneModelToAnother) {
    const std::vector<double> before{1, 2, 3, 4}, after{2, 2, 2.5, 5.5};
    const lab::Shift shift = lab::shift(before, after);
    EXPECT_DOUBLE_EQ(shift.mean, 0.75);
    EXPECT_DOUBLE_EQ(shift.most, 1.5);
    EXPECT_DOUBLE_EQ(shift.perplexity, std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(lab::shift(before, before).perplexity, 1);
}

}  // namespace
