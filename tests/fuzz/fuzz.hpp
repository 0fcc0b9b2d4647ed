#pragma once

// What the fuzz targets share. Each target is one file: it takes any bytes and hands them
// to a reader of the project. The reader must take them or throw BadInput with one line;
// anything else is a fault: a crash, a hang, another exception, memory without bound.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gpt2/error.hpp"

namespace fuzz {

/// Ends the program, so that the input is kept.
[[noreturn]] inline void fault(const std::string& what) {
    std::fprintf(stderr, "fault: %s\n", what.c_str());
    std::abort();
}

/// Runs the reader; refusals must be fit to print.
template <class Read>
void refuse_or_take(Read read) {
    try {
        read();
    } catch (const gpt2::BadInput& refusal) {
        const std::string_view line = refusal.what();
        if (line.empty() || line.find('\n') != std::string_view::npos)
            fault("expected one line, found '" + std::string(line) + "'");
        if (line.size() > 4096) fault("a line of " + std::to_string(line.size()));
    }
}

/// A folder of this process, which goes with it.
inline const std::filesystem::path& folder() {
    static const struct Folder {
        std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()));
        Folder() { std::filesystem::create_directories(path); }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    } made;
    return made.path;
}

/// A file in it.
inline void write(const std::string& name, std::string_view bytes) {
    std::ofstream out(folder() / name, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), std::streamsize(bytes.size()));
    if (!out) fault("the scratch file cannot be written");
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fuzz

/// What libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
