#pragma once

#include <vector>

namespace homework {

/// How well a model foretold a text: the mean surprise, in bits, over all tokens
/// that it had a table for.
///
/// One pass gives a table behind every token of the text: a logit for each candidate
/// for the token that comes next. The surprise at a token is -log2 of its
/// probability, which is e to its logit over the sum of e to all logits of that
/// table.
/// @param tables   [tokens, n_vocab], row-major: row t is the table behind text[t].
///                 Numbers from -100 to 100
/// @param text     the tokens, at least two; each from 0 to n_vocab - 1
/// @param n_vocab  candidates, at least 1
/// @return bits for each token. The sums are made in double: a millionth off is too
/// much
inline double loss(const std::vector<float>& tables, const std::vector<int>& text,
                   int n_vocab) {
    // Yours. No surprise is below 0.
    return -1;
}

}  // namespace homework
