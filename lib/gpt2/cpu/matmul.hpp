#pragma once

#include <cstddef>

#include "gpt2/buffer.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2::cpu {

/// Numbers rounded up to whole vectors of sixteen.
constexpr int whole(int n) { return (n + 15) / 16 * 16; }

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

/// A matrix [depth, columns], packed for the tile: panels of 16 columns, each stored row
/// by row, so that every trip through it reads memory in order. Missing columns of the
/// last panel are zero.
class Packed {
public:
    Packed() = default;

    /// Memory for a matrix, its numbers not set: put every row, or every panel.
    Packed(int depth, int columns, DType dtype);

    int depth() const { return depth_; }                  ///< rows: the k summed over
    int columns() const { return columns_; }              ///< without the padding
    int panels() const { return whole(columns_) / 16; }   ///< of 16 columns each
    DType dtype() const { return dtype_; }                ///< of the numbers in memory
    std::size_t bytes() const { return memory_.size(); }  ///< padding included

    /// Puts rows from `first` on, [count, columns()]. Different rows may be put from
    /// different threads. In int8 whole groups: `first` is a multiple of
    /// `rows_per_scale`, and so is `count`, but for the last rows.
    void put_rows(int first, int count, const float* rows);

    /// Puts panel p from its transpose: `count` <= 16 columns of `depth()` floats each,
    /// one after the other.
    void put_panel(int p, int count, const float* columns);

    /// Element [k, column], as f32, for each k: out[0 ... depth() - 1].
    void get_column(int column, float* out) const;

    /// Panel p, [depth, 16]. T is what the numbers are in memory: float, f16, bf16, or
    /// std::int8_t in groups, as `Right` has them.
    template <class T>
    T* panel(int p) const {
        return reinterpret_cast<T*>(memory_.data() + std::size_t(p) * panel_bytes());
    }

    /// From one panel to the next.
    std::size_t panel_bytes() const { return matrix_bytes(dtype_, depth_, 16); }

private:
    int depth_ = 0, columns_ = 0;
    DType dtype_ = DType::f32;
    Buffer<std::byte> memory_;
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
