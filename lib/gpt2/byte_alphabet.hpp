#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpt2 {

/// The bytes that an entry of a vocabulary file stands for; nothing where it is not
/// spelled in GPT-2's byte alphabet.
///
/// The files spell each byte as one printable character, so that an entry is a word
/// without blanks or control characters: bytes that are printable in Latin-1 as
/// themselves, the others in order as U+0100, U+0101, ... (a blank is U+0120).
std::optional<std::string> spelled_bytes(std::string_view spelling);

}  // namespace gpt2
