#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lab {

/// Parses JSON nested at most 64 deep.
/// @param where  the file, for messages
/// @throws BadInput for anything else, deeper nesting included.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The bytes of a file of at most 64 MiB.
/// @throws BadInput where it is missing, cannot be read or is larger.
std::string read_whole_file(const std::filesystem::path& file);

}  // namespace lab
