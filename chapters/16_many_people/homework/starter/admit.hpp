#pragma once

#include <cstddef>
#include <vector>

#include "given.hpp"

namespace homework {

/// How many of a queue are admitted now.
///
/// First come, first served: whoever stands at the head is admitted as soon as there
/// is a seat and there are blocks for it, then the next one. Nobody overtakes:
/// behind somebody who must wait, all wait.
///
/// Blocks are promised for the longest text that a request can come to, so that
/// memory cannot run out half way. Its prompt and its answer each take a position in
/// the KV cache for every token; but the last token of the answer is written and
/// never read, and takes none. A block has 32 positions, and belongs to one request
/// alone.
/// @param queue  in order of arrival
/// @param blocks  that are free
/// @param seats   requests that may still join those in flight
inline int admit(const std::vector<Request>& queue, int blocks, int seats) {
    // Yours.
    return -1;
}

}  // namespace homework
