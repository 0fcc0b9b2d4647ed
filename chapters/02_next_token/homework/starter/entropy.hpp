#pragma once

#include <vector>

namespace homework {

/// How unsure a table of candidates is before the answer is known: its entropy, the
/// surprise to expect, in bits. That is the sum over all candidates of probability
/// times surprise.
///
/// Softmax makes the probabilities: e to each logit, over the sum of e to every
/// logit. The logits may be so large that e to one of them overflows, and so far
/// apart that a probability becomes 0 in a double; such a candidate adds nothing.
/// @param logits  of all candidates, at least one; finite
/// @return bits, from 0 to log2 of how many candidates there are. The sums are made
/// in
///         double: a millionth off is too much
inline double entropy(const std::vector<float>& logits) {
    // Yours. No entropy is below 0.
    return -1;
}

}  // namespace homework
