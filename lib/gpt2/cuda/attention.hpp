#pragma once

#include <algorithm>

#include "gpt2/cuda/batch.hpp"

/// Attention over a cache on the device.
///
/// For a few rows, `attend`: a row is read by as many thread blocks as there are splits,
/// or eleven twelfths of a GPU would watch the twelve heads of a small model at work
/// (Dao et al., "Flash-Decoding for long-context inference", 2023). For many rows of one
/// sequence the products are the library's, with `gather` before them and a softmax
/// between.
namespace gpt2::cuda::inline SIMT_MACHINE {

constexpr int attend_threads = 128;  ///< of a block of `attend`
/// Of the same block.
constexpr int attend_warps = attend_threads / simt::warp_size;

/// Thread blocks that share one row's attention, at most.
constexpr int most_splits = 16;

/// How many there should be for `rows` rows: as many as keep the device busy, but not
/// more than there are blocks of the cache to share.
/// @param table_width  blocks that the longest sequence takes
constexpr int splits_for(int multiprocessors, int n_head, int rows, int table_width) {
    const int most = std::max(1, table_width / attend_warps);
    return std::clamp(4 * multiprocessors / (n_head * rows), 1,
                      std::min(most, most_splits));
}

/// A softmax that sees its scores bit by bit (Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018): `values` are sums over weights exp(score - top), and
/// shrink whenever a higher top turns up.
template <int size>
struct Running {
    float top = -INFINITY;    ///< the highest score
    float sum = 0;            ///< of the weights
    float values[size] = {};  ///< sums of weight x value, for some channels

    /// Everything so far, relative to a top that is at least the old one.
    __device__ void raise(float new_top) {
        // Nothing so far: minus infinity less minus infinity would not be a number.
        const float shrink = top == -INFINITY ? 0.0f : __expf(top - new_top);
        sum *= shrink;
        SIMT_UNROLL
        for (int i = 0; i < size; ++i) values[i] *= shrink;
        top = new_top;
    }

