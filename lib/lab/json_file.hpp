#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// Parses a file of at most 64 MiB.
/// @throws BadInput as gpt2::read_file() and gpt2::parse_json().
nlohmann::json read_json(const std::filesystem::path& file);

/// A value of a JSON file and the way to it, for messages. Every reading function throws
/// BadInput for a value of another kind.
class Place {
public:
    /// @param value  must outlive the place
    /// @param path   the file, and the way to the value within it
    Place(const nlohmann::json& value, std::string path)
        : value_(value), path_(std::move(path)) {}

    Place operator[](const char* name) const;  ///< a member; it must be there

    /// Refuses what is no object, and a member of any other name.
    void only(std::initializer_list<std::string_view> names) const;

    bool is_null() const { return value_.is_null(); }    ///< `null` stands there
    bool is_text() const { return value_.is_string(); }  ///< a string stands there

    std::string text() const;         ///< a string
    bool truth() const;               ///< `true` or `false`
    double number() const;            ///< any number
    std::int64_t count() const;       ///< a whole number, 0 or more
    int small_count() const;          ///< the same, and it fits an int
    std::vector<Place> list() const;  ///< the members of an array

    const std::string& path() const { return path_; }  ///< as messages name it

    /// @throws BadInput that names the place, what was expected, and what was found.
    [[noreturn]] void fail(const char* expected) const;

private:
    const nlohmann::json& value_;
    std::string path_;
};

}  // namespace lab
