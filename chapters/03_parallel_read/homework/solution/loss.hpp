#pragma once

#include <cmath>
#include <vector>

namespace homework {

/// The mean surprise along a text, in bits.
inline double loss(const std::vector<float>& tables, const std::vector<int>& text,
                   int n_vocab) {
    const std::size_t exercises = text.size() - 1;
    double bits = 0;
    for (std::size_t t = 0; t < exercises; ++t) {
        const float* table = tables.data() + t * std::size_t(n_vocab);
        double sum = 0;
        for (int i = 0; i < n_vocab; ++i) sum += std::exp(double(table[i]));
        const int answer = text[t + 1];
        bits -= std::log2(std::exp(double(table[answer])) / sum);
    }
    return bits / double(exercises);
}

}  // namespace homework
