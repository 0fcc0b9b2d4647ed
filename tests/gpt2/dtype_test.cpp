#include "gpt2/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gpt2/error.hpp"

namespace {

constexpr std::uint32_t patterns = 1 << 16;

bool is_nan_f16(std::uint32_t bits) { return (bits & 0x7fff) > 0x7c00; }

/// What a half's bits mean, by the definition of the format.
double value_of_f16(std::uint32_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/// The nearest half, found by search instead of by bits; ties go to the even one.
std::uint16_t nearest_f16(float value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(double(value));
    if (magnitude >= 65520) return sign | 0x7c00;  // halfway to what would follow 65,504
    std::uint32_t low = 0, high = 0x7c00;          // low <= magnitude < high
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        (value_of_f16(middle) <= magnitude ? low : high) = middle;
    }
    const double above = high == 0x7c00 ? 65536 : value_of_f16(high);
    const double down = magnitude - value_of_f16(low), up = above - magnitude;
    const bool round_up = up < down || (up == down && low % 2 == 1);
    return sign | std::uint16_t(round_up ? high : low);
}

TEST(DType, EveryHalfMeansWhatTheFormatSays) {
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
        const float value = gpt2::from_f16(std::uint16_t(bits));
        ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
        if (is_nan_f16(bits))
            ASSERT_TRUE(std::isnan(value)) << bits;
        else
            ASSERT_EQ(double(value), value_of_f16(bits)) << bits;
    }
}

TEST(DType, EveryHalfSurvivesTheRoundTrip) {
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
        const std::uint16_t back = gpt2::to_f16(gpt2::from_f16(std::uint16_t(bits)));
        if (is_nan_f16(bits))
            ASSERT_TRUE(is_nan_f16(back)) << bits;
        else
            ASSERT_EQ(back, bits);
    }
}

TEST(DType, RoundsToTheNearestHalfTiesToEven) {
    std::mt19937 random(7);
    for (int i = 0; i < 300'000; ++i) {
        // Any bits at all; then only exponents that a half can hold, or nearly.
        std::uint32_t bits = std::uint32_t(random());
        if (i % 2) bits = (bits & 0x807fffff) | (random() % 45 + 100) << 23;
        const float value = std::bit_cast<float>(bits);
        if (std::isnan(value))
            ASSERT_TRUE(is_nan_f16(gpt2::to_f16(value)));
        else
            ASSERT_EQ(gpt2::to_f16(value), nearest_f16(value)) << value;
    }
}

TEST(DType, HalfwayBetweenTwoHalvesAndItsNeighbours) {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const double sum = value_of_f16(bits) + value_of_f16(bits + 1);
        const float middle = float(sum / 2);  // exact: one bit more than a half
        ASSERT_EQ(gpt2::to_f16(middle), bits + bits % 2);
        ASSERT_EQ(gpt2::to_f16(std::nextafter(middle, 0.0f)), bits);
        ASSERT_EQ(gpt2::to_f16(std::nextafter(middle, 1e9f)), bits + 1);
        ASSERT_EQ(gpt2::to_f16(-middle), (bits + bits % 2) | 0x8000);
    }
    EXPECT_EQ(gpt2::to_f16(65519.996f), 0x7bff);
    EXPECT_EQ(gpt2::to_f16(65520.0f), 0x7c00);
    EXPECT_EQ(gpt2::to_f16(std::numeric_limits<float>::max()), 0x7c00);
    EXPECT_EQ(gpt2::to_f16(-std::numeric_limits<float>::infinity()), 0xfc00);
    EXPECT_EQ(gpt2::to_f16(0x1p-25f), 0);
    EXPECT_EQ(gpt2::to_f16(-std::numeric_limits<float>::denorm_min()), 0x8000);
}

