#pragma once

#include <cstdint>

namespace gpt2 {

/// The id of one piece of text in a vocabulary.
using Token = std::int32_t;

}  // namespace gpt2
