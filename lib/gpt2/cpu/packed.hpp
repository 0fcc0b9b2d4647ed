#pragma once

#include <cstddef>

#include "gpt2/buffer.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2::cpu {

/// Numbers rounded up to whole vectors of sixteen.
constexpr int whole(int n) { return (n + 15) / 16 * 16; }

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

}  // namespace gpt2::cpu
