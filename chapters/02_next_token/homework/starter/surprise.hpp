#pragma once

#include <vector>

namespace homework {

/// How much news it would be if a token came next: its surprise, in bits, which is
/// -log2 of its probability.
///
/// Softmax makes the probability: e to the token's logit, over the sum of e to every
/// logit. The logits may be so large that e to one of them overflows, and so far
/// apart that a probability becomes 0 in a double; the surprise is finite all the
/// same.
/// @param logits  of all candidates, at least one; finite
/// @param token   the index of one of them
/// @return bits, 0 or more. The sums are made in double: a millionth off is too much
inline double surprise(const std::vector<float>& logits, int token) {
    // Yours. No surprise is below 0.
    return -1;
}

}  // namespace homework
