#include "lab/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/json.hpp"
#include "lab/format.hpp"

namespace lab {

nlohmann::json read_json(const std::filesystem::path& file) {
    constexpr std::uint64_t most = 64 << 20;
    return gpt2::parse_json(gpt2::read_file(file, most), file.string());
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
    throw gpt2::BadInput(
        fmt::format("{}: expected {}, found {}", path_, expected, gpt2::shown(value_)));
}

}  // namespace lab
