#pragma once

#include <cstddef>
#include <string_view>

namespace gpt2 {

/// The end of the piece of text that begins at `begin`, which must be below text.size().
///
/// Pieces are what GPT-2 cuts a text into before it merges bytes; no token crosses their
/// borders. They are the matches of this pattern, tried from left to right:
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// Of these, `\p{L}` and `\p{N}` are Unicode's letters and numbers, `\s` is its
/// White_Space property. A byte that is no part of valid UTF-8 counts as a character that
/// is none of these.
std::size_t piece_end(std::string_view text, std::size_t begin);

}  // namespace gpt2
