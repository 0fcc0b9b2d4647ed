#pragma once

#include <cstddef>

#include "gpt2/buffer.hpp"
#include "gpt2/cpu/packed.hpp"
#include "gpt2/cpu/team.hpp"

namespace gpt2::cpu {

/// Rows of activations, [rows, columns], f32.
///
/// A row is longer than its columns: rounded up to whole vectors, and one cache line
/// more. Without that line, rows of 3,072 floats would start 12 KiB apart, and twelve of
/// them would compete for the same few places in the nearest cache.
struct Activations {
    Activations() = default;

    /// Rows of unset numbers.
    Activations(int rows, int columns)
        : stride(whole(columns) + 16), memory(std::size_t(rows) * stride) {}

    /// Row r, not checked.
    float* row(int r) const { return memory.data() + std::size_t(r) * stride; }

    int stride = 0;        ///< floats from one row to the next
    Buffer<float> memory;  ///< [rows, stride]
};

/// What becomes of a sum before it is stored.
enum class Then {
    store,     ///< y = sum
    add_bias,  ///< y = sum + bias
    gelu,      ///< y = GELU(sum + bias)
    residual,  ///< y = y + (sum + bias)
};

/// A matrix product, and what becomes of it, for `rows` rows:
///
///     y[row, n] = then(sum over k of x[row, k] * w[k, n])
///
/// The columns are shared out among the workers, never the sums. Does not wait at the
/// end.
///
/// @param x  rows of w.depth() floats, `x_stride` apart
/// @param y  rows of at least w.columns() floats, `y_stride` apart; nothing behind
///           column w.columns() is written
/// @param bias  whole(w.columns()) floats, not used with Then::store
void matmul(const Worker& worker, const Packed& w, const float* x, std::size_t x_stride,
            int rows, float* y, std::size_t y_stride, Then then, const float* bias);

}  // namespace gpt2::cpu