    /// Adds one channel of another part of the same row.
    __device__ void merge(float other_top, float other_sum, float other_value) {
        if (other_top == -INFINITY) return;
        if (other_top > top) raise(other_top);
        const float weight = __expf(other_top - top);
        sum += other_sum * weight;
        values[0] += other_value * weight;
    }
};

/// Where `attend` keeps what its splits have found.
struct Partial {
    float* found;       ///< [rows, heads, splits, head_dim + 2]: values, top, sum
    unsigned* arrived;  ///< [rows, heads]: zero before and after
};

/// What one block does of one row's attention.
struct Share {
    int row;     ///< of the batch
    int place;   ///< of the row among those that attend together
    int head;    ///< this one ...
    int heads;   ///< ... of so many
    int split;   ///< this part of the positions ...
    int splits;  ///< ... of so many
};

/// A share of the causal attention of a single row, by a block of `warps` warps.
///
///     out = sum over t <= position of softmax(query . key[t] / sqrt(head_dim)) value[t]
///
/// A warp takes a block of 32 positions. For the scores a lane is a position, and runs
/// down the channels of its key; for the sum a lane is a channel, and runs down the
/// positions. Both times neighbours in the warp read neighbours in memory, which is what
/// the two layouts of the cache are for.
///
/// @param q, out   [rows, n_embd]
/// @tparam spread  channels a lane has: at least head_dim / 32
template <class T, int spread, int warps>
__device__ void attend_share(const Share& share, const float* q, const Batch& batch,
                             const CacheLayer& cache, const Partial& partial,
                             float* out) {
    constexpr int block = KvLayout::positions, channels = spread * simt::warp_size;
    SIMT_SHARED(float, query, channels);
    SIMT_SHARED(float, weights, warps* block);
    SIMT_SHARED(float, tops, warps);
    SIMT_SHARED(float, sums, warps);
    SIMT_SHARED(float, values, warps* channels);
    SIMT_SHARED(int, is_last, 1);

    const auto [row, place, head, heads, split, splits] = share;
    const int dim = cache.head_dim;
    const int warp = threadIdx.x / simt::warp_size, lane = threadIdx.x % simt::warp_size;
    const std::size_t at = (std::size_t(row) * heads + head) * dim;

    for (int c = threadIdx.x; c < dim; c += blockDim.x)
        query[c] = q[at + c] * rsqrtf(float(dim));
    __syncthreads();

    const int length = batch.position[row] + 1, blocks = (length + block - 1) / block;
    const int each = (blocks + splits - 1) / splits;
    const int end = min(blocks, (split + 1) * each);
    Running<spread> mine;
    for (int b = split * each + warp; b < end; b += warps) {
        const T* memory = reinterpret_cast<const T*>(batch.block(row, b * block));
        const T* keys = memory + cache.keys(head) + lane;
        const T* value = memory + cache.values(head) + lane;
        const int count = min(block, length - b * block);

        // [attend]
        float score = 0;
        SIMT_UNROLL_BY(16)
        for (int c = 0; c < dim; ++c) score += query[c] * widen(keys[c * block]);
        if (lane >= count) score = -INFINITY;

        mine.raise(fmaxf(mine.top, warp_max(score)));
        const float weight = __expf(score - mine.top);
        mine.sum += warp_sum(weight);
        weights[warp * block + lane] = weight;
        __syncwarp();
        SIMT_UNROLL_BY(8)
        for (int t = 0; t < count; ++t) {
            const float w = weights[warp * block + t];
            SIMT_UNROLL
            for (int i = 0; i < spread; ++i)
                if (lane + i * simt::warp_size < dim)
                    mine.values[i] +=
                        w * widen(value[t * cache.head_stride + i * simt::warp_size]);
        }
        __syncwarp();
        // [attend]
    }

    // The warps of this block ...
    if (lane == 0) {
        tops[warp] = mine.top;
        sums[warp] = mine.sum;
    }
    SIMT_UNROLL
    for (int i = 0; i < spread; ++i)
        values[warp * channels + i * simt::warp_size + lane] = mine.values[i];
    __syncthreads();
    const std::size_t which = std::size_t(place) * heads + head;
    float* found = partial.found + which * splits * (dim + 2);
    for (int c = threadIdx.x; c < dim; c += blockDim.x) {
        Running<1> all;
        for (int w = 0; w < warps; ++w)
            all.merge(tops[w], sums[w], values[w * channels + c]);
        float* mine_found = found + split * (dim + 2);
        mine_found[c] = all.values[0];
        if (c == 0) {
            mine_found[dim] = all.top;
            mine_found[dim + 1] = all.sum;
        }
    }

    // ... and then the splits of this row and head, by whichever block comes last. The
    // fence makes what a block has found visible before its arrival is.
    __threadfence();
    __syncthreads();
    unsigned* arrived = partial.arrived + which;
    if (threadIdx.x == 0) is_last[0] = atomicAdd(arrived, 1u) == unsigned(splits) - 1;
    __syncthreads();
    if (!is_last[0]) return;
    __threadfence();
    for (int c = threadIdx.x; c < dim; c += blockDim.x) {
        Running<1> all;
        for (int s = 0; s < splits; ++s) {
            const float* f = found + s * (dim + 2);
            all.merge(f[dim], f[dim + 1], f[c]);
        }
        out[at + c] = all.values[0] / all.sum;
    }
    if (threadIdx.x == 0) *arrived = 0;
}

/// All shares of some rows as a kernel of attend_threads: grid (heads, rows, splits).
template <class T, int spread>
__global__ void __launch_bounds__(attend_threads, 4)
    attend(const float* q, Batch batch, int first_row, CacheLayer cache, Partial partial,
           float* out) {
    const int place = blockIdx.y;
    const Share share{first_row + place, place,           int(blockIdx.x),
                      int(gridDim.x),    int(blockIdx.z), int(gridDim.z)};
    attend_share<T, spread, attend_warps>(share, q, batch, cache, partial, out);
}

// Many rows of one sequence
// -------------------------

/// The keys and values of a sequence's first blocks, out of the cache: grid (heads,
/// blocks). What lies behind `length` becomes zero.
/// @param keys    [heads, head_dim, blocks * 32]
/// @param values  [heads, blocks * 32, head_dim]
template <class T, class C>
__global__ void __launch_bounds__(128)
    gather(Batch batch, int row, int length, CacheLayer cache, T* keys, T* values) {
    constexpr int block = KvLayout::positions;
    const int head = blockIdx.x, b = blockIdx.y, span = gridDim.y * block;
    const int dim = cache.head_dim;
    const C* memory = reinterpret_cast<const C*>(batch.block(row, b * block));
    for (int i = threadIdx.x; i < dim * block; i += blockDim.x) {
        const int c = i / block, t = i % block;
        const float x = widen(memory[cache.keys(head) + i]);
        keys[(std::size_t(head) * dim + c) * span + b * block + t] =
            narrow<T>(b * block + t < length ? x : 0);
    }
    for (int i = threadIdx.x; i < dim * block; i += blockDim.x) {
        const int t = i / dim, c = i % dim;
        const float x =
            widen(memory[cache.values(head) + std::size_t(t) * cache.head_stride + c]);
        values[(std::size_t(head) * span + b * block + t) * dim + c] =
            narrow<T>(b * block + t < length ? x : 0);
    }
}

/// The causal softmax of `rows` consecutive positions from `position` on: grid
/// (rows / 4 rounded up, heads), a warp for each row. What lies ahead gets weight 0.
/// @param scores, weights  [heads, rows, span]
template <class T>
__global__ void __launch_bounds__(128)
    causal_softmax(const float* scores, int rows, int position, int span, T* weights) {
    const int lane = threadIdx.x % simt::warp_size;
    const int row = blockIdx.x * 4 + threadIdx.x / simt::warp_size;
    if (row >= rows) return;
    const std::size_t at = (std::size_t(blockIdx.y) * rows + row) * span;
    const int length = position + row + 1;

    float top = -INFINITY, sum = 0;
    for (int t = lane; t < length; t += simt::warp_size) top = fmaxf(top, scores[at + t]);
    top = warp_max(top);
    for (int t = lane; t < length; t += simt::warp_size)
        sum += __expf(scores[at + t] - top);
    const float scale = 1 / warp_sum(sum);
    for (int t = lane; t < span; t += simt::warp_size)
        weights[at + t] =
            narrow<T>(t < length ? __expf(scores[at + t] - top) * scale : 0.0f);
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
