#pragma once

#include <vector>

namespace homework {

/// What each position of a text looks at in one attention head: softmax over the
/// scores of all positions that it may see.
///
/// `past` positions lie in the cache already; `tokens` new ones stand behind them,
/// and position past + i of the text is the new one number i. The causal mask: a
/// position sees itself and every position before it, and nothing ahead. So the
/// weights of one row are e to each visible score, over the sum of e to the visible
/// scores of that row; what lies ahead has the weight 0, exactly.
/// @param scores  [tokens, past + tokens], row-major: a row is a new position that
/// looks,
///                a column one that is looked at. Any finite numbers, those ahead
///                too
/// @param tokens  new positions, at least 1
/// @param past    positions in the cache, 0 or more
/// @return the weights, [tokens, past + tokens]
inline std::vector<float> causal_weights(const std::vector<float>& scores,
                                         int tokens, int past) {
    // Yours. There should be as many weights as scores.
    return {};
}

}  // namespace homework
