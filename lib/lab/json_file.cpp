#include "lab/json_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "gpt2/error.hpp"
#include "lab/format.hpp"

namespace lab {

nlohmann::json parse_json(std::string_view text, const std::string& where) {
    const auto shallow = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > 64) throw gpt2::BadInput(where + ": nested deeper than 64");
        return true;
    };
    try {
        return nlohmann::json::parse(text, shallow);
    } catch (const nlohmann::json::exception& error) {
        throw gpt2::BadInput(
            fmt::format("{}: not JSON: {}", where, one_line(error.what())));
    }
}

std::string read_whole_file(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        throw gpt2::BadInput(fmt::format("{}: expected a file, found {}", file.string(),
                                         error ? "none" : "something else"));
    constexpr std::uintmax_t most = 64 << 20;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error || size > most)
        throw gpt2::BadInput(
            fmt::format("{}: expected at most {} bytes", file.string(), most));
    std::string content(size, '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in.read(content.data(), std::streamsize(size)))
        throw gpt2::BadInput(fmt::format("{}: cannot be read", file.string()));
    return content;
}

}  // namespace lab
