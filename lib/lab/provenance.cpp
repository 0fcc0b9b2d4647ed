#include "lab/provenance.hpp"

#include <cstdio>
#include <ctime>

#include "gpt2/error.hpp"

namespace lab {

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm fields{};
    gmtime_r(&now, &fields);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

std::string source_commit() {
    // In single quotes the shell takes everything literally but the quote itself.
    std::string quoted = "'";
    for (const char c : std::string(LAB_SOURCE_DIR))
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    // Recording changes data/results as it goes; that makes no other program.
    const std::string command =
        "cd " + quoted +
        "' 2>/dev/null && commit=$(git describe --always 2>/dev/null) &&"
        " printf %s \"$commit\" &&"
        " { git diff --quiet HEAD -- . ':(exclude)data/results' || printf %s -dirty; }";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "unknown";
    char line[128] = {};
    const bool got = std::fgets(line, sizeof line, pipe) != nullptr;
    const bool succeeded = pclose(pipe) == 0;
    return got && succeeded ? gpt2::one_line(line) : "unknown";
}

std::string build_description() { return LAB_BUILD; }

}  // namespace lab
