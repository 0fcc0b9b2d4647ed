#include "gpt2/philox.hpp"

#include <gtest/gtest.h>

namespace gpt2 {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The known answers that the authors publish with their Random123 library.
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
              (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
              (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                     {0xa4093822, 0x299f31d0}),
              (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformTakesTheUpper53BitsOfTheFirstTwoWords) {
    EXPECT_EQ(uniform(0, 0, 0), double(0x6627e8d5e169c58d >> 11) / 9007199254740992.0);
}

TEST(Philox, EveryBitOfSeedRequestAndPositionCounts) {
    const double base = uniform(0, 0, 0);
    for (int bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t(1) << bit;
        EXPECT_NE(uniform(one, 0, 0), base);
        EXPECT_NE(uniform(0, one, 0), base);
        EXPECT_NE(uniform(0, 0, one), base);
        EXPECT_NE(uniform(0, one, 0), uniform(0, 0, one));
    }
}

TEST(Philox, UniformIsUniform) {
    constexpr int draws = 200000, bins = 16;
    std::array<int, bins> count{};
    for (int i = 0; i < draws; ++i) {
        const double u = uniform(7, i % 10, i / 10);
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        ++count[std::size_t(u * bins)];
    }
    double chi2 = 0;
    for (const int n : count) {
        const double expected = double(draws) / bins;
        chi2 += (n - expected) * (n - expected) / expected;
    }
    EXPECT_LT(chi2, 37.7);  // 15 degrees of freedom: once in a thousand seeds
}

}  // namespace
}  // namespace gpt2
