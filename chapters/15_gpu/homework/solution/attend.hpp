#pragma once

#include "launch.hpp"

namespace homework {

/// Attention of one query a head, in one pass over keys and values.
__global__ void attend_kernel(const float* query, const float* keys,
                              const float* values, int dim, int position, int span,
                              float* out) {
    SIMT_SHARED(float, scaled, most_dim);
    SIMT_SHARED(float, weights, simt::warp_size);
    const int head = blockIdx.x, lane = threadIdx.x;
    for (int c = lane; c < dim; c += simt::warp_size)
        scaled[c] = query[head * dim + c] * rsqrtf(float(dim));
    __syncwarp();

    constexpr int spread = most_dim / simt::warp_size;  // channels of a lane
    float top = -INFINITY, sum = 0, mine[spread] = {};
    for (int first = 0; first <= position; first += simt::warp_size) {
        const int t = first + lane;
        float score = -INFINITY;
        if (t <= position) {
            score = 0;
            for (int c = 0; c < dim; ++c)
                score += scaled[c] * keys[(head * dim + c) * span + t];
        }
        const float higher = fmaxf(top, warp_max(score));
        const float shrink = __expf(top - higher), weight = __expf(score - higher);
        top = higher;
        sum = sum * shrink + warp_sum(weight);
        weights[lane] = weight;
        __syncwarp();

        const int count = min(simt::warp_size, position + 1 - first);
        SIMT_UNROLL
        for (int i = 0; i < spread; ++i) {
            const int c = lane + i * simt::warp_size;
            mine[i] *= shrink;
            if (c < dim)
                for (int s = 0; s < count; ++s)
                    mine[i] +=
                        weights[s] * values[(head * span + first + s) * dim + c];
        }
        __syncwarp();
    }
    SIMT_UNROLL
    for (int i = 0; i < spread; ++i)
        if (const int c = lane + i * simt::warp_size; c < dim)
            out[head * dim + c] = mine[i] / sum;
}

/// The host's side.
inline Outcome attend(const Heads& heads, int order) {
    return launch(attend_kernel, heads, order);
}

}  // namespace homework
