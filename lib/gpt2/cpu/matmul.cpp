#include "gpt2/cpu/matmul.hpp"

#include <algorithm>

#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/simd.hpp"
#include "gpt2/cpu/tile.hpp"

namespace gpt2::cpu {

namespace {

/// A panel's numbers as floats: out [depth, 16].
template <class T>
void widen(const T* panel, int depth, float* out) {
    Vec16 scales;
    for (int k = 0; k < depth; ++k) {
        const T* const row = row_of(panel, k);
        Vec16 numbers = load(row);
        if constexpr (is_scaled<T>) {
            if (k % rows_per_scale == 0) scales = load_scales(row - scale_bytes);
            numbers = numbers * scales;
        }
        store(numbers, out + std::size_t(k) * 16);
    }
}

/// One product's arguments, as a worker sees them.
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

    /// Panels as they lie in memory, and those behind them.
    template <class T>
    Right<T> right(int panel, int panels) const {
        const int next = std::min(panel + panels, w.panels() - panels);
        return {w.panel<T>(panel),           16,
                w.panel_bytes() / sizeof(T), w.panel<T>(next),
                w.panel_bytes() / w.depth(), w.panel_bytes()};
    }

    /// One tile, from its first multiply-add to what becomes of its sums.
    template <int rows, int panels, unsigned ahead = 0, class T>
    void block(int row, int panel, Right<T> from) const {
        from.k_stride = 16;  // as it is; so the compiler knows, and saves a register
        // Where the sums will go is fetched meanwhile.
        for (int r = 0; r < rows; ++r)
            for (int p = 0; p < panels; ++p)
                __builtin_prefetch(y + (row + r) * y_stride + 16 * (panel + p), 1);
        alignas(64) float all[rows * panels * 16];
        tile<rows, panels, ahead>(Left{x + row * x_stride, x_stride}, from, w.depth(),
                                  [&](int r, int p, const Vec16& sums) HWY_ATTR {
                                      store(sums, all + (r * panels + p) * 16);
                                  });
        finish<panels>(all, rows, row, panel);
    }

    // One row waits for memory; there is little to compute for every number that comes.
    // A processor sees by itself where a long panel goes on; where short ones end all the
    // time, the next are fetched by hand.
    template <int panels, class T>
    void one_row(int panel) const {
        constexpr unsigned all = (1u << panels) - 1;
        constexpr std::size_t short_panel = 32 << 10;
        const Right<T> from = right<T>(panel, panels);
        if (w.panel_bytes() <= short_panel)
            block<1, panels, all>(0, panel, from);
        else
            block<1, panels>(0, panel, from);
    }

    /// At most `tile_rows` rows. They wait for memory too, and compute so long meanwhile
    /// that the processor's guesses come too late: all that is next is fetched by hand.
    template <int panels, class T>
    void few_rows(int rows, int panel) const {
        constexpr unsigned all = (1u << panels) - 1;
        with_constant<tile_rows>(rows, [&](auto n) {
            block<n, panels, all>(0, panel, right<T>(panel, panels));
        });
    }

    /// More rows. Numbers that are not floats are widened once for all of them. The first
    /// two tiles share in fetching what is next.
    template <int panels, class T>
    void many_rows(int rows, int panel) const {
        constexpr unsigned first = 1, others = (1u << panels) - 1 - first;
        const Right<T> from = right<T>(panel, panels);
        Right<float> wide{nullptr,
                          16,
                          std::size_t(w.depth()) * 16,
                          from.next,
                          from.next_k_stride,
                          from.next_panel_stride};
        if constexpr (std::is_same_v<T, float>) {
            wide.data = from.data;
        } else {
            static thread_local Buffer<float> memory;
            if (memory.size() < panels * wide.panel_stride)
                memory = Buffer<float>(panels * wide.panel_stride);
            for (int p = 0; p < panels; ++p)
                widen(w.panel<T>(panel + p), w.depth(),
                      memory.data() + p * wide.panel_stride);
            wide.data = memory.data();
        }
        const auto some = [&]<unsigned ahead>(std::integral_constant<unsigned, ahead>,
                                              int row, int count) {
            with_constant<tile_rows>(
                count, [&](auto n) { block<n, panels, ahead>(row, panel, wide); });
        };
        const int upper = std::min(tile_rows, (rows + 1) / 2);
        const int both = std::min(2 * tile_rows, rows);
        some(std::integral_constant<unsigned, first>(), 0, upper);
        some(std::integral_constant<unsigned, others>(), upper, both - upper);
        int row = both;
        for (; row + tile_rows <= rows; row += tile_rows)
            block<tile_rows, panels>(row, panel, wide);
        if (row < rows) some(std::integral_constant<unsigned, 0>(), row, rows - row);
    }

    template <int panels, class T>
    void rows_of(int rows, int panel) const {
        if (rows <= tile_rows)
            few_rows<panels, T>(rows, panel);
        else
            many_rows<panels, T>(rows, panel);
    }
};

/// Rows that are multiplied by one stretch of panels before the next: their activations,
/// 540 KiB at a width of 768, stay in a core's own cache meanwhile.
constexpr int rows_at_a_time = 180;

template <class T>
void matmul_share(const Worker& worker, const Product& product, int rows) {
    const auto [begin, end] = worker.share(product.w.panels());
    int panel = begin;
    if (rows == 1) {
        for (; panel + row_panels <= end; panel += row_panels)
            product.one_row<row_panels, T>(panel);
        for (; panel < end; ++panel) product.one_row<1, T>(panel);
        return;
    }
    for (int row = 0; row < rows; row += rows_at_a_time) {
        Product part = product;
        part.x += row * part.x_stride;
        part.y += row * part.y_stride;
        const int count = std::min(rows_at_a_time, rows - row);
        for (panel = begin; panel + tile_panels <= end; panel += tile_panels)
            part.rows_of<tile_panels, T>(count, panel);
        for (; panel < end; ++panel) part.rows_of<1, T>(count, panel);
    }
}

}  // namespace

void matmul(const Worker& worker, const Packed& w, const float* x, std::size_t x_stride,
            int rows, float* y, std::size_t y_stride, Then then, const float* bias) {
    with_type(w.dtype(), [&]<class T>(T*) {
        matmul_share<T>(worker, Product{w, x, x_stride, y, y_stride, then, bias}, rows);
    });
}

}  // namespace gpt2::cpu
