#pragma once

// What several tests need.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/token.hpp"

namespace support {

/// An empty folder that goes with the test.
class TempDir {
public:
    TempDir() {
        std::string name =
            (std::filesystem::temp_directory_path() / "gpt2-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDir(const TempDir&) = delete;

    std::filesystem::path operator/(const std::string& name) const {
        return path_ / name;
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

inline void spew(const std::filesystem::path& file, std::string_view content) {
    std::ofstream(file, std::ios::binary)
        .write(content.data(), std::streamsize(content.size()));
}

inline std::vector<gpt2::Token> random_tokens(int n, int n_vocab, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<gpt2::Token> tokens(n);
    for (gpt2::Token& token : tokens) token = gpt2::Token(random() % unsigned(n_vocab));
    return tokens;
}

/// The message of the BadInput that f must throw; it must be one line.
template <class F>
std::string bad_input(F f) {
    try {
        f();
    } catch (const gpt2::BadInput& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        EXPECT_EQ(error.exit_status(), 2);
        return what;
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

}  // namespace support
