#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace homework {

/// The surprise to expect of a table of candidates, in bits.
inline double entropy(const std::vector<float>& logits) {
    const double best = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit) - best);
    double bits = 0;
    for (const float logit : logits) {
        const double probability = std::exp(double(logit) - best) / sum;
        if (probability > 0) bits -= probability * std::log2(probability);
    }
    return bits;
}

}  // namespace homework
