#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// What each round of an agent is billed for.
///
/// Round 0 hands in the record as it begins. Each later round hands in the record of
/// the round before, what that round wrote, and what came back. Every round writes.
///
/// A prefix cache keeps what lay in the KV cache at the end of the round before:
/// that round's prompt, and what it wrote but for the last token, which was never
/// read. It knows whole blocks only, from the start of the record on; the part of a
/// block is read again. In round 0 it knows nothing.
/// @return one request for each round, in order
inline std::vector<Request> requests(const Agent& agent) {
    // Yours. This agent does nothing.
    return {};
}

}  // namespace homework
