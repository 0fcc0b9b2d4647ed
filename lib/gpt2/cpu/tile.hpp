#pragma once

// The one routine that all of this engine's arithmetic goes through.
//
// A tile is a small block of a matrix product, `rows` x (16 * panels), held in registers
// from its first multiply-add to its last. It serves the weights (for 512 rows and for
// one), the scores of attention (queries times keys) and its output (weights times
// values).
//
// Every element of the product is one chain of fused multiply-adds over k = 0, 1, 2 ...,
// and each element has a lane of its own. So its bits do not depend on how many rows or
// panels are computed beside it. That is promise 2, and it costs nothing: a processor is
// kept busy by many chains side by side, not by cutting one chain into parts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpt2/cpu/simd.hpp"

namespace gpt2::cpu {

/// Rows of a full tile: with its panels, as many sums as there are registers, less a few
/// for the factors. More sums per load of a factor means more arithmetic per byte, which
/// is what reading lives on.
inline constexpr int tile_rows = registers == 1 ? 12 : 6;

/// Panels beside each other in a full tile.
inline constexpr int tile_panels = registers == 1 ? 2 : 1;

/// Panels side by side for a single row, where the loads and not the sums are the limit.
inline constexpr int row_panels = 4;

/// Left factor: `rows` rows of floats, `stride` apart.
struct Left {
    const float* data;   ///< row 0 at k = 0
    std::size_t stride;  ///< floats from one row to the next
};

/// Right factor: for each k a row of 16 numbers in each panel.
///
/// Numbers of type std::int8_t stand in groups of `rows_per_scale` rows, the last one
/// shorter: 16 scales, which are floats, then the rows. So all is read front to back.
template <class T>
struct Right {
    const T* data;             ///< panel 0 at k = 0
    std::size_t k_stride;      ///< from one k to the next
    std::size_t panel_stride;  ///< from one panel to the next

    // What is read after this (see `add_products`).
    const void* next = nullptr;         ///< its panel 0 at k = 0
    std::size_t next_k_stride = 0;      ///< bytes, on average, from one k to the next
    std::size_t next_panel_stride = 0;  ///< bytes from one panel to the next
};

/// Calls f with a null pointer of the type that numbers of `dtype` have in memory.
template <class F>
void with_type(DType dtype, F f) {
    switch (dtype) {
        case DType::f32:
            return f(static_cast<float*>(nullptr));
        case DType::f16:
            return f(static_cast<f16*>(nullptr));
        case DType::bf16:
            return f(static_cast<bf16*>(nullptr));
        case DType::int8:
            return f(static_cast<std::int8_t*>(nullptr));
    }
}

/// Whether numbers of this type come in groups with scales.
template <class T>
inline constexpr bool is_scaled = std::is_same_v<std::remove_const_t<T>, std::int8_t>;

/// Bytes of a group's scales.
inline constexpr std::size_t scale_bytes = 16 * sizeof(float);

/// Where row k of a packed panel stands, of type T or const T.
template <class T>
T* row_of(T* panel, int k) {
    T* row = panel + std::size_t(k) * 16;
    if constexpr (is_scaled<T>) row += (k / rows_per_scale + 1) * scale_bytes;
    return row;
}

/// The 16 scales that a group of an int8 panel begins with.
HWY_INLINE Vec16 load_scales(const std::int8_t* group) {
    return load(reinterpret_cast<const float*>(group));
}

/// Has a line of memory fetched into this core's second-level cache.
HWY_INLINE void fetch(const void* line) { __builtin_prefetch(line, 0, 2); }

/// The sums of a tile: `rows` rows of 16 `panels` columns.
template <int rows, int panels>
using Sums = Vec16[rows][panels];

/// For `rows` rows and 16 `panels` columns at once:
///
///     sums[row, column] += sum over k of a[row, k] * b[k, column]
///
/// @tparam ahead  a bit for every panel whose loads each fetch their counterpart in
///               `b.next`. A processor sees by itself where
///               one long stretch of memory goes on, but not where the next one begins.
template <int rows, int panels, unsigned ahead = 0, class T>
HWY_INLINE void add_products(Left a, Right<T> b, int depth, Sums<rows, panels>& sums) {
    // [tile]
    const auto step = [&](int k, const auto& widened) HWY_ATTR
        __attribute__((always_inline)) {
        Vec16 right[panels];
        unroll<panels>([&](auto p) HWY_ATTR {
            right[p] = widened(load(b.data + k * b.k_stride + p * b.panel_stride), p);
            if constexpr ((ahead >> p) % 2 != 0)
                fetch(static_cast<const std::byte*>(b.next) + k * b.next_k_stride +
                      p * b.next_panel_stride);
        });
        unroll<rows>([&](auto r) HWY_ATTR {
            const Vec16 left = broadcast(a.data[r * a.stride + k]);
            unroll<panels>(
                [&](auto p) HWY_ATTR { sums[r][p] = fma(left, right[p], sums[r][p]); });
        });
    };
    if constexpr (is_scaled<T>) {
        for (int k = 0; k < depth;) {
            Vec16 scales[panels];
            unroll<panels>([&](auto p) HWY_ATTR {
                scales[p] = load_scales(b.data + k * b.k_stride + p * b.panel_stride);
            });
            b.data += scale_bytes;
            for (const int end_of_group = std::min(depth, k + rows_per_scale);
                 k < end_of_group; ++k)
                step(k, [&](const Vec16& q, int p) HWY_ATTR { return q * scales[p]; });
        }
    } else {
        for (int k = 0; k < depth; ++k)
            step(k, [](const Vec16& number, int) HWY_ATTR { return number; });
    }
    // [tile]
}

/// The same, from zero, and all at once.
/// @param end  end(row, panel, sums) takes the sums
template <int rows, int panels, unsigned ahead = 0, class T, class End>
HWY_INLINE void tile(Left a, Right<T> b, int depth, End end) {
    Sums<rows, panels> sums;
    unroll<rows>([&](auto r) HWY_ATTR {
        unroll<panels>([&](auto p) HWY_ATTR { sums[r][p] = broadcast(0.0f); });
    });
    add_products<rows, panels, ahead>(a, b, depth, sums);
    unroll<rows>([&](auto r) HWY_ATTR {
        unroll<panels>([&](auto p) HWY_ATTR { end(int(r), int(p), sums[r][p]); });
    });
}

/// Calls f(std::integral_constant<int, n>()) where n, the number handed in, is one of
/// 1 ... most; else nothing.
template <int most, class F>
HWY_INLINE void with_constant(int n, F f) {
    unroll<most>([&](auto i) HWY_ATTR {
        if (n == i + 1) f(std::integral_constant<int, i + 1>());
    });
}

}  // namespace gpt2::cpu
