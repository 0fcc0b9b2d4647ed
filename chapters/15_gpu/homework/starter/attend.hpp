#pragma once

#include "launch.hpp"

namespace homework {

/// Attention of one query a head, in one pass over keys and values.
///
///     score[t] = query . key[t] / sqrt(dim)          for t = 0 ... position
///     out      = sum over t of softmax(score)[t] value[t]
///
/// A block is one head, blockIdx.x; its 32 threads, threadIdx.x, are one warp. The
/// block takes 32 positions at a time. For their scores a lane is a position, and
/// runs down the channels of its key; for the sums a lane is every 32nd channel, and
/// runs down the positions. Both times neighbours in the warp read neighbours in
/// memory.
///
/// A weight is e^(score - top), where top is the highest score so far. What was
/// summed shrinks when a higher top comes, so that no key is read twice (see
/// join.hpp).
///
/// What lies in memory behind `position` belongs to nobody and is not read. A number
/// in shared memory is read only behind a barrier that follows its writing, and
/// written anew only behind one that follows its reading; all 32 threads must come
/// to a barrier, to warp_max and to warp_sum. Of use may be: SIMT_SHARED(float,
/// name, size), __syncwarp(), warp_max(x), warp_sum(x), __expf(x), rsqrtf(x),
/// fmaxf(a, b), min(i, j), most_dim, INFINITY.
/// @param query   [heads, dim]: that of head h begins at query[h * dim]
/// @param keys    [heads, dim, span]: channel c of key t of head h is
///                keys[(h * dim + c) * span + t]
/// @param values  [heads, span, dim]: channel c of value t of head h is
///                values[(h * span + t) * dim + c]
/// @param dim     1 to most_dim, whether or not a multiple of 32
/// @param out     [heads, dim]
__global__ void attend_kernel(const float* query, const float* keys,
                              const float* values, int dim, int position, int span,
                              float* out) {
    // Yours. Nothing is written.
}

/// The host's side, which needs no change.
/// @param order  in which the machine lets threads take their turns; it must not
/// matter
inline Outcome attend(const Heads& heads, int order) {
    return launch(attend_kernel, heads, order);
}

}  // namespace homework
