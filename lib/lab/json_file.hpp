#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// Parses JSON nested at most 64 deep.
/// @param where  the file, for messages
/// @throws BadInput for anything else, deeper nesting included.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The bytes of a file of at most 64 MiB.
/// @throws BadInput where it is missing, cannot be read or is larger.
std::string read_whole_file(const std::filesystem::path& file);

/// A value of a JSON file and the way to it, for messages. Every reading function throws
/// BadInput for a value of another kind.
class Place {
public:
    Place(const nlohmann::json& value, std::string path)
        : value_(value), path_(std::move(path)) {}

    Place operator[](const char* name) const;  ///< a member; it must be there

    bool is_null() const { return value_.is_null(); }
    bool is_text() const { return value_.is_string(); }

    std::string text() const;
    bool truth() const;
    double number() const;
    std::int64_t count() const;  ///< 0 or more
    int small_count() const;
    std::vector<Place> list() const;

    const std::string& path() const { return path_; }
    [[noreturn]] void fail(const char* expected) const;

private:
    const nlohmann::json& value_;
    std::string path_;
};

}  // namespace lab
