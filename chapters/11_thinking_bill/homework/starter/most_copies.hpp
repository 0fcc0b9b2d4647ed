#pragma once

#include "given.hpp"

namespace homework {

/// The most copies that may be written at once, without thinking.
///
/// There are as many forward passes as an answer has tokens. While pass i runs
/// (i = 0, 1, 2 ...), the caches hold the prompt and i tokens of each copy. The
/// prompt is there once where it is shared, else once for each copy. A pass fetches
/// the weights once, and every byte that is held, and takes these bytes over the
/// bandwidth. The wait is all passes together. The peak is what is held when the
/// last token of every copy stands in the cache, too.
/// @param way     its prompt, answer and `shared` count. Its `thinking` is 0, and
///                `copies` is what you are asked for, whatever stands there
/// @param longer  above 1: the wait may be so many times that of one copy
/// @param memory  bytes: the peak may be as much
/// @return 0 where not even one has room
inline int most_copies(const Machine& machine, const Way& way, double longer,
                       double memory) {
    // Yours. One is not much.
    return 1;
}

}  // namespace homework
