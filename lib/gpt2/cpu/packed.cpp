#include "gpt2/cpu/packed.hpp"

#include <algorithm>
#include <limits>

#include "gpt2/cpu/tile.hpp"

namespace gpt2::cpu {

Packed::Packed(int depth, int columns, DType dtype)
    : depth_(depth),
      columns_(columns),
      dtype_(dtype),
      memory_(std::size_t(matrix_bytes(dtype, depth, whole(columns)))) {}

namespace {

/// Rows of one panel, as floats: in int8, a group.
using Rows16 = float[rows_per_scale][16];

/// Where a matrix has no more columns, its last panel holds zeros.
void clear(Rows16& rows) { std::fill_n(&rows[0][0], rows_per_scale * 16, 0.0f); }

/// Rounds `count` rows and stores them from `to` on.
template <class T>
void put(const Rows16& rows, int count, T* to) {
    for (int k = 0; k < count; ++k) store(load(rows[k]), to + k * 16);
}

/// In int8 the scales stand before the rows.
void put(const Rows16& rows, int count, std::int8_t* to) {
    Vec16 largest = broadcast(0);
    for (int k = 0; k < count; ++k) largest = max(largest, abs(load(rows[k])));
    const Vec16 scales = largest / broadcast(127);
    store(scales, reinterpret_cast<float*>(to - scale_bytes));
    // Where all is zero, so is the scale: 0 is divided by something else.
    const Vec16 by = max(scales, broadcast(std::numeric_limits<float>::denorm_min()));
    for (int k = 0; k < count; ++k) store(load(rows[k]) / by, to + k * 16);
}

}  // namespace

void Packed::put_rows(int first, int count, const float* rows) {
    with_type(dtype_, [&]<class T>(T*) {
        for (int k = 0; k < count; k += rows_per_scale)
            for (int p = 0; p < panels(); ++p) {
                Rows16 some;
                const int n = std::min(rows_per_scale, count - k);
                const int across = std::min(16, columns_ - 16 * p);
                if (across < 16) clear(some);
                for (int i = 0; i < n; ++i)
                    std::copy_n(rows + std::size_t(k + i) * columns_ + 16 * p, across,
                                some[i]);
                put(some, n, row_of(panel<T>(p), first + k));
            }
    });
}

void Packed::put_panel(int p, int count, const float* columns) {
    with_type(dtype_, [&]<class T>(T*) {
        for (int k = 0; k < depth_; k += rows_per_scale) {
            Rows16 some;
            const int n = std::min(rows_per_scale, depth_ - k);
            if (count < 16) clear(some);
            for (int j = 0; j < count; ++j)
                for (int i = 0; i < n; ++i)
                    some[i][j] = columns[std::size_t(j) * depth_ + k + i];
            put(some, n, row_of(panel<T>(p), k));
        }
    });
}

namespace {

float widened(float x) { return x; }
float widened(f16 x) { return from_f16(x.bits); }
float widened(bf16 x) { return from_bf16(x.bits); }

}  // namespace

void Packed::get_column(int column, float* out) const {
    const int lane = column % 16;
    with_type(dtype_, [&]<class T>(T*) {
        T* const from = panel<T>(column / 16);
        for (int k = 0; k < depth_; ++k) {
            const T* row = row_of(from, k);
            if constexpr (is_scaled<T>) {
                const T* group = row - std::size_t(k % rows_per_scale) * 16 - scale_bytes;
                out[k] = float(row[lane]) * reinterpret_cast<const float*>(group)[lane];
            } else {
                out[k] = widened(row[lane]);
            }
        }
    });
}

}  // namespace gpt2::cpu
