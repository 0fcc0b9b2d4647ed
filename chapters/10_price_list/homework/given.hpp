#pragma once

#include <cstdint>

namespace homework {

/// Nano-dollars (10^-9 dollars) for a million tokens: 2 dollars are 2,000,000,000.
struct Price {
    std::int64_t input;   ///< tokens that are read
    std::int64_t cached;  ///< tokens that a prefix cache knew
    std::int64_t output;  ///< tokens that are written
};

/// The tokens of one request.
struct Request {
    std::int64_t input;   ///< of the prompt, the cached ones included
    std::int64_t cached;  ///< those of them that a prefix cache knew
    std::int64_t output;  ///< written
};

/// A program that hands in its whole record in every round.
struct Agent {
    int first;   ///< tokens that the record begins with
    int back;    ///< tokens that come back after each round: a tool's result
    int write;   ///< tokens that each round writes
    int rounds;  ///< at least 1
    int block;   ///< positions in a block of the prefix cache
};

}  // namespace homework
