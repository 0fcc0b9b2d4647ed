#pragma once

#include <string>
#include <string_view>

namespace lab {

/// Bytes as a person can tell them apart, such as a token's in a table. A blank becomes
/// an open box; `\n`, `\r`, `\t` and a backslash are spelled as in C++. Characters
/// without a shape of their own (controls, joiners, combining marks) become `\u{200d}`,
/// bytes that are no part of a character `\xe8`. Everything else stays as it is.
std::string visible(std::string_view bytes);

}  // namespace lab