#ifdef __FLT16_MAX__
TEST(DType, AgreesWithTheCompilersHalf) {
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
        if (is_nan_f16(bits)) continue;
        const auto half = std::bit_cast<_Float16>(std::uint16_t(bits));
        ASSERT_EQ(std::bit_cast<std::uint32_t>(gpt2::from_f16(std::uint16_t(bits))),
                  std::bit_cast<std::uint32_t>(float(half)));
    }
    std::mt19937 random(8);
    for (int i = 0; i < 1'000'000; ++i) {
        const float value = std::bit_cast<float>(std::uint32_t(random()));
        if (std::isnan(value)) continue;
        const auto half = static_cast<_Float16>(value);
        ASSERT_EQ(gpt2::to_f16(value), std::bit_cast<std::uint16_t>(half)) << value;
    }
}
#endif

TEST(DType, BfloatIsTheUpperHalfOfAFloat) {
    for (std::uint32_t bits = 0; bits < patterns; ++bits)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(gpt2::from_bf16(std::uint16_t(bits))),
                  bits << 16);
    EXPECT_EQ(gpt2::from_bf16(0x3f80), 1.0f);
    EXPECT_EQ(gpt2::from_bf16(0xc040), -3.0f);
}

TEST(DType, RoundsToTheNearestBfloatTiesToEven) {
    std::mt19937 random(9);
    for (std::uint32_t upper = 0; upper < patterns; ++upper) {
        const float value = gpt2::from_bf16(std::uint16_t(upper));
        if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(gpt2::from_bf16(gpt2::to_bf16(value)))) << upper;
            continue;
        }
        ASSERT_EQ(gpt2::to_bf16(value), upper);
        if (std::isinf(value)) continue;
        // Bits grow with magnitudes, infinity next to the largest number.
        const auto low = [&](std::uint32_t bits) {
            return gpt2::to_bf16(std::bit_cast<float>(upper << 16 | bits));
        };
        ASSERT_EQ(low(random() % 0x8000), upper);
        ASSERT_EQ(low(0x8000), upper + upper % 2);
        ASSERT_EQ(low(0x8001 + random() % 0x7fff), upper + 1);
    }
    // A NaN whose bits are all in the lower half stays one.
    EXPECT_TRUE(
        std::isnan(gpt2::from_bf16(gpt2::to_bf16(std::bit_cast<float>(0x7f800001u)))));
    EXPECT_EQ(gpt2::to_bf16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(gpt2::to_bf16(-1.0f), 0xbf80);
}

TEST(DType, BytesOfAMatrix) {
    using gpt2::matrix_bytes;
    EXPECT_EQ(matrix_bytes(gpt2::DType::f32, 3, 5), 60);
    EXPECT_EQ(matrix_bytes(gpt2::DType::f16, 3, 5), 30);
    EXPECT_EQ(matrix_bytes(gpt2::DType::bf16, 3, 5), 30);
    // 1 byte a weight, and 4 for each group and column; the last group may be short.
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 1, 5), 5 * (1 + 4));
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 32, 5), 5 * (32 + 4));
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 33, 5), 5 * (33 + 8));
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 768, 50257), 768LL * 50257 * 9 / 8);
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 1 << 20, 1 << 20), (9LL << 40) / 8);
    EXPECT_EQ(matrix_bytes(gpt2::DType::int8, 0, 5), 0);
}

TEST(DType, NamesAndSizes) {
    for (gpt2::DType dtype :
         {gpt2::DType::f32, gpt2::DType::f16, gpt2::DType::bf16, gpt2::DType::int8})
        EXPECT_EQ(gpt2::parse_dtype(gpt2::name_of(dtype), "--dtype"), dtype);
    EXPECT_EQ(gpt2::size_of(gpt2::DType::f32), 4u);
    EXPECT_EQ(gpt2::size_of(gpt2::DType::f16), 2u);
    EXPECT_EQ(gpt2::size_of(gpt2::DType::bf16), 2u);
    EXPECT_EQ(gpt2::size_of(gpt2::DType::int8), 1u);
    try {
        gpt2::parse_dtype("f31", "--dtype");
        FAIL() << "f31 was taken";
    } catch (const gpt2::BadInput& error) {
        EXPECT_STREQ(error.what(),
                     "--dtype: expected f32, f16, bf16 or int8, found 'f31'");
    }
}

}  // namespace
