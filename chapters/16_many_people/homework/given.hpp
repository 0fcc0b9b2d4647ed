#pragma once

namespace homework {

/// Positions in a block of the KV cache.
constexpr int block = 32;

/// What somebody wants written.
struct Request {
    int prompt;  ///< tokens to read, at least 1
    int answer;  ///< tokens to write, at least 1
};

/// A request, and when it comes.
struct Arrival {
    int step;         ///< the first step in which it stands in the queue, 0 or later
    Request request;  ///< what is wanted
};

}  // namespace homework
