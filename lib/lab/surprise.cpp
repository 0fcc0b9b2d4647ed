#include "lab/surprise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "gpt2/error.hpp"
#include "gpt2/sampler.hpp"

namespace lab {

// [surprise]
double surprise(std::span<const float> logits, gpt2::Token token) {
    if (token < 0 || std::size_t(token) >= logits.size())
        throw gpt2::BadInput(
            fmt::format("token {}: expected an id below {}", token, logits.size()));
    // exp() of differences from the best: none overflows, and the sum is at least 1.
    const auto best = double(logits[std::size_t(gpt2::argmax(logits))]);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit) - best);
    return std::log2(sum) +
           (best - double(logits[std::size_t(token)])) * std::numbers::log2e;
}
// [surprise]

double entropy(std::span<const float> logits) {
    // With weight w = exp(-d), d the distance from the best logit, a token's surprise is
    // log2(sum) + d log2(e): one pass finds both sums.
    const auto best = double(logits[std::size_t(gpt2::argmax(logits))]);
    double sum = 0, distances = 0;
    for (const float logit : logits) {
        const double distance = best - double(logit);
        const double weight = std::exp(-distance);
        if (weight == 0) continue;  // infinitely far: 0 times infinity is no number
        sum += weight;
        distances += weight * distance;
    }
    return std::log2(sum) + distances / sum * std::numbers::log2e;
}

}  // namespace lab
