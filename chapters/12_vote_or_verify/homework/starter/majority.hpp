#pragma once

namespace homework {

/// Probability that the right answer wins a vote of n tries: that more than half of
/// them are right. Half of them is not enough.
///
/// Tries are independent, and each is right with probability p. If k of n are right,
/// it may be any k of them: count all the ways.
/// @param p  0 to 1
/// @param n  1 to 1,001. To choose 500 of 1,001 there are about 10^300 ways, which
///           fit into a double and into no integer
inline double majority(double p, int n) {
    // Yours. A vote is not a try.
    return p;
}

}  // namespace homework
