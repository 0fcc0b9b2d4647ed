#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

/// The tokenizer takes any bytes; programs refuse text that is not UTF-8, since nobody
/// means to hand it in.
/// @param where  named in the message, such as a file
/// @throws BadInput naming the first byte that is no part of a character.
void check_utf8(std::string_view text, const std::string& where);

}  // namespace gpt2
