// Packed matrices: what each type of numbers keeps of a weight, and that a product with
// them is one chain of fused multiply-adds over what was kept.

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gpt2/cpu/matmul.hpp"

using namespace gpt2;
using cpu::Packed;

namespace {

constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::int8};

/// [rows, columns], row by row.
struct Plain {
    int rows, columns;
    std::vector<float> numbers = std::vector<float>(std::size_t(rows) * columns);

    float& at(int k, int c) { return numbers[std::size_t(k) * columns + c]; }
};

Plain random_matrix(int rows, int columns, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Plain m{rows, columns};
    for (float& x : m.numbers) x = normal(random);
    return m;
}

/// Packed in stretches of one group.
Packed packed(const Plain& m, DType dtype) {
    Packed all(m.rows, m.columns, dtype);
    for (int k = 0; k < m.rows; k += rows_per_scale)
        all.put_rows(k, std::min(rows_per_scale, m.rows - k),
                     m.numbers.data() + std::size_t(k) * m.columns);
    return all;
}

/// As it comes back.
Plain unpacked(const Packed& p) {
    Plain m{p.depth(), p.columns()};
    std::vector<float> column(std::size_t(p.depth()));
    for (int c = 0; c < p.columns(); ++c) {
        p.get_column(c, column.data());
        for (int k = 0; k < p.depth(); ++k) m.at(k, c) = column[std::size_t(k)];
    }
    return m;
}

Plain kept(const Plain& m, DType dtype) { return unpacked(packed(m, dtype)); }

/// The largest magnitude among the numbers that share a scale with [k, c].
float largest_of_group(Plain& m, int k, int c) {
    float largest = 0;
    const int first = k / 32 * 32;
    for (int i = first; i < std::min(first + 32, m.rows); ++i)
        largest = std::max(largest, std::abs(m.at(i, c)));
    return largest;
}

const std::vector<std::pair<int, int>> sizes = {{1, 1},   {31, 17}, {32, 16}, {33, 40},
                                                {64, 15}, {97, 48}, {160, 5}, {200, 33}};

}  // namespace

TEST(Packed, KeepsAFloatAndRoundsAHalf) {
    for (const auto& [rows, columns] : sizes) {
        const Plain m = random_matrix(rows, columns, unsigned(rows));
        EXPECT_EQ(kept(m, DType::f32).numbers, m.numbers);
        const Plain f16 = kept(m, DType::f16), bf16 = kept(m, DType::bf16);
        for (std::size_t i = 0; i < m.numbers.size(); ++i) {
            ASSERT_EQ(f16.numbers[i], from_f16(to_f16(m.numbers[i])));
            ASSERT_EQ(bf16.numbers[i], from_bf16(to_bf16(m.numbers[i])));
        }
    }
}

TEST(Packed, BfloatsTakeAnyFiniteNumber) {
    std::mt19937 random(3);
    Plain m{1000, 16};
    for (float& x : m.numbers) do
            x = std::bit_cast<float>(std::uint32_t(random()));
        while (!std::isfinite(x));
    m.numbers[0] = FLT_MIN / 3;  // subnormal
    m.numbers[1] = -FLT_MIN;
    const Plain bf16 = kept(m, DType::bf16);
    for (std::size_t i = 0; i < m.numbers.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16.numbers[i]),
                  std::uint32_t(to_bf16(m.numbers[i])) << 16)
            << m.numbers[i];
}

TEST(Packed, RoundsToAnInt8ByHalfAStepAtMost) {
    for (const auto& [rows, columns] : sizes) {
        Plain m = random_matrix(rows, columns, unsigned(rows) + 7);
        Plain int8 = kept(m, DType::int8);
        for (int k = 0; k < rows; ++k)
            for (int c = 0; c < columns; ++c) {
                const float largest = largest_of_group(m, k, c), scale = largest / 127;
                ASSERT_LE(std::abs(int8.at(k, c) - m.at(k, c)), scale / 2 * 1.0001f);
                // A whole multiple; the largest is the 127th.
                const float multiple = std::nearbyint(m.at(k, c) / scale);
                ASSERT_EQ(int8.at(k, c), multiple * scale);
                if (std::abs(m.at(k, c)) == largest) {
                    ASSERT_EQ(std::abs(multiple), 127);
                }
            }
    }
}

TEST(Packed, RoundsToTheEvenInt8) {
    Plain m{8, 1, {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, -126.5f}};
    EXPECT_EQ(kept(m, DType::int8).numbers,
              (std::vector<float>{127, 0, 2, 2, 0, -2, -2, -126}));
}

