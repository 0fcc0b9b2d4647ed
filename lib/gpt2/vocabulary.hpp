#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpt2/token.hpp"

namespace gpt2 {

/// The one special token's spelling.
inline constexpr std::string_view end_of_text_mark = "<|endoftext|>";

/// What the files of a byte-level BPE tokenizer say, checked.
struct Vocabulary {
    /// A rule of the merge list: `left` followed by `right` becomes `result`.
    struct Merge {
        Token left;    ///< the id in front
        Token right;   ///< the id behind it
        Token result;  ///< the id whose bytes are both, one after the other
    };

    /// Each id's bytes; every single byte is among them.
    std::vector<std::string> entries;
    std::vector<Merge> merges;      ///< earliest learned first; no pair twice
    Token end_of_text;              ///< the id of `<|endoftext|>`
    bool add_prefix_space = false;  ///< a blank goes before a text that has none
};

/// Reads `vocab.json` and `merges.txt` of a directory, or `tokenizer.json` where one of
/// those is absent.
/// @throws BadInput as Tokenizer::load.
Vocabulary read_vocabulary(const std::filesystem::path& directory);

}  // namespace gpt2
