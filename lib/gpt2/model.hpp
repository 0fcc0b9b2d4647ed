#pragma once

#include <functional>
#include <memory>
#include <span>

#include "gpt2/config.hpp"
#include "gpt2/kv_cache.hpp"
#include "gpt2/token.hpp"

namespace gpt2 {

class Sampler;

/// Which positions of a step get a row of logits.
enum class Rows { none, last, all };

/// What one sequence adds in a forward pass: new tokens, behind what its cache remembers.
struct Step {
    std::span<const Token> tokens;
    KvCache& cache;
    Rows rows = Rows::last;
};

/// Scores for the next token, [rows, n_vocab], in the order in which the rows were asked
/// for.
class Logits {
public:
    Logits(int rows, int n_vocab);

    int rows() const { return rows_; }
    int n_vocab() const { return n_vocab_; }

    std::span<const float> operator[](int row) const {
        return {scores_.get() + std::size_t(row) * n_vocab_, std::size_t(n_vocab_)};
    }
    std::span<float> operator[](int row) {
        return {scores_.get() + std::size_t(row) * n_vocab_, std::size_t(n_vocab_)};
    }

private:
    int rows_, n_vocab_;
    // Left unset: 512 rows are 103 MB, written once by the engine.
    std::unique_ptr<float[]> scores_;
};

/// GPT-2, ready to run on some device.
///
/// There is one verb. Feed it many tokens and it reads (prefill); feed it one and it
/// writes (decode); feed it one for each of many caches and it serves a batch; feed it
/// another model's guesses and it checks them. The arithmetic per token is the same every
/// time. What changes is how many tokens share one trip of the weights from memory, and
/// that is what this book is about.
///
/// A model is used by one thread at a time; it has threads of its own.
class Model {
public:
    virtual ~Model() = default;

    const Config& config() const { return config_; }

    /// An empty cache of this model's shape, where this model keeps its memory.
    KvCache new_cache() const { return KvCache(pool_); }

    /// Bytes of weights in memory, padding included.
    virtual std::size_t weight_bytes() const = 0;

    /// Runs each step's tokens behind what its cache holds, and appends their keys and
    /// values.
    ///
    /// On the CPU engine a row of logits depends, to the last bit, on its own sequence
    /// alone: not on the batch, on how the sequence was cut into steps, or on the number
    /// of threads.
    ///
    /// @throws BadInput for an id outside the vocabulary, a step without tokens, a
    /// sequence
    ///         that would grow past config().n_ctx, a cache of another model, or one
    ///         cache in two steps. No cache has changed when it is thrown.
    Logits forward(std::span<const Step> batch);
    Logits forward(std::span<const Token> tokens, KvCache& cache, Rows rows = Rows::last);

    /// Writes up to `count` tokens behind `cache`, starting with `next`: reads the last
    /// token written, picks another from its logits, and so on. `next` itself counts as
    /// the first. Stops early when `on_token`, called with every token as it is picked,
    /// returns false. The last token is written but not read: the cache ends before it.
    virtual void write(KvCache& cache, Token next, int count, const Sampler& sampler,
                       const std::function<bool(Token)>& on_token);

protected:
    Model(const Config& config, std::shared_ptr<KvPool> pool)
        : config_(config), pool_(std::move(pool)) {}

private:
    virtual void run(std::span<const Step> batch, Logits& logits) = 0;

    Config config_;
    std::shared_ptr<KvPool> pool_;
};

}  // namespace gpt2
