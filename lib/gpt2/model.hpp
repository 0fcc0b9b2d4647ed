#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "gpt2/buffer.hpp"
#include "gpt2/config.hpp"
#include "gpt2/kv_cache.hpp"
#include "gpt2/token.hpp"

/// Text in, logits out: GPT-2 from its tokenizer to its engines.
///
/// `model.hpp` is the place to begin: everything else either makes ready what
/// Model::forward needs or does something with what it returns. Sources: Radford et al.
/// 2019 for the model, Vaswani et al. 2017 for attention.
namespace gpt2 {

class Sampler;

/// Which positions of a step get a row of logits.
enum class Rows {
    none,  ///< none: the tokens are only to be remembered
    last,  ///< the last one, which says what may come next
    all,   ///< every one, in order
};

// [step]
/// What one sequence adds in a forward pass: new tokens, behind what its cache holds.
struct Step {
    std::span<const Token> tokens;  ///< at least one
    KvCache& cache;                 ///< of this model, and in no other step
    Rows rows = Rows::last;         ///< which of the tokens get a row of logits
};
// [step]

/// Scores for the next token, [rows, n_vocab], in the order in which the rows were asked
/// for.
class Logits {
public:
    /// Room for that many rows, their content not set.
    Logits(int rows, int n_vocab);

    /// The same, in memory for rows * n_vocab scores or more.
    Logits(int rows, int n_vocab, std::shared_ptr<const Buffer<float>> memory)
        : rows_(rows), n_vocab_(n_vocab), scores_(std::move(memory)) {}

    /// Moved, not copied: two would write to the same scores.
    Logits(Logits&&) = default;

    /// Gives its own scores up.
    Logits& operator=(Logits&&) = default;

    int rows() const { return rows_; }        ///< as many as the steps asked for
    int n_vocab() const { return n_vocab_; }  ///< scores per row

    /// Row `row`, [n_vocab]. A view: it lives as long as these logits.
    std::span<const float> operator[](int row) const {
        return {scores_->data() + std::size_t(row) * n_vocab_, std::size_t(n_vocab_)};
    }

    /// The same, for an engine to write to.
    std::span<float> operator[](int row) {
        return {scores_->data() + std::size_t(row) * n_vocab_, std::size_t(n_vocab_)};
    }

private:
    int rows_, n_vocab_;
    std::shared_ptr<const Buffer<float>> scores_;
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

    /// The shape it runs at, which may be wider than that of the files it came from.
    const Config& config() const { return config_; }

    /// An empty cache of this model's shape, where this model keeps its memory.
    KvCache new_cache() const { return KvCache(pool_); }

    /// Bytes of weights in memory, padding included.
    virtual std::size_t weight_bytes() const = 0;

    // [forward]
    /// Runs each step's tokens behind what its cache holds, and appends their keys and
    /// values.
    ///
    /// On the CPU engine a row of logits depends, to the last bit, on its own sequence
    /// alone: not on the batch, on how the sequence was cut into steps, or on the number
    /// of threads.
    ///
    /// @return a row for every position asked for, step by step; none for an empty batch
    /// @throws BadInput for an id outside the vocabulary, a step without tokens, a
    ///         sequence that would grow past config().n_ctx, a cache of another model, or
    ///         one cache in two steps. No cache has changed when it is thrown.
    Logits forward(std::span<const Step> batch);

    /// The same for a batch of one.
    Logits forward(std::span<const Token> tokens, KvCache& cache, Rows rows = Rows::last);
    // [forward]

    /// Writes up to `count` tokens behind `cache`, starting with `next`: reads the last
    /// token written, picks another from its logits, and so on. `next` itself counts as
    /// the first. Stops early when `on_token`, called with every token as it is picked,
    /// returns false. The last token is written but not read: the cache ends before it.
    /// @throws BadInput as forward, when the context is full
    virtual void write(KvCache& cache, Token next, int count, const Sampler& sampler,
                       const std::function<bool(Token)>& on_token);

protected:
    /// @param pool  where new_cache takes its blocks from
    Model(const Config& config, std::shared_ptr<KvPool> pool)
        : config_(config), pool_(std::move(pool)) {}

private:
    virtual void run(std::span<const Step> batch, Logits& logits) = 0;

    Logits new_logits(int rows);

    Config config_;
    std::shared_ptr<KvPool> pool_;
    // Memory of the last logits handed out, and of those before: whoever measures a pass
    // holds one result while the next is made.
    std::array<std::shared_ptr<const Buffer<float>>, 2> scores_;
};

}  // namespace gpt2
