#pragma once

#include <algorithm>
#include <vector>

#include "given.hpp"

namespace homework {

/// A row of weights in int8 times activations: the sum over k of weight k times
/// x[k].
inline double dot(const Int8Row& row, const std::vector<float>& x) {
    double sum = 0;
    for (std::size_t begin = 0; begin < x.size(); begin += group) {
        const std::size_t end = std::min(x.size(), begin + group);
        double of_group = 0;
        for (std::size_t k = begin; k < end; ++k)
            of_group += row.numbers[k] * double(x[k]);
        sum += of_group * row.scales[begin / group];
    }
    return sum;
}

}  // namespace homework
