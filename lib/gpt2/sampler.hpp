#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpt2/token.hpp"

namespace gpt2 {

/// How the next token is chosen.
struct SamplerOptions {
    float temperature = 0;   ///< divides the logits; 0: the best token, nothing random
    int top_k = 0;           ///< keeps the k best; 0: all
    float top_p = 1;         ///< then keeps the fewest whose probability reaches this
    std::uint64_t seed = 1;  ///< of the random numbers
};

/// A token and the probability with which it is drawn.
struct Candidate {
    Token token;         ///< its id
    double probability;  ///< above 0; those of all candidates add up to 1
};

/// What a random number decides. Numbers for different purposes are independent.
enum class Purpose {
    token,  ///< which token is written
    guess,  ///< which token a draft proposes (see speculative.hpp)
    keep,   ///< whether the target keeps it
};

/// Chooses the next token from a row of logits.
///
/// A logit of minus infinity means never. Among equal logits the lower id counts as the
/// better one.
class Sampler {
public:
    /// Greedy.
    Sampler() = default;

    /// @throws BadInput for a temperature that is negative or not finite, a negative
    ///         top_k, a top_p outside [0, 1].
    explicit Sampler(const SamplerOptions& options);

    /// What it was made with.
    const SamplerOptions& options() const { return options_; }

    /// The token at position `position` of request `request`: the same draw whatever
    /// else runs in the batch.
    /// @param logits  [n_vocab]
    /// @throws Error as argmax.
    Token pick(std::span<const float> logits, std::uint64_t request,
               std::uint64_t position) const;

    /// The number in [0, 1) that decides at position `position` of request `request`.
    double random(std::uint64_t request, std::uint64_t position, Purpose purpose) const;

    /// The distribution that pick() draws from: tokens of positive probability, the most
    /// likely first. Probabilities add up to 1.
    /// @throws Error as argmax.
    std::vector<Candidate> candidates(std::span<const float> logits) const;

private:
    SamplerOptions options_;
};

/// The token at which the running sum of probabilities passes `u`, 0 <= u < 1; the last
/// one if rounding leaves the whole sum below `u`. There must be one.
Token draw(std::span<const Candidate> candidates, double u);

/// The id of the greatest logit, the lowest of equal ones.
/// @throws Error for an empty row, a logit that is NaN or plus infinity, or none that is
///         finite: the model has computed nonsense, and id 0 would hide it.
Token argmax(std::span<const float> logits);

}  // namespace gpt2
