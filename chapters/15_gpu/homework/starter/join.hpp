#pragma once

#include <cmath>
#include <vector>

#include "given.hpp"

namespace homework {

/// What is known of a row, from what is known of two parts of it.
///
/// A part's weights are relative to its own top: e^(score - top). The whole has the
/// higher of both tops, so the weights of the part whose top is lower shrink, in its
/// sum and in all its values. Then sums and values add up.
///
/// No score is looked at again, and no e^x with x above 0 is needed. A part may be
/// empty: top -INFINITY, sum 0, values 0. So may both be; the whole is empty then.
/// @param a, b  of as many values each, in any order of size
inline Running join(const Running& a, const Running& b) {
    // Yours. It has not looked at b.
    return a;
}

}  // namespace homework
