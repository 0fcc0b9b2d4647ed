#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "lab/results.hpp"

namespace lab {

/// The course's figures by their ids, from `data/published.json`. No file, no figures. An
/// erratum is worded as the course prints it and called one.
/// @throws BadInput for a file of another form.
std::map<std::string, Published> read_published(const std::filesystem::path& file);

}  // namespace lab
