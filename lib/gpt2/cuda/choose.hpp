#pragma once

#include "gpt2/cuda/batch.hpp"
#include "gpt2/philox.hpp"
#include "gpt2/sampler.hpp"

/// The next token, chosen on the device: what Sampler::pick does, without the host.
namespace gpt2::cuda::inline SIMT_MACHINE {

constexpr int choose_threads = 512;  ///< of the one block of `choose`

/// A logit and its token as one number: greater means better. Among equal logits the
/// lower id is the better one.
__device__ inline std::uint64_t rank_of(float logit, int id) {
    std::uint32_t bits;
    memcpy(&bits, &logit, sizeof bits);
    if (bits == 0x80000000) bits = 0;  // minus zero equals zero
    bits =
        bits & 0x80000000 ? ~bits : bits | 0x80000000;  // so that it orders as floats do
    return std::uint64_t(bits) << 32 | std::uint32_t(~id);
}

/// The token of a rank.
__device__ inline int token_of(std::uint64_t rank) { return int(~std::uint32_t(rank)); }

/// Puts the threads' numbers together, two by two; every thread gets the result.
/// @param scratch  shared, one for each warp
template <class Shared, class Join>
__device__ std::uint64_t over_block(std::uint64_t x, Shared& scratch, Join join) {
    constexpr int warps = choose_threads / simt::warp_size;
    SIMT_UNROLL
    for (int bit = 16; bit > 0; bit /= 2) x = join(x, __shfl_xor_sync(~0u, x, bit));
    if (threadIdx.x % simt::warp_size == 0) scratch[threadIdx.x / simt::warp_size] = x;
    __syncthreads();
    x = scratch[0];
    for (int w = 1; w < warps; ++w) x = join(x, std::uint64_t(scratch[w]));
    __syncthreads();
    return x;
}

/// Picks a token from one row of logits by one block of choose_threads, and makes the
/// batch's first row the next step: that token, one position on.
///
/// Probabilities are whole multiples of 2^-40 of the best one's: sums of whole numbers do
/// not depend on their order, so many threads find what Sampler finds one by one. It
/// could differ from Sampler's choice only where a random number falls that close to a
/// limit.
///
/// @param weights  [n_vocab] scratch
/// @param written  [n_ctx], in the host's reach: the token chosen behind each position;
///                 -1 where a logit is not a number or infinite
__device__ inline void choose_next(const float* logits, int n_vocab,
                                   const SamplerOptions* options, std::uint64_t* weights,
                                   const Batch& batch, int* written) {
    constexpr int warps = choose_threads / simt::warp_size;
    SIMT_SHARED(std::uint64_t, scratch, warps);
    const auto add = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    const auto greater = [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; };

    std::uint64_t mine = 0, wrong = 0;
    for (int id = threadIdx.x; id < n_vocab; id += choose_threads) {
        mine = greater(mine, rank_of(logits[id], id));
        if (!(logits[id] < INFINITY)) wrong = 1;
    }
    const std::uint64_t best = over_block(mine, scratch, greater);
    wrong = over_block(wrong, scratch, greater);
    const float top = logits[token_of(best)];
    const bool right = !wrong && top > -INFINITY;
    std::uint64_t chosen = best;

    if (right && options->temperature > 0) {
        for (int id = threadIdx.x; id < n_vocab; id += choose_threads) {
            const double above =
                (double(logits[id]) - double(top)) / options->temperature;
            weights[id] = std::uint64_t(exp(above) * 0x1p40);
        }
        // Each thread meets again what it wrote itself: no barrier is needed.
        const auto total = [&](std::uint64_t from, bool count) {
            std::uint64_t sum = 0;
            for (int id = threadIdx.x; id < n_vocab; id += choose_threads)
                if (rank_of(logits[id], id) >= from) sum += count ? 1 : weights[id];
            return over_block(sum, scratch, add);
        };
        // [select]
        // Down from the best, the first rank at which the running total passes `target`.
        // Every halving of the range looks at all logits once.
        const auto select = [&](std::uint64_t low, std::uint64_t target, bool count) {
            std::uint64_t high = best + 1;
            while (high - low > 1) {
                const std::uint64_t middle = low + (high - low) / 2;
                if (total(middle, count) > target)
                    low = middle;
                else
                    high = middle;
            }
            return low;
        };
        // [select]
        std::uint64_t kept = 0;
        if (options->top_k > 0 && options->top_k < n_vocab)
            kept = select(kept, std::uint64_t(options->top_k) - 1, true);
        if (options->top_p < 1) {
            const double reach =
                ceil(double(options->top_p) * double(total(kept, false)));
            kept = select(kept, reach < 1 ? 0 : std::uint64_t(reach) - 1, false);
        }
        const int position = batch.position[0];
        const double u = uniform(options->seed, 0, std::uint64_t(position) + 1);
        const std::uint64_t all = total(kept, false);
        const std::uint64_t target = std::uint64_t(u * double(all));
        chosen = select(kept, target < all ? target : all - 1, false);
    }

    __syncthreads();  // all have read the position
    if (threadIdx.x == 0) {
        written[batch.position[0]] = right ? token_of(chosen) : -1;
        batch.token[0] = right ? token_of(chosen) : 0;
        ++batch.position[0];
        __threadfence_system();
    }
}

/// The same as a kernel of one block.
[[maybe_unused]] static __global__ void __launch_bounds__(choose_threads)
    choose(const float* logits, int n_vocab, const SamplerOptions* options,
           std::uint64_t* weights, Batch batch, int* written) {
    choose_next(logits, n_vocab, options, weights, batch, written);
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
