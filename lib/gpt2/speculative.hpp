#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpt2/generate.hpp"
#include "gpt2/model.hpp"
#include "gpt2/sampler.hpp"
#include "gpt2/token_map.hpp"

/// Speculative decoding: a draft guesses, the target reads the guesses in one pass and
/// keeps those that it could have written itself. Reading is cheap, so a pass over five
/// tokens takes hardly longer than over one. Sources: Leviathan et al. 2023, Chen et al.
/// 2023.
namespace gpt2 {

/// A token that a draft proposes, and the distribution that it drew it from.
struct Guess {
    Token token;                        ///< an id of the target
    std::vector<Candidate> candidates;  ///< probabilities of the draft, `token` included
};

/// Whoever guesses.
class Draft {
public:
    virtual ~Draft() = default;

    /// Up to `count` tokens that may follow `text`, each behind the one before. Fewer, or
    /// none, where it has no idea.
    /// @param text     all read and written so far, in the target's ids; what was guessed
    ///                 before and not kept is no part of it
    /// @param sampler  how the target picks: the draft draws through the same filters
    /// @param sample   as Request::sample
    virtual std::vector<Guess> guess(std::span<const Token> text, int count,
                                     const Sampler& sampler, std::uint64_t sample) = 0;
};

/// A smaller model as a draft.
class ModelDraft final : public Draft {
public:
    /// @param model  must outlive the draft
    /// @param map    between the target's vocabulary and the model's
    ModelDraft(Model& model, TokenMap map);

    /// Guesses as the model would write. It waits, without a guess, while the last token
    /// is one that it does not know, and where its own context is full. Other tokens that
    /// it does not know are left out of what it reads.
    std::vector<Guess> guess(std::span<const Token> text, int count,
                             const Sampler& sampler, std::uint64_t sample) override;

private:
    Model& model_;
    TokenMap map_;
    KvCache cache_;
    std::vector<Token> held_;  // what the cache holds, in the draft's ids
};

/// Looks the last tokens up in the text so far, and guesses what followed them then: the
/// longest match, of equal ones the most recent. It needs no model. Source: Saxena 2023.
class PromptLookup final : public Draft {
public:
    /// @param least, most  tokens that must match, and that are looked at
    /// @throws BadInput unless 1 <= least <= most
    explicit PromptLookup(int least = 2, int most = 8);

    /// Guesses with certainty: its candidates are one token of probability 1.
    std::vector<Guess> guess(std::span<const Token> text, int count,
                             const Sampler& sampler, std::uint64_t sample) override;

private:
    int least_, most_;
};

/// The probability with which the target keeps a guess: min(1, p / q).
/// @param target, draft  both distributions, from the same sampler
double acceptance(std::span<const Candidate> target, std::span<const Candidate> draft,
                  Token guess);

/// What the target draws from where it has refused: the positive part of p - q, made to
/// add up to 1. A guess that is kept with min(1, p / q) and else drawn anew from this has
/// the law p exactly, whatever q was.
std::vector<Candidate> remainder(std::span<const Candidate> target,
                                 std::span<const Candidate> draft);

/// One pass of the target over guesses.
struct Trip {
    int guessed;   ///< tokens that the draft proposed
    int accepted;  ///< of them kept, from the first on; one more token comes from the
                   ///< pass

    /// Both numbers alike.
    bool operator==(const Trip&) const = default;
};

/// How to speculate.
struct SpeculateOptions {
    GenerateOptions generate = {};  ///< as for generate()
    int guesses = 4;                ///< in each pass; 0: plain decoding
    std::uint64_t sample = 0;       ///< as Request::sample
    /// Where given, how many guesses to ask for next, in place of `guesses`, after the
    /// passes made so far. It is called before every pass.
    std::function<int(std::span<const Trip>)> adapt = {};
};

/// What was written, and in which passes.
struct Speculation {
    Generation generation;    ///< tokens of one pass have the same time stamp
    std::vector<Trip> trips;  ///< passes behind the prefill, in order
};

/// Reads a prompt and writes as generate() does, in fewer passes of the target.
///
/// Greedy output is the target's own, token for token, and on the CPU engine each token
/// comes from the very logits that plain decoding has. With a temperature each token has
/// the law that plain decoding gives it. Whatever the draft does it can only cost time.
/// Afterwards `cache` holds all but the last token, as after generate().
/// @param on_token  called with every token and the row of logits [n_vocab] that it came
///                  from; it stops the writing by returning false
/// @throws BadInput as generate, and for fewer than 0 guesses
Speculation speculate(
    Model& target, KvCache& cache, std::span<const Token> prompt, Draft& draft,
    const SpeculateOptions& options,
    const std::function<bool(Token, std::span<const float>)>& on_token = {});

}  // namespace gpt2
