#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace homework {

/// A matrix of weights, multiplied by several rows at once: y = x w.
///
/// By tiles of 4 rows and 16 columns, whose sums stay in registers. A weight that
/// was loaded is used for four rows.
inline std::vector<float> multiply(const std::vector<float>& x,
                                   const std::vector<float>& w, int rows) {
    constexpr std::size_t tall = 4, wide = 16;
    const std::size_t count = std::size_t(rows);
    const std::size_t depth = x.size() / count, columns = w.size() / depth;
    std::vector<float> y(count * columns);
    for (std::size_t column = 0; column < columns; column += wide) {
        // These columns one below the other, behind them zeros.
        const std::size_t across = std::min(wide, columns - column);
        std::vector<float> panel(depth * wide);
        for (std::size_t k = 0; k < depth; ++k)
            std::copy_n(&w[k * columns + column], across, &panel[k * wide]);
        for (std::size_t row = 0; row < count; row += tall) {
            // The last rows may be fewer: then the last one is taken several times.
            const float* from[tall];
            for (std::size_t r = 0; r < tall; ++r)
                from[r] = &x[std::min(row + r, count - 1) * depth];
            float sums[tall][wide] = {};
            for (std::size_t k = 0; k < depth; ++k)
                for (std::size_t r = 0; r < tall; ++r)
                    for (std::size_t c = 0; c < wide; ++c)
                        sums[r][c] += from[r][k] * panel[k * wide + c];
            for (std::size_t r = 0; r < std::min(tall, count - row); ++r)
                std::copy_n(sums[r], across, &y[(row + r) * columns + column]);
        }
    }
    return y;
}

}  // namespace homework
