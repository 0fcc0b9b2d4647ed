#include "gpt2/pieces.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdint>

namespace gpt2 {

namespace {

enum class Class : std::uint8_t { letter, number, space, other };

struct Character {
    Class kind;
    std::size_t bytes;
};

constexpr std::array<Class, 128> ascii = [] {
    std::array<Class, 128> kinds{};
    for (int c = 0; c < 128; ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool number = c >= '0' && c <= '9';
        const bool space = c == ' ' || (c >= '\t' && c <= '\r');
        kinds[c] = letter   ? Class::letter
                   : number ? Class::number
                   : space  ? Class::space
                            : Class::other;
    }
    return kinds;
}();

Character beyond_ascii(std::string_view text, std::size_t at) {
    utf8proc_int32_t c;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                         utf8proc_ssize_t(text.size() - at), &c);
    if (length < 0) return {Class::other, 1};
    const std::size_t size = std::size_t(length);
    const utf8proc_category_t category = utf8proc_category(c);
    // White_Space is the separators and a few control characters, of which only U+0085 is
    // beyond ASCII.
    if (c == 0x85 ||
        (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP))
        return {Class::space, size};
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
        return {Class::letter, size};
    if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO)
        return {Class::number, size};
    return {Class::other, size};
}

inline Character character(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 128) return {ascii[byte], 1};
    return beyond_ascii(text, at);
}

// Bytes of the contraction that begins here, or 0. Only the straight apostrophe and small
// letters make one.
std::size_t contraction(std::string_view text) {
    for (const std::string_view form : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
        if (text.starts_with(form)) return form.size();
    return 0;
}

}  // namespace

std::size_t piece_end(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'')
        if (const std::size_t bytes = contraction(text.substr(begin, 3)))
            return begin + bytes;

    // One blank belongs to the word behind it.
    Character c = character(text, begin);
    std::size_t end = begin + c.bytes;
    if (text[begin] == ' ' && end < text.size()) {
        const Character next = character(text, end);
        if (next.kind != Class::space) {
            c = next;
            end += next.bytes;
        }
    }

    std::size_t last = begin;  // the piece's last character
    while (end < text.size()) {
        const Character next = character(text, end);
        if (next.kind != c.kind) break;
        last = end;
        end += next.bytes;
    }
    // A run of white space leaves its last character to what follows: \s+(?!\S).
    const bool leave = c.kind == Class::space && end < text.size() && last > begin;
    return leave ? last : end;
}

}  // namespace gpt2
