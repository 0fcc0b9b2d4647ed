#pragma once

#include "lab/measured.hpp"

namespace lab {

/// How far the share that is right of n independent tries may be from the probability of
/// each one, or from the mean of their probabilities. It is further off, either way, only
/// once in 130,000 times (Bernstein's inequality); that holds for few tries as well, and
/// near 0 and 1, where a multiple of the standard error would be too strict.
/// @param probability  0 to 1
/// @param n            above 0
double chance_error(double probability, double n);

/// Right ones, of so many.
struct Share {
    double right = 0;  ///< how many are right
    double of = 0;     ///< of how many

    /// One more.
    void count(bool is_right) { right += is_right, ++of; }

    /// All of another share.
    Share& operator+=(const Share& other);

    /// 0 to 1; 0 of none.
    double value() const { return of > 0 ? right / of : 0; }

    /// For a table.
    Measured percent() const { return summarize({100 * value()}); }

    /// Whether chance alone may bring it here from a probability between these two.
    bool may_come_of(double least, double most) const;

    /// The same for a known probability.
    bool may_come_of(double probability) const {
        return may_come_of(probability, probability);
    }
};

}  // namespace lab