TEST(Packed, AGroupOfZerosStaysZero) {
    Plain m = random_matrix(100, 20, 5);
    for (int k = 32; k < 64; ++k)
        for (int c = 0; c < 20; ++c) m.at(k, c) = c % 2 ? 0.0f : -0.0f;
    Plain int8 = kept(m, DType::int8);
    for (int c = 0; c < 20; ++c) {
        for (int k = 32; k < 64; ++k) ASSERT_EQ(int8.at(k, c), 0);
        ASSERT_NE(int8.at(31, c), 0);
    }
    // Its scale too, and those of columns that only pad.
    const Packed p = packed(m, DType::int8);
    float scales[16];
    std::memcpy(scales, p.panel<std::int8_t>(0) + 64 + 32 * 16, sizeof scales);
    for (const float scale : scales) EXPECT_EQ(scale, 0);
    std::memcpy(scales, p.panel<std::int8_t>(1), sizeof scales);
    EXPECT_NE(scales[3], 0);
    EXPECT_EQ(scales[4], 0);
}

TEST(Packed, Int8StaysFiniteAtTheExtremes) {
    // (127 scales of the very largest float round to infinity, as its bf16 does.)
    for (const float largest :
         {FLT_MAX * 0.999999f, FLT_MIN, FLT_MIN * 127, 1e-30f, 1e30f}) {
        Plain m{3, 1, {largest, -largest, largest / 3}};
        const Plain int8 = kept(m, DType::int8);
        for (int k = 0; k < 3; ++k)
            EXPECT_LE(std::abs(int8.numbers[std::size_t(k)] - m.at(k, 0)),
                      largest / 127 * 0.51f)
                << largest;
    }
    // Below any normal number there is too little left to divide; but nothing else comes
    // of it.
    Plain tiny{2, 1, {FLT_TRUE_MIN, -100 * FLT_TRUE_MIN}};
    for (const float x : kept(tiny, DType::int8).numbers) EXPECT_LE(std::abs(x), FLT_MIN);
}

TEST(Packed, Int8LiesAsItIsRead) {
    // Per group 16 scales, then the rows.
    const Plain m = random_matrix(40, 16, 9);
    const Packed p = packed(m, DType::int8);
    ASSERT_EQ(p.bytes(), std::size_t(64 + 32 * 16 + 64 + 8 * 16));
    const std::int8_t* at = p.panel<std::int8_t>(0);
    for (int k = 0; k < 40; ++k) {
        if (k % 32 == 0) at += 64;
        const std::int8_t* group = p.panel<std::int8_t>(0) + k / 32 * (64 + 32 * 16);
        for (int c = 0; c < 16; ++c, ++at) {
            float scale;
            std::memcpy(&scale, group + 4 * c, 4);
            ASSERT_EQ(float(*at) * scale, unpacked(p).at(k, c));
        }
    }
}

TEST(Packed, PanelsAndRowsArePackedAlike) {
    for (const DType dtype : dtypes)
        for (const auto& [rows, columns] : sizes) {
            Plain m = random_matrix(rows, columns, 21);
            Packed by_panel(rows, columns, dtype);
            for (int p = 0; p < by_panel.panels(); ++p) {
                const int count = std::min(16, columns - 16 * p);
                std::vector<float> transposed;
                for (int c = 0; c < count; ++c)
                    for (int k = 0; k < rows; ++k)
                        transposed.push_back(m.at(k, 16 * p + c));
                by_panel.put_panel(p, count, transposed.data());
            }
            const Packed by_row = packed(m, dtype);
            ASSERT_EQ(by_row.bytes(), by_panel.bytes());
            ASSERT_EQ(std::memcmp(by_row.panel<std::byte>(0),
                                  by_panel.panel<std::byte>(0), by_row.bytes()),
                      0)
                << name_of(dtype);
        }
}

TEST(Packed, AProductIsOneChainOfFusedMultiplyAdds) {
    for (const DType dtype : dtypes)
        for (const auto& [depth, columns] : sizes)
            for (const int rows : {1, 2, 7, 30, 200}) {
                const Packed w = packed(random_matrix(depth, columns, 33), dtype);
                Plain plain = unpacked(w), x = random_matrix(rows, depth, 34);
                Plain y{rows, columns};
                cpu::together(2, [&](const cpu::Worker& worker) {
                    cpu::matmul(worker, w, x.numbers.data(), std::size_t(depth), rows,
                                y.numbers.data(), std::size_t(columns), cpu::Then::store,
                                nullptr);
                });
                for (int r = 0; r < rows; ++r)
                    for (int c = 0; c < columns; ++c) {
                        float sum = 0;
                        for (int k = 0; k < depth; ++k)
                            sum = std::fma(x.at(r, k), plain.at(k, c), sum);
                        ASSERT_EQ(std::bit_cast<std::uint32_t>(y.at(r, c)),
                                  std::bit_cast<std::uint32_t>(sum))
                            << name_of(dtype) << " " << depth << " x " << columns;
                    }
            }
}
