#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace homework {

/// How much news it would be if a token came next, in bits.
inline double surprise(const std::vector<float>& logits, int token) {
    // e to a difference from the best logit is at most 1, and the sum at least 1.
    const double best = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit) - best);
    // The logarithm of the quotient, without the quotient.
    const double below = best - double(logits[std::size_t(token)]);
    return std::log2(sum) + below * std::numbers::log2e;
}

}  // namespace homework
