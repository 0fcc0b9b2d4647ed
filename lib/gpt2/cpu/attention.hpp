#pragma once

#include <cstddef>

#include "gpt2/cpu/tile.hpp"
#include "gpt2/kv_cache.hpp"

namespace gpt2::cpu {

/// Queries that attend together: they share each trip through the keys and values.
inline constexpr int queries_at_a_time = tile_rows;

/// Floats of scratch memory that `attend` needs, for sequences of up to n_ctx positions.
std::size_t attention_scratch(const KvLayout& layout, int n_ctx);

/// Writes the key and the value of one head at one position into the cache.
/// @param key, value  head_dim floats
/// @param position    reserved in the cache
void append(const KvCache& cache, int layer, int head, int position, const float* key,
            const float* value);

/// Causal attention of one head for `count` consecutive positions, at most
/// `queries_at_a_time`: the query at `position` looks at the cache's positions 0 ...
/// position.
///
///     out = sum over t of softmax(query . key[t] / sqrt(head_dim)) value[t]
///
/// Keys and values are always read back from the cache, those of this very pass too. So a
/// half-precision cache rounds alike, whether a token was read or written.
///
/// @param query    count rows of head_dim floats, `query_stride` apart
/// @param out      count rows of head_dim floats, `out_stride` apart
/// @param scratch  attention_scratch() floats, of this thread alone
void attend(const KvCache& cache, int layer, int head, int position, int count,
            const float* query, std::size_t query_stride, float* out,
            std::size_t out_stride, float* scratch);

}  // namespace gpt2::cpu
