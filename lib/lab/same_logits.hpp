#pragma once

#include <span>
#include <string>

#include "gpt2/model.hpp"

namespace lab {

/// The answer to a check, and the figures behind it.
struct Outcome {
    bool holds;
    std::string detail;
};

/// Reads `text` at once, and again token by token through a cache, and compares the
/// logits at the last position bit by bit.
/// @throws BadInput as Model::forward does.
Outcome same_logits(gpt2::Model& model, std::span<const gpt2::Token> text);

}  // namespace lab
