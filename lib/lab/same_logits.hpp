#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpt2/model.hpp"

namespace lab {

/// The answer to a check, and the figures behind it.
struct Outcome {
    bool holds;          ///< as Check::holds
    std::string detail;  ///< such as "0 of 50,257 floats differ in their bits"
};

/// Floats of two rows of one length whose bits differ.
std::int64_t differing_floats(std::span<const float> a, std::span<const float> b);

/// Reads `text` at once, and again token by token through a cache, and compares the
/// logits at the last position bit by bit.
/// @throws BadInput as Model::forward does.
Outcome same_logits(gpt2::Model& model, std::span<const gpt2::Token> text);

}  // namespace lab
