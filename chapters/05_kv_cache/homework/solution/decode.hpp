#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "given.hpp"

namespace homework {

/// Sixteen sums side by side: none of them waits for the addition before it.
inline float dot(const float* a, const float* b, std::size_t width) {
    float sums[16] = {}, all = 0;
    std::size_t c = 0;
    for (; c + 16 <= width; c += 16)
        for (std::size_t i = 0; i < 16; ++i) sums[i] += a[c + i] * b[c + i];
    for (const float sum : sums) all += sum;
    for (; c < width; ++c) all += a[c] * b[c];
    return all;
}

/// out += share * value, as much at a time.
inline void add(float* __restrict out, float share, const float* __restrict value,
                std::size_t width) {
    std::size_t c = 0;
    for (; c + 16 <= width; c += 16)
        for (std::size_t i = 0; i < 16; ++i) out[c + i] += share * value[c + i];
    for (; c < width; ++c) out[c] += share * value[c];
}

/// Writes some tokens one after the other, as one attention head sees it.
inline std::vector<std::vector<float>> decode(Cache cache,
                                              const std::vector<Step>& steps) {
    const auto width = std::size_t(cache.width);
    const float root = std::sqrt(float(width));
    std::vector<std::vector<float>> outs;
    std::vector<float> weights;
    for (const Step& step : steps) {
        cache.keys.insert(cache.keys.end(), step.key.begin(), step.key.end());
        cache.values.insert(cache.values.end(), step.value.begin(),
                            step.value.end());

        const std::size_t positions = cache.keys.size() / width;
        weights.resize(positions);
        for (std::size_t t = 0; t < positions; ++t)
            weights[t] =
                dot(step.query.data(), &cache.keys[t * width], width) / root;
        const float best = *std::max_element(weights.begin(), weights.end());
        float sum = 0;
        for (float& weight : weights) sum += weight = std::exp(weight - best);

        std::vector<float> out(width);
        for (std::size_t t = 0; t < positions; ++t)
            add(out.data(), weights[t] / sum, &cache.values[t * width], width);
        outs.push_back(std::move(out));
    }
    return outs;
}

}  // namespace homework
