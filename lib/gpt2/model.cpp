#include "gpt2/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/sampler.hpp"

namespace gpt2 {

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

    // 512 rows are 103 MB. The system clears a page before it hands it out, and for that
    // many pages this takes longer than attention. So memory that nobody looks at any
    // more is used again.
    const std::size_t scores = std::size_t(rows) * std::size_t(config_.n_vocab);
    if (!scores_ || scores_.use_count() > 1 || scores_->size() < scores)
        scores_ = std::make_shared<const Buffer<float>>(scores);
    Logits logits(rows, config_.n_vocab, scores_);
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
