#include "lab/surprise.hpp"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<double> surprises(gpt2::Model& model, std::span<const gpt2::Token> text) {
    if (text.size() < 2)
        throw gpt2::BadInput(
            fmt::format("text: expected 2 tokens or more, found {}", text.size()));
    gpt2::KvCache cache = model.new_cache();
    const gpt2::Logits logits =
        model.forward(text.first(text.size() - 1), cache, gpt2::Rows::all);
    std::vector<double> bits;
    for (int row = 0; row < logits.rows(); ++row)
        bits.push_back(surprise(logits[row], text[std::size_t(row) + 1]));
    return bits;
}

Shift shift(std::span<const double> before, std::span<const double> after) {
    double sum = 0, sizes = 0, most = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double moved = after[i] - before[i];
        sum += moved;
        sizes += std::abs(moved);
        most = std::max(most, std::abs(moved));
    }
    const auto count = double(before.size());
    return {sizes / count, most, std::exp2(sum / count)};
}

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
