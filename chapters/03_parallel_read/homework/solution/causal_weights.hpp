#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace homework {

/// What each position of a text looks at in one attention head.
inline std::vector<float> causal_weights(const std::vector<float>& scores,
                                         int tokens, int past) {
    const int width = past + tokens;
    std::vector<float> weights(scores.size());
    for (int i = 0; i < tokens; ++i) {
        const float* row = scores.data() + std::size_t(i) * std::size_t(width);
        float* out = weights.data() + std::size_t(i) * std::size_t(width);
        const int visible = past + i + 1;
        const float best = *std::max_element(row, row + visible);
        float sum = 0;
        for (int j = 0; j < visible; ++j) sum += std::exp(row[j] - best);
        for (int j = 0; j < visible; ++j) out[j] = std::exp(row[j] - best) / sum;
    }
    return weights;
}

}  // namespace homework
