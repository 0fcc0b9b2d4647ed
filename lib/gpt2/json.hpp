#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace gpt2 {

/// Parses JSON from somewhere else. Nested at most 64 deep, for a hostile file must not
/// exhaust the stack; no object with two members of one name, for which one was meant?
/// @param where  the file, for messages
/// @throws BadInput for anything else.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// Something found in a file, as a message shows it: on one line, in ASCII, cut to 60
/// characters.
std::string shown(const nlohmann::json& value);

}  // namespace gpt2
