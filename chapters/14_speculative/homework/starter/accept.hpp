#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// Accepts or rejects a guess that was drawn, so that what is written follows the
/// law of the target exactly.
///
/// The draft drew the token `guess` with probability q = draft[guess]; the target
/// gives it p = target[guess]. It is kept with probability min(1, p / q): where
/// `keep` is below that. Else another token is drawn from the remainder: what the
/// target has more than the draft, max(0, target[i] - draft[i]), divided by its sum,
/// so that it adds up to 1.
///
/// Drawn is the first token, in the order of ids, at which the running sum of these
/// probabilities is greater than `draw`. If rounding leaves the whole sum below
/// `draw`, it is the last token whose remainder is above 0.
/// @param target, draft  [n_vocab] probabilities, one for each id; both add up to
///                       1, and some may be 0
/// @param guess          draft[guess] is above 0
/// @param keep, draw     two random numbers, at least 0 and below 1
inline Verdict accept(const std::vector<double>& target,
                      const std::vector<double>& draft, int guess, double keep,
                      double draw) {
    // Yours. No token has this id.
    return {false, -1};
}

}  // namespace homework
