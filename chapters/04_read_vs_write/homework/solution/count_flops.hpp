#pragma once

#include "given.hpp"

namespace homework {

/// Counts the FLOPs of one forward pass.
inline Flops count_flops(const Shape& shape, const Pass& pass) {
    const std::int64_t d = shape.n_embd, tokens = pass.tokens, past = pass.past;
    const std::int64_t multiply_add = 2;
    const std::int64_t matrices = d * 3 * d + d * d + d * 4 * d + 4 * d * d;

    // The sum of past + 1, past + 2 ... past + tokens.
    const std::int64_t pairs = tokens * past + tokens * (tokens + 1) / 2;

    Flops flops{};
    flops.layers = multiply_add * shape.n_layer * tokens * matrices;
    flops.attention = multiply_add * shape.n_layer * pairs * 2 * d;
    flops.head = multiply_add * pass.rows * d * shape.n_vocab;
    return flops;
}

}  // namespace homework
