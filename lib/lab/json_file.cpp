#include "lab/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

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
        throw gpt2::BadInput(fmt::format("{}: not JSON: {}", where, error.what()));
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

Place Place::operator[](const char* name) const {
    if (!value_.is_object()) fail("an object");
    const auto found = value_.find(name);
    if (found == value_.end())
        throw gpt2::BadInput(fmt::format("{}: {}: missing", path_, name));
    return {*found, path_ + ": " + name};
}

void Place::only(std::initializer_list<std::string_view> names) const {
    if (!value_.is_object()) fail("an object");
    for (const auto& [name, value] : value_.items())
        if (std::ranges::find(names, name) == names.end())
            throw gpt2::BadInput(
                fmt::format("{}: unknown member '{}'", path_, name.substr(0, 40)));
}

std::string Place::text() const {
    if (!value_.is_string()) fail("a text");
    return value_.get<std::string>();
}

bool Place::truth() const {
    if (!value_.is_boolean()) fail("true or false");
    return value_.get<bool>();
}

double Place::number() const {
    if (!value_.is_number()) fail("a number");
    return value_.get<double>();
}

std::int64_t Place::count() const {
    const bool fits = value_.is_number_unsigned() &&
                      value_.get<std::uint64_t>() <=
                          std::uint64_t(std::numeric_limits<std::int64_t>::max());
    if (!fits) fail("a whole number, 0 or more");
    return value_.get<std::int64_t>();
}

int Place::small_count() const {
    if (count() > std::numeric_limits<int>::max()) fail("a smaller number");
    return int(count());
}

std::vector<Place> Place::list() const {
    if (!value_.is_array()) fail("a list");
    std::vector<Place> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
        places.emplace_back(value_[i], fmt::format("{}[{}]", path_, i));
    return places;
}

void Place::fail(const char* expected) const {
    std::string found =
        value_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (found.size() > 40) found = found.substr(0, 40) + "...";
    throw gpt2::BadInput(
        fmt::format("{}: expected {}, found {}", path_, expected, found));
}

}  // namespace lab
