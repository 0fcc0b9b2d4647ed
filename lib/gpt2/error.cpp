#include "gpt2/error.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

namespace gpt2 {

namespace {

/// Whether a terminal would obey this character instead of showing it.
bool steers(utf8proc_int32_t character) {
    const utf8proc_category_t category = utf8proc_category(character);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
        utf8proc_int32_t character;
        const utf8proc_ssize_t length =
            utf8proc_iterate(begin, utf8proc_ssize_t(text.size()), &character);
        const std::size_t size = length < 1 ? 1 : std::size_t(length);
        if (*begin == '\n' || *begin == '\r')
            line += ' ';
        else if (length < 1)
            line += fmt::format("\\x{:02x}", *begin);
        else if (steers(character))
            line += fmt::format("\\u{{{:x}}}", character);
        else
            line += text.substr(0, size);
        text.remove_prefix(size);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

}  // namespace gpt2
