#pragma once

#include <span>
#include <vector>

#include "gpt2/model.hpp"
#include "gpt2/token.hpp"

namespace lab {

/// Surprise at finding `token` next: -log2 of the probability that softmax gives it, in
/// bits. A token held for certain surprises by 0, a coin's side by 1, one that can never
/// come by infinity. Computed in double precision.
/// @param logits  [n_vocab]
/// @throws BadInput for an id outside the row, Error as gpt2::argmax.
double surprise(std::span<const float> logits, gpt2::Token token);

/// Surprise at each token of a text but the first, for which there is no table: one pass
/// over all but the last. Text of n tokens: n - 1 numbers, in bits.
/// @throws BadInput for fewer than two tokens, and as Model::forward does.
std::vector<double> surprises(gpt2::Model& model, std::span<const gpt2::Token> text);

/// How far the surprises at a text's tokens moved, from one model to another.
struct Shift {
    double mean;        ///< bits, either way, on average
    double most;        ///< bits, either way, at most
    double perplexity;  ///< quotient of the perplexities, 2 to the mean surprise each
};

/// @param before, after  surprises at the same tokens, at least one
Shift shift(std::span<const double> before, std::span<const double> after);

/// Entropy of the whole row: the surprise to expect, each token's weighted with its
/// probability, in bits; 0 to log2(n_vocab).
/// @param logits  [n_vocab]
/// @throws Error as gpt2::argmax.
double entropy(std::span<const float> logits);

}  // namespace lab
