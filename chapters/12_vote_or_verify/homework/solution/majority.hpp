#pragma once

#include <cmath>

namespace homework {

/// Probability that more than half of n tries are right.
inline double majority(double p, int n) {
    double ways = 1, sum = 0;  // ways to choose k of n
    for (int k = 0; k <= n; ++k) {
        if (2 * k > n) sum += ways * (std::pow(p, k) * std::pow(1 - p, n - k));
        ways = ways * (n - k) / (k + 1);
    }
    return sum;
}

}  // namespace homework
