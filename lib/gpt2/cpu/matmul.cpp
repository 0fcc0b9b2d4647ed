#include "gpt2/cpu/matmul.hpp"

#include <algorithm>
#include <limits>

#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/simd.hpp"
#include "gpt2/cpu/tile.hpp"

namespace gpt2::cpu {

Packed::Packed(int depth, int columns, DType dtype)
    : depth_(depth),
      columns_(columns),
      dtype_(dtype),
      memory_(std::size_t(matrix_bytes(dtype, depth, whole(columns)))) {}

namespace {

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

/// Where row k of a panel stands.
template <class T>
T* row_of(T* panel, int k) {
    T* row = panel + std::size_t(k) * 16;
    if constexpr (is_scaled<T>) row += (k / rows_per_scale + 1) * scale_bytes;
    return row;
}

/// Rows of one panel, as floats: in int8, a group.
using Rows16 = float[rows_per_scale][16];

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
                Rows16 some = {};
                const int n = std::min(rows_per_scale, count - k);
                const int across = std::min(16, columns_ - 16 * p);
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
            Rows16 some = {};
            const int n = std::min(rows_per_scale, depth_ - k);
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

    /// y = then(sums), sixteen columns from `column` on.
    template <Then then>
    HWY_INLINE Vec16 finished(const float* sums, const float* old, int column) const {
        Vec16 v = load(sums);
        if constexpr (then != Then::store) v = v + load(bias + column);
        if constexpr (then == Then::gelu) v = gelu(v);
        if constexpr (then == Then::residual) v = load(old) + v;
        return v;
    }

    template <int panels, Then then>
    void finish_as(const float* sums, int rows, int row, int panel) const {
        const int last = w.columns() - 16;
        for (int p = 0; p < panels; ++p) {
            const int column = 16 * (panel + p);
            float* to = y + row * y_stride + column;
            for (int r = 0; r < rows; ++r, to += y_stride) {
                const float* from = sums + (r * panels + p) * 16;
                if (column <= last) {
                    store(finished<then>(from, to, column), to);
                } else {
                    float some[16] = {};
                    std::copy_n(to, w.columns() - column, some);
                    store(finished<then>(from, some, column), some);
                    std::copy_n(some, w.columns() - column, to);
                }
            }
        }
    }

    /// Does with the sums of a tile, [rows, 16 panels], what is to be done, and stores.
    /// Not in the tile itself: there it would be unrolled, once for every register.
    template <int panels>
    void finish(const float* sums, int rows, int row, int panel) const {
        switch (then) {
            case Then::store:
                return finish_as<panels, Then::store>(sums, rows, row, panel);
            case Then::add_bias:
                return finish_as<panels, Then::add_bias>(sums, rows, row, panel);
            case Then::gelu:
                return finish_as<panels, Then::gelu>(sums, rows, row, panel);
            case Then::residual:
                return finish_as<panels, Then::residual>(sums, rows, row, panel);
        }
    }

    template <int rows, int panels, unsigned ahead = 0>
    void block(int row, int panel) const {
        const Right<T> right{w.panel<T>(panel), 16, w.panel_bytes() / sizeof(T),
                             w.panel<T>(std::min(panel + panels, w.panels() - panels))};
        // Where the sums will go is fetched meanwhile.
        for (int r = 0; r < rows; ++r)
            for (int p = 0; p < panels; ++p)
                __builtin_prefetch(y + (row + r) * y_stride + 16 * (panel + p), 1);
        alignas(64) float all[rows * panels * 16];
        tile<rows, panels, ahead>(
            Left{x + row * x_stride, x_stride}, right, w.depth(),
            [&](int r, int p, const Vec16& sums) HWY_ATTR {
                store(sums, all + (r * panels + p) * 16);
            });
        finish<panels>(all, rows, row, panel);
    }

    /// All rows of `panels` panels. Few rows wait for memory, and the processor guesses
    /// too late where the next panels begin: so each load also fetches from there. Two
    /// tiles share that, or the first would wait and the second leave memory idle.
    template <int panels>
    void rows_of(int rows, int panel) const {
        constexpr unsigned all = (1u << panels) - 1, first = 1, others = all & ~first;
        const auto some = [&]<unsigned ahead>(std::integral_constant<unsigned, ahead>,
                                              int row, int count) {
            with_constant<tile_rows>(
                count, [&](auto few) { block<few, panels, ahead>(row, panel); });
        };
        if (rows <= tile_rows)
            return some(std::integral_constant<unsigned, all>(), 0, rows);
        const int upper = std::min(tile_rows, (rows + 1) / 2);
        const int both = std::min(2 * tile_rows, rows);
        some(std::integral_constant<unsigned, first>(), 0, upper);
        some(std::integral_constant<unsigned, others>(), upper, both - upper);
        int row = both;
        for (; row + tile_rows <= rows; row += tile_rows)
            block<tile_rows, panels>(row, panel);
        if (row < rows) some(std::integral_constant<unsigned, 0>(), row, rows - row);
    }
};

/// Rows that are multiplied by one stretch of panels before the next: their activations,
/// 540 KiB at a width of 768, stay in a core's own cache meanwhile.
constexpr int rows_at_a_time = 180;

/// Bytes of a panel up to which a single row, too, fetches the next ones by hand.
constexpr std::size_t short_panel = 32 << 10;

template <class T>
void matmul_share(const Worker& worker, const Product<T>& product, int rows) {
    const auto [begin, end] = worker.share(product.w.panels());
    int panel = begin;
    if (rows == 1) {
        // One row asks for little arithmetic: in long panels the processor's own guesses
        // are as good, and fetching would only cost instructions.
        constexpr unsigned all = (1u << row_panels) - 1;
        const bool is_short = product.w.panel_bytes() <= short_panel;
        for (; panel + row_panels <= end; panel += row_panels)
            if (is_short)
                product.template block<1, row_panels, all>(0, panel);
            else
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
