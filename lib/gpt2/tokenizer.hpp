#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpt2/token.hpp"

namespace gpt2 {

/// Whether `<|endoftext|>` in a text is seven ordinary tokens or the one special token.
/// Text that people hand in stays ordinary: nobody types an end of text by accident.
enum class Special {
    ordinary,  ///< letters and signs like any others
    parse,     ///< the special token
};

/// How the tokens of a piece stood after one merge.
struct MergeStep {
    int rule;  ///< its place in the merge list, from 0; -1: none yet, single bytes
    std::vector<Token> tokens;  ///< of the whole piece, from left to right
};

/// Byte-level byte-pair encoding, exactly GPT-2's.
///
/// Text is cut into pieces (a word with its leading blank, digits, punctuation, blanks);
/// within a piece the bytes are merged, the earliest learned rule first. Works on any
/// bytes: what is not UTF-8 is kept byte for byte. A copy is cheap; copies share their
/// tables. Source: Radford et al. 2019, section 2.2.
class Tokenizer {
public:
    /// Reads `vocab.json` and `merges.txt` of a model directory, or `tokenizer.json`
    /// where one of those is absent.
    /// @throws BadInput where a file is missing or malformed, ids have gaps or repeat, a
    ///         byte or `<|endoftext|>` is no entry of the vocabulary, a merge makes a
    ///         piece that is none, or `tokenizer.json` asks for another procedure.
    static Tokenizer load(const std::filesystem::path& directory);

    /// Entries, `<|endoftext|>` included. Ids are below this, but for an end of text
    /// that was moved.
    int size() const;

    /// The id of `<|endoftext|>`.
    Token end_of_text() const { return end_of_text_; }

    /// Gives `<|endoftext|>` another id, at or above size() - 1. A widened model keeps
    /// the narrow model's vocabulary but for this one id (see weights.hpp). The id that
    /// it had is no token any more.
    /// @throws BadInput for a lower id, or one that another entry has.
    void move_end_of_text(Token id);

    /// Bytes to tokens, in near-linear time.
    std::vector<Token> encode(std::string_view text,
                              Special special = Special::ordinary) const;

    /// How encode() merges one piece of text (see pieces.hpp): its single bytes, then the
    /// tokens after every merge.
    /// @throws BadInput for a text that is cut into several pieces, an empty one, or one
    ///         of more than 48 bytes: each step repeats all of it.
    std::vector<MergeStep> merge_steps(std::string_view piece) const;

    /// Tokens to bytes. `decode(encode(x)) == x` for any bytes x, unless a
    /// `tokenizer.json` sets `add_prefix_space`: a blank then goes before every text that
    /// has none.
    /// @throws BadInput for an id that the vocabulary lacks.
    std::string decode(std::span<const Token> tokens) const;

    /// The bytes of one token, possibly part of a character. They live as long as this
    /// tokenizer or a copy of it.
    /// @throws BadInput for an id that the vocabulary lacks.
    std::string_view bytes(Token token) const;

private:
    struct Tables;

    explicit Tokenizer(std::shared_ptr<const Tables> tables);

    std::shared_ptr<const Tables> tables_;
    Token end_of_text_;
};

/// Turns a stream of tokens into text that never ends in the middle of a character.
class StreamDecoder {
public:
    /// Keeps a copy of the tokenizer, which shares its tables.
    explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    /// The text that this token completes; empty while a character is still open. Bytes
    /// that can no longer become a valid character come out at once, as they are.
    /// @throws BadInput for an id that the vocabulary lacks.
    std::string push(Token token);

    /// What is left when the stream ends: an unfinished character's bytes as they are.
    std::string finish();

private:
    Tokenizer tokenizer_;
    std::string open_;  // the beginning of a character
};

}  // namespace gpt2
