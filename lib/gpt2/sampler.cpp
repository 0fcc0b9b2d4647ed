#include "gpt2/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpt2/error.hpp"
#include "gpt2/philox.hpp"

namespace gpt2 {

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
    if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
        throw BadInput(
            fmt::format("temperature: expected 0 or a positive number, found {}",
                        options.temperature));
    if (options.top_k < 0)
        throw BadInput(fmt::format("top_k: expected 0 or a positive number, found {}",
                                   options.top_k));
    if (!(options.top_p >= 0 && options.top_p <= 1))
        throw BadInput(fmt::format("top_p: expected 0 to 1, found {}", options.top_p));
}

Token argmax(std::span<const float> logits) {
    if (logits.empty()) throw Error("no logits to choose from");
    std::size_t best = 0;
    for (std::size_t id = 0; id < logits.size(); ++id) {
        if (std::isnan(logits[id]) || logits[id] == INFINITY)
            throw Error(fmt::format("non-finite logits: id {} has {}", id, logits[id]));
        if (logits[id] > logits[best]) best = id;
    }
    if (!std::isfinite(logits[best]))
        throw Error("non-finite logits: all are minus infinity");
    return Token(best);
}

std::vector<Candidate> Sampler::candidates(std::span<const float> logits) const {
    const Token best = argmax(logits);
    if (options_.temperature == 0) return {{best, 1.0}};

    std::vector<Token> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::size_t kept = ids.size();
    if (options_.top_k > 0) kept = std::min(kept, std::size_t(options_.top_k));
    const auto better = [&](Token a, Token b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    };
    const auto end = ids.begin() + std::ptrdiff_t(kept);
    std::nth_element(ids.begin(), end, ids.end(), better);
    std::sort(ids.begin(), end, better);
    ids.resize(kept);

    // exp() of differences from the best: none overflows, however low the temperature.
    std::vector<Candidate> chosen;
    double sum = 0;
    for (const Token id : ids) {
        const double above = double(logits[id]) - double(logits[best]);
        const double weight = std::exp(above / double(options_.temperature));
        if (weight == 0) break;
        chosen.push_back({id, weight});
        sum += weight;
    }
    if (options_.top_p < 1) {
        // The token that crosses top_p stays; the best one always does.
        double before = chosen[0].probability;
        std::size_t n = 1;
        while (n < chosen.size() && before < double(options_.top_p) * sum)
            before += chosen[n++].probability;
        chosen.resize(n);
        sum = before;
    }
    for (Candidate& candidate : chosen) candidate.probability /= sum;
    return chosen;
}

Token draw(std::span<const Candidate> candidates, double u) {
    double sum = 0;
    for (const Candidate& candidate : candidates) {
        sum += candidate.probability;
        if (u < sum) return candidate.token;
    }
    return candidates.back().token;
}

Token Sampler::pick(std::span<const float> logits, std::uint64_t request,
                    std::uint64_t position) const {
    if (options_.temperature == 0) return argmax(logits);
    return draw(candidates(logits), random(request, position, Purpose::token));
}

double Sampler::random(std::uint64_t request, std::uint64_t position,
                       Purpose purpose) const {
    // No text is 2^62 tokens long: the purpose stands above the position.
    return uniform(options_.seed, request, position | std::uint64_t(purpose) << 62);
}

}  // namespace gpt2
