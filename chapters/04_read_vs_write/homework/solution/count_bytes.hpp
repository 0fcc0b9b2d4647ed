#pragma once

#include "given.hpp"

namespace homework {

/// Counts the bytes that one forward pass moves to and from memory.
inline Bytes count_bytes(const Shape& shape, const Pass& pass, int cache_number) {
    const std::int64_t d = shape.n_embd, number = 4;
    const std::int64_t matrices = d * 3 * d + d * d + d * 4 * d + 4 * d * d;
    const std::int64_t biases = 3 * d + d + 4 * d + d;
    const std::int64_t norm = 2 * d;
    const std::int64_t head = pass.rows > 0 ? d * shape.n_vocab : 0;
    const std::int64_t position = shape.n_layer * 2 * d * cache_number;

    Bytes bytes{};
    bytes.weights =
        number * (shape.n_layer * (matrices + biases + 2 * norm) + norm + head);
    bytes.cache_read = pass.past * position;
    bytes.cache_written = pass.tokens * position;
    bytes.logits = number * pass.rows * shape.n_vocab;
    return bytes;
}

}  // namespace homework
