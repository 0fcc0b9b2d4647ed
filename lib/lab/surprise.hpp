#pragma once

#include <span>

#include "gpt2/token.hpp"

namespace lab {

/// Surprise at finding `token` next: -log2 of the probability that softmax gives it, in
/// bits. A token held for certain surprises by 0, a coin's side by 1, one that can never
/// come by infinity. Computed in double precision.
/// @param logits  [n_vocab]
/// @throws BadInput for an id outside the row, Error as gpt2::argmax.
double surprise(std::span<const float> logits, gpt2::Token token);

/// Entropy of the whole row: the surprise to expect, each token's weighted with its
/// probability, in bits; 0 to log2(n_vocab).
/// @param logits  [n_vocab]
/// @throws Error as gpt2::argmax.
double entropy(std::span<const float> logits);

}  // namespace lab
