#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "given.hpp"

namespace homework {

/// A row of weights, rounded to int8.
inline Int8Row quantise(const std::vector<float>& row) {
    Int8Row rounded;
    for (std::size_t begin = 0; begin < row.size(); begin += group) {
        const std::size_t end = std::min(row.size(), begin + group);
        float largest = 0;
        for (std::size_t k = begin; k < end; ++k)
            largest = std::max(largest, std::abs(row[k]));
        const float scale = largest / 127;
        rounded.scales.push_back(scale);
        for (std::size_t k = begin; k < end; ++k) {
            const float number = scale > 0 ? row[k] / scale : 0;
            rounded.numbers.push_back(std::int8_t(std::nearbyint(number)));
        }
    }
    return rounded;
}

}  // namespace homework
