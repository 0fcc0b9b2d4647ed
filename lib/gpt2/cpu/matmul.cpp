#include "gpt2/cpu/matmul.hpp"

#include <algorithm>
#include <cstring>

#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/simd.hpp"
#include "gpt2/cpu/tile.hpp"

namespace gpt2::cpu {

Packed::Packed(int depth, int columns, DType dtype)
    : depth_(depth),
      columns_(columns),
      dtype_(dtype),
      memory_(std::size_t(depth) * whole(columns) * size_of(dtype)) {}

namespace {

/// Calls f with a null pointer of the type that numbers of `dtype` have in memory.
template <class F>
void with_type(DType dtype, F f) {
    if (dtype == DType::f16)
        f(static_cast<f16*>(nullptr));
    else
        f(static_cast<float*>(nullptr));
}

}  // namespace

void Packed::put_row(int k, const float* row) {
    with_type(dtype_, [&]<class T>(T*) {
        for (int p = 0; p < panels(); ++p) {
            T* to = panel<T>(p) + std::size_t(k) * 16;
            const int count = std::min(16, columns_ - 16 * p);
            if (count == 16) {
                store(load(row + 16 * p), to);
            } else {
                float last[16] = {};
                std::copy_n(row + 16 * p, count, last);
                store(load(last), to);
            }
        }
    });
}

void Packed::put_panel(int p, int count, const float* columns) {
    with_type(dtype_, [&]<class T>(T*) {
        for (int k = 0; k < depth_; ++k) {
            float row[16] = {};
            for (int j = 0; j < count; ++j) row[j] = columns[std::size_t(j) * depth_ + k];
            store(load(row), panel<T>(p) + std::size_t(k) * 16);
        }
    });
}

void Packed::get_column(int column, float* out) const {
    const int p = column / 16, lane = column % 16;
    if (dtype_ == DType::f32) {
        const float* from = panel<float>(p) + lane;
        for (int k = 0; k < depth_; ++k) out[k] = from[std::size_t(k) * 16];
    } else {
        const f16* from = panel<f16>(p) + lane;
        for (int k = 0; k < depth_; ++k)
            out[k] = from_f16(from[std::size_t(k) * 16].bits);
    }
}

namespace {

/// One product's arguments, as a worker sees them.
template <class T>
struct Product {
    const Packed& w;
    const float* x;
    std::size_t x_stride;
    float* y;
    std::size_t y_stride;
    Then then;
    const float* bias;

    void finish(float* to, int column, const Vec16& sums) const {
        Vec16 v = sums;
        if (then != Then::store) v = v + load(bias + column);
        if (then == Then::gelu) v = gelu(v);
        const int count = std::min(16, w.columns() - column);
        if (count == 16) {
            if (then == Then::residual) v = load(to) + v;
            store(v, to);
        } else {
            float last[16] = {};
            if (then == Then::residual) std::copy_n(to, count, last);
            if (then == Then::residual) v = load(last) + v;
            store(v, last);
            std::copy_n(last, count, to);
        }
    }

    template <int rows, int panels>
    void block(int row, int panel) const {
        const Right<T> right{w.panel<T>(panel), 16, std::size_t(w.depth()) * 16};
        tile<rows, panels>(
            Left{x + row * x_stride, x_stride}, right, w.depth(),
            [](int, int) HWY_ATTR { return broadcast(0.0f); },
            [&](int r, int p, const Vec16& sums) HWY_ATTR {
                const int column = 16 * (panel + p);
                finish(y + (row + r) * y_stride + column, column, sums);
            });
    }

    /// All rows of `panels` panels: full tiles, then what is left over.
    template <int panels>
    void rows_of(int rows, int panel) const {
        int row = 0;
        for (; row + tile_rows <= rows; row += tile_rows)
            block<tile_rows, panels>(row, panel);
        with_constant<tile_rows - 1>(rows - row,
                                     [&](auto left) { block<left, panels>(row, panel); });
    }
};

/// Rows that are multiplied by one stretch of panels before the next: their activations,
/// 400 KiB at a width of 768, stay in a core's own cache meanwhile.
constexpr int rows_at_a_time = 132;

template <class T>
void matmul_share(const Worker& worker, const Product<T>& product, int rows) {
    const auto [begin, end] = worker.share(product.w.panels());
    int panel = begin;
    if (rows == 1) {
        for (; panel + row_panels <= end; panel += row_panels)
            product.template block<1, row_panels>(0, panel);
        for (; panel < end; ++panel) product.template block<1, 1>(0, panel);
        return;
    }
    for (int row = 0; row < rows; row += rows_at_a_time) {
        Product<T> part = product;
        part.x += row * part.x_stride;
        part.y += row * part.y_stride;
        const int count = std::min(rows_at_a_time, rows - row);
        for (panel = begin; panel + tile_panels <= end; panel += tile_panels)
            part.template rows_of<tile_panels>(count, panel);
        for (; panel < end; ++panel) part.template rows_of<1>(count, panel);
    }
}

}  // namespace

void matmul(const Worker& worker, const Packed& w, const float* x, std::size_t x_stride,
            int rows, float* y, std::size_t y_stride, Then then, const float* bias) {
    with_type(w.dtype(), [&]<class T>(T*) {
        matmul_share(worker, Product<T>{w, x, x_stride, y, y_stride, then, bias}, rows);
    });
}

}  // namespace gpt2::cpu
