#pragma once

#include "gpt2/cuda/attention.hpp"
#include "gpt2/cuda/choose.hpp"
#include "gpt2/cuda/multiply.hpp"

/// Decoding by one kernel that stays on the device.
///
/// A layer of GPT-2 small streams from the memory of an H200 in 3.3 us (bf16), and a
/// launch, or a node of a graph, costs about as much. So one token after another is less
/// a matter of memory than of waiting: for one kernel to end and the next to begin, five
/// times a layer. Here all blocks stay, and what was a node is what lies between two
/// barriers over the whole grid. And while a block waits there it already asks for its
/// weights of the next product: they depend on nothing that anybody is still computing.
///
/// The arithmetic is that of the single kernels, by the same functions.
namespace gpt2::cuda::inline SIMT_MACHINE {

constexpr int decode_threads = choose_threads;  ///< of each block of `decode`
constexpr int decode_head_dim = 64;             ///< of its heads at most: all GPT-2s' are

/// What `decode` works on. Only one row, but for the cache: what lies on the device for
/// the pass of one row.
template <class T>
struct Decoding {
    const Linear<T>* products;  ///< [count], in their order; attention follows `remember`
    int count;                  ///< the last is the head
    Batch batch;  ///< the row: its token and position when the kernel starts

    const T* tokens;         ///< [n_vocab, padded(n_embd)]
    const float* positions;  ///< [n_ctx, n_embd]
    float* x;                ///< [n_embd]: where the embedding goes
    int n_embd;              ///< channels
    int heads;               ///< that they are cut into

    Partial partial;  ///< of attention's splits
    float* attended;  ///< [n_embd]

    const float* logits;            ///< [n_vocab]: from here on as for `choose`
    int n_vocab;                    ///< as for `choose`
    const SamplerOptions* options;  ///< as for `choose`
    std::uint64_t* weights;         ///< [n_vocab] scratch
    int* written;                   ///< [n_ctx], in the host's reach
};

/// Asks for what this warp takes of a product: the start of its first column into
/// registers, the rest of it and its second one into the second-level cache. (Two: with
/// more, the head's would drive out what the first layer needs.)
template <class T>
__device__ void ask_for(const Linear<T>& p, Ahead<T>& some) {
    some.load(p);
    constexpr int line = 128, in_registers = Ahead<T>::size * simt::warp_size * 16;
    const int bytes = padded(p.k) * int(sizeof(T));
    const int lane = threadIdx.x % simt::warp_size;
    const int between = blockDim.x / simt::warp_size * gridDim.x;
    for (int i = 0; i < 2; ++i) {
        const int column = Ahead<T>::first_column() + i * between;
        if (column >= p.target.n) break;
        const char* start = reinterpret_cast<const char*>(Ahead<T>::column_of(p, column));
        for (int b = (i == 0 ? in_registers : 0) + lane * line; b < bytes;
             b += simt::warp_size * line)
            simt::prefetch(start + b);
    }
}

/// The attention of the batch's row, shared out among all blocks.
template <class T>
__device__ void attend_by_grid(const float* q, const Batch& batch,
                               const CacheLayer& cache, const Partial& partial, int heads,
                               float* out) {
    constexpr int spread = decode_head_dim / simt::warp_size;
    const int blocks = batch.position[0] / KvLayout::positions + 1;
    const int splits = max(1, min(min(blocks, most_splits), int(gridDim.x) / heads));
    for (int i = blockIdx.x; i < heads * splits; i += gridDim.x) {
        attend_share<T, spread, decode_threads / simt::warp_size>(
            {0, 0, i / splits, heads, i % splits, splits}, q, batch, cache, partial, out);
        __syncthreads();  // the next share uses the same shared memory
    }
}

/// Makes `steps` tokens, each from the one before: what `steps` launches of the graph do.
/// To be launched together, with as much dynamic shared memory as the widest product
/// wants. A barrier costs by the block: one on each multiprocessor is meant.
///
/// @tparam T, C  of the weights, and of the cache
template <class T, class C>
__global__ void __launch_bounds__(decode_threads, 1) decode(Decoding<T> d, int steps) {
    const auto product = [&](int i) {
        Linear<T> p = d.products[i];
        p.target.batch = d.batch;  // the same: it takes no registers
        return p;
    };
    Linear<T> next = product(0);
    Ahead<T> some;
    ask_for(next, some);
    // [decode]
    for (int step = 0; step < steps; ++step) {
        if (blockIdx.x == 0) embed_row(d.batch, 0, d.tokens, d.positions, d.n_embd, d.x);
        simt::sync_grid([] {});
        for (int i = 0; i < d.count; ++i) {
            const Linear<T> now = next;
            multiply_rows<T, 1>(now, 1, some);
            next = product(i + 1 < d.count ? i + 1 : 0);
            simt::sync_grid([&] { ask_for(next, some); });
            if (now.target.then != Then::remember) continue;
            attend_by_grid<C>(now.target.y, d.batch, now.target.cache, d.partial, d.heads,
                              d.attended);
            simt::sync_grid([] {});
        }
        if (blockIdx.x == 0) {
            choose_next(d.logits, d.n_vocab, d.options, d.weights, d.batch, d.written);
            __syncthreads();  // the token is there
        }
    }
    // [decode]
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
