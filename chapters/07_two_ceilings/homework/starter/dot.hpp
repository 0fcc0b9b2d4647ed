#pragma once

#include <cstddef>
#include <vector>

#include "given.hpp"

namespace homework {

/// A row of weights in int8 times activations: the sum over k of weight k times
/// x[k].
///
/// Weight k is numbers[k] * scales[k / group]. It is widened on its way into the
/// multiplication; x and the sum are not rounded to whole numbers.
/// @param row  any count of numbers; its last group may have fewer than 32
/// @param x    as many
inline double dot(const Int8Row& row, const std::vector<float>& x) {
    // Yours.
    return -1;
}

}  // namespace homework
