#include "lab/share.hpp"

#include <cmath>

namespace lab {

// [chance]
double chance_error(double probability, double n) {
    constexpr double rare = 12.5;  // 2 exp(-12.5) is one in 134,000
    const double variance = n * probability * (1 - probability);
    return (rare / 3 + std::sqrt(rare * rare / 9 + 2 * rare * variance)) / n;
}
// [chance]

Share& Share::operator+=(const Share& other) {
    right += other.right;
    of += other.of;
    return *this;
}

bool Share::may_come_of(double least, double most) const {
    return of > 0 && value() >= least - chance_error(least, of) &&
           value() <= most + chance_error(most, of);
}

}  // namespace lab
