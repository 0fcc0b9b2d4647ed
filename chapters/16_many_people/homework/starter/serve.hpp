#pragma once

#include <cstddef>
#include <vector>

#include "given.hpp"

namespace homework {

/// The step in which each request is admitted, by a machine that serves them all.
///
/// Steps are counted from 0. In each step, in this order:
/// - Whoever has come by now stands in the queue, in order of arrival.
/// - As long as there are a seat and enough blocks for whoever stands at the head of
///   the queue, that one is admitted. Behind somebody who must wait, all wait.
/// - Everyone in flight writes a token. Whoever was just admitted has read the
///   prompt in this same step.
/// - Whoever has written the whole answer leaves. The blocks and the seat are free
///   in the next step.
///
/// Blocks are promised on admission, for the longest text: prompt and answer take a
/// position for every token, but the answer's last token takes none. A block has 32
/// positions, and belongs to one request alone.
/// @param arrivals  in order; no request needs more blocks than the machine has
/// @param blocks    of the machine, at least 1
/// @param seats     requests that may be in flight together, at least 1
/// @return for each request, in the same order, the number of its step
inline std::vector<int> serve(const std::vector<Arrival>& arrivals, int blocks,
                              int seats) {
    // Yours.
    return {};
}

}  // namespace homework
