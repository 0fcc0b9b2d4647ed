#pragma once

#include <cstdint>

namespace homework {

/// The shape of a GPT-2.
struct Shape {
    int n_vocab;  ///< candidates: columns of the head
    int n_ctx;    ///< positions of the longest text
    int n_embd;   ///< channels, d
    int n_layer;  ///< blocks of attention and MLP
    int n_head;   ///< attention heads in a block, d / n_head channels each
};

/// One forward pass over one text.
struct Pass {
    int tokens;  ///< that go in, at least 1
    int past;    ///< positions whose keys and values the cache holds already
    int rows;    ///< tokens that get a row of logits: 0 to `tokens`
};

/// The FLOPs of a pass. A multiplication is one, an addition another.
struct Flops {
    std::int64_t layers;  ///< of the matrices of all layers
    std::int64_t
        attention;      ///< queries times keys, weights times values, all layers
    std::int64_t head;  ///< of the head's matrix
};

/// The bytes that a pass moves to and from memory.
struct Bytes {
    std::int64_t weights;        ///< read
    std::int64_t cache_read;     ///< keys and values of the past
    std::int64_t cache_written;  ///< keys and values of the tokens that go in
    std::int64_t logits;         ///< written
};

}  // namespace homework
