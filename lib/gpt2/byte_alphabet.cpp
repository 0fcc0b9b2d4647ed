#include "gpt2/byte_alphabet.hpp"

#include <utf8proc.h>

#include <array>

namespace gpt2 {

namespace {

constexpr int alphabet_size = 0x144;

const std::array<int, alphabet_size>& byte_of_character() {
    static const std::array<int, alphabet_size> bytes = [] {
        std::array<int, alphabet_size> table;
        table.fill(-1);
        int next = 0x100;
        for (int byte = 0; byte < 256; ++byte) {
            const bool printable =
                (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
            table[printable ? byte : next++] = byte;
        }
        return table;
    }();
    return bytes;
}

}  // namespace

std::optional<std::string> spelled_bytes(std::string_view spelling) {
    std::string bytes;
    const auto* text = reinterpret_cast<const utf8proc_uint8_t*>(spelling.data());
    for (std::size_t at = 0; at < spelling.size();) {
        utf8proc_int32_t c;
        const utf8proc_ssize_t length =
            utf8proc_iterate(text + at, utf8proc_ssize_t(spelling.size() - at), &c);
        if (length < 0 || c >= alphabet_size || byte_of_character()[c] < 0) return {};
        bytes += static_cast<char>(byte_of_character()[c]);
        at += std::size_t(length);
    }
    return bytes;
}

}  // namespace gpt2
