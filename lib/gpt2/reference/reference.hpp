#pragma once

#include <span>
#include <vector>

#include "gpt2/token.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

/// GPT-2 as a pure function: the definition that every engine is checked against.
///
/// No cache, no threads, double precision. Reads the weights anew at every call.
/// @return logits [tokens, n_vocab], row-major
/// @throws BadInput for no tokens, more than n_ctx, or an id outside the vocabulary
std::vector<double> reference_logits(const Weights& weights,
                                     std::span<const Token> tokens);

/// What each head of each layer looks at: the attention weights of the same pass.
/// @return [n_layer, n_head, tokens, tokens], row-major. A row is a position that looks:
///         what it gives to each position, 0 to those ahead of it, 1 to all together.
/// @throws BadInput as reference_logits
std::vector<double> reference_attention(const Weights& weights,
                                        std::span<const Token> tokens);

}  // namespace gpt2
