// What the CPU engine does to rows: exponentials, GELU, layer norm, softmax.

#include "gpt2/cpu/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gpt2/cpu/simd.hpp"

using namespace gpt2::cpu;

namespace {

float lane0(const Vec16& v) {
    float x[16];
    store(v, x);
    return x[0];
}

}  // namespace

TEST(Rows, ExpIsWithinTwoUnitsInTheLastPlace) {
    double worst = 0;
    for (double x = -87; x <= 88; x += 0.00137) {
        const float at = float(x);
        const double exact = std::exp(double(at));
        worst =
            std::max(worst, std::abs(double(lane0(exp(broadcast(at)))) - exact) / exact);
    }
    EXPECT_LT(worst, 2 * 0x1p-23);
    EXPECT_EQ(lane0(exp(broadcast(0))), 1.0f);
    // Beyond its range it stays finite and positive.
    EXPECT_GT(lane0(exp(broadcast(-1e30f))), 0.0f);
    EXPECT_TRUE(std::isfinite(lane0(exp(broadcast(1e30f)))));
}

TEST(Rows, GeluIsTheTanhForm) {
    const double expected[][2] = {{1, 0.8411920},
                                  {-1, -0.1588080},
                                  {2, 1.9545977},
                                  {3, 2.9963626},
                                  {-3, -0.0036374}};
    for (const auto& [x, y] : expected)
        EXPECT_NEAR(double(lane0(gelu(broadcast(float(x))))), y, 1e-6) << x;
    EXPECT_EQ(lane0(gelu(broadcast(0))), 0.0f);
    EXPECT_EQ(lane0(gelu(broadcast(100))), 100.0f);
    EXPECT_NEAR(lane0(gelu(broadcast(-100))), 0, 1e-30);
    EXPECT_TRUE(std::isfinite(lane0(gelu(broadcast(-1e10f)))));
}

TEST(Rows, LayerNormOfAnyWidthIgnoresWhatLiesBehind) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(3, 2);
    for (int n = 1; n < 70; ++n) {
        const int room = (n + 15) / 16 * 16;
        std::vector<float> x(room, 1e9f), gain(room, 0.0f), bias(room, 0.0f), y(room);
        double mean = 0, variance = 0;
        for (int i = 0; i < n; ++i) x[i] = normal(random), mean += double(x[i]) / n;
        for (int i = 0; i < n; ++i)
            variance += (double(x[i]) - mean) * (double(x[i]) - mean) / n;
        for (int i = 0; i < n; ++i) gain[i] = normal(random), bias[i] = normal(random);
        layer_norm(x.data(), n, gain.data(), bias.data(), y.data());
        for (int i = 0; i < n; ++i) {
            const double exact =
                (double(x[i]) - mean) / std::sqrt(variance + 1e-5) * double(gain[i]) +
                double(bias[i]);
            EXPECT_NEAR(double(y[i]), exact, 1e-4) << n;
        }
    }
}

TEST(Rows, SoftmaxOfAnyLengthIgnoresWhatLiesBehind) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0, 30);
    for (int n = 1; n < 70; ++n) {
        const int room = (n + 15) / 16 * 16;
        std::vector<float> scores(room, 1e30f);
        std::vector<double> exact(n);
        for (int i = 0; i < n; ++i) scores[i] = normal(random);
        const double most = double(*std::max_element(scores.begin(), scores.begin() + n));
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += exact[i] = std::exp(0.125 * (double(scores[i]) - most));
        float total = 0;
        softmax(scores.data(), n, 0.125f, &total);
        EXPECT_NEAR(double(total), sum, 1e-5 * sum);
        for (int i = 0; i < n; ++i) EXPECT_NEAR(double(scores[i]), exact[i], 1e-5);
        for (int i = n; i < room; ++i) EXPECT_EQ(scores[i], 0.0f);
    }
}

TEST(Rows, SumsAreByHalves) {
    float x[16];
    for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 1e8f : 1.0f;
    // 1e8 + 1 is 1e8: eight lanes at a time, lane 0 swallows one 1 of every round.
    EXPECT_EQ(sum(load(x)), 1e8f + 8.0f);
    EXPECT_EQ(max_lane(load(x)), 1e8f);
}
