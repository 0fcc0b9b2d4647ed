#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace homework {

/// What attention knows of a row when it has seen some of its positions.
struct Running {
    float top;  ///< the highest score; minus infinity where it has seen none
    float sum;  ///< of the weights, e^(score - top)
    std::vector<float> values;  ///< [dim] sums of weight times value
};

/// Heads at work on one token: a query each, and the keys and values of its head.
struct Heads {
    int dim;       ///< channels of a head, 1 to most_dim
    int position;  ///< of the query: it sees the positions 0 to this one
    int span;      ///< positions that memory has room for: more than `position`
    std::vector<float> query;   ///< [heads, dim]
    std::vector<float> keys;    ///< [heads, dim, span]
    std::vector<float> values;  ///< [heads, span, dim]
};

constexpr int most_dim = 128;  ///< channels that a head has at most

/// What a kernel did.
struct Outcome {
    std::vector<float> out;  ///< [heads, dim]
    std::uint64_t loaded;    ///< bytes of global memory, asked for by all threads
    std::string complaint;   ///< the machine's, where it had to stop; else empty
};

}  // namespace homework
