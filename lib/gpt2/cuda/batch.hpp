#pragma once

#include <cstddef>

#include "gpt2/cuda/numbers.hpp"
#include "gpt2/kv_cache.hpp"

namespace gpt2::cuda::inline SIMT_MACHINE {

/// What a pass works on, as kernels see it: rows, each one token at one position of one
/// sequence. All of it lies on the device, so that a recorded graph finds there what the
/// pass before has left.
struct Batch {
    int* token;         ///< [rows]
    int* position;      ///< [rows]
    int* sequence;      ///< [rows]: which line of the block table
    std::byte** table;  ///< [sequences, table_width]: block i of a sequence's cache
    int table_width;    ///< blocks that the longest sequence takes

    /// The block of the cache that a row's position `at` falls into.
    __device__ std::byte* block(int row, int at) const {
        return table[std::size_t(sequence[row]) * table_width + at / KvLayout::positions];
    }
};

/// Where one layer lies in a block: elements from the block's start (see KvLayout).
struct CacheLayer {
    std::size_t first_key;    ///< of the first head
    std::size_t first_value;  ///< of the first head
    int head_dim;             ///< as in KvLayout
    int head_stride;          ///< as in KvLayout
    bool half;                ///< f16, not f32

    /// Layer `layer` of such a block.
    CacheLayer(const KvLayout& layout, int layer)
        : first_key(layout.keys(layer, 0)),
          first_value(layout.values(layer, 0)),
          head_dim(layout.head_dim),
          head_stride(layout.head_stride),
          half(layout.dtype == DType::f16) {}

    /// [head_dim, 32]
    __device__ std::size_t keys(int head) const {
        return first_key + std::size_t(head) * head_dim * KvLayout::positions;
    }
    /// [32, head_stride]
    __device__ std::size_t values(int head) const {
        return first_value + std::size_t(head) * head_stride * KvLayout::positions;
    }

    /// Element i of a block becomes x.
    __device__ void put(std::byte* block, std::size_t i, float x) const {
        if (half)
            reinterpret_cast<f16*>(block)[i] = narrow<f16>(x);
        else
            reinterpret_cast<float*>(block)[i] = x;
    }
};

}  // namespace gpt2::cuda::inline SIMT_MACHINE
