#include "gpt2/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/sampler.hpp"

namespace gpt2 {

namespace {

std::shared_ptr<const Buffer<float>> memory_for(int rows, int n_vocab) {
    return std::make_shared<const Buffer<float>>(std::size_t(rows) * n_vocab);
}

}  // namespace

Logits::Logits(int rows, int n_vocab)
    : Logits(rows, n_vocab, memory_for(rows, n_vocab)) {}

/// 512 rows are 103 MB. The system clears memory before it hands it out, and for so much
/// this takes longer than attention. So what nobody looks at any more is used again.
Logits Model::new_logits(int rows) {
    const int n_vocab = config_.n_vocab;
    for (std::shared_ptr<const Buffer<float>>& memory : scores_) {
        if (memory.use_count() > 1) continue;
        if (!memory || memory->size() < std::size_t(rows) * n_vocab)
            memory = memory_for(rows, n_vocab);
        return {rows, n_vocab, memory};
    }
    return {rows, n_vocab};
}

Logits Model::forward(std::span<const Step> batch) {
    // Everything that can be wrong is found here, once for all engines, before anything
    // changes.
    std::vector<const KvCache*> caches;
    int rows = 0;
    for (const Step& step : batch) {
        if (step.tokens.empty()) throw BadInput("forward: a step without tokens");
        if (step.cache.pool() != pool_)
            throw BadInput("forward: a cache of another model");
        const std::size_t after = step.cache.size() + step.tokens.size();
        if (after > std::size_t(config_.n_ctx))
            throw BadInput(fmt::format(
                "forward: {} tokens behind {} are more than the context of {} positions",
                step.tokens.size(), step.cache.size(), config_.n_ctx));
        for (std::size_t i = 0; i < step.tokens.size(); ++i)
            if (step.tokens[i] < 0 || step.tokens[i] >= config_.n_vocab)
                throw BadInput(
                    fmt::format("forward: token {}: expected an id below {}, found {}", i,
                                config_.n_vocab, step.tokens[i]));
        caches.push_back(&step.cache);
        if (step.rows == Rows::last) rows += 1;
        if (step.rows == Rows::all) rows += int(step.tokens.size());
    }
    std::ranges::sort(caches);
    if (std::ranges::adjacent_find(caches) != caches.end())
        throw BadInput("forward: one cache in two steps");

    Logits logits = new_logits(rows);
    for (const Step& step : batch) step.cache.reserve(int(step.tokens.size()));
    if (!batch.empty()) run(batch, logits);
    for (const Step& step : batch) step.cache.advance(int(step.tokens.size()));
    return logits;
}

Logits Model::forward(std::span<const Token> tokens, KvCache& cache, Rows rows) {
    const Step step{tokens, cache, rows};
    return forward(std::span(&step, 1));
}

// [write]
void Model::write(KvCache& cache, Token next, int count, const Sampler& sampler,
                  const std::function<bool(Token)>& on_token) {
    for (int written = 1; written <= count; ++written) {
        if (!on_token(next) || written == count) return;
        const Logits logits = forward(std::span(&next, 1), cache);
        next = sampler.pick(logits[0], 0, cache.size());
    }
}
// [write]

}  // namespace gpt2
