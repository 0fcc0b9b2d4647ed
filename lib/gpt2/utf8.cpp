#include "gpt2/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include "gpt2/error.hpp"

namespace gpt2 {

void check_utf8(std::string_view text, const std::string& where) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    for (std::size_t at = 0; at < text.size();) {
        utf8proc_int32_t character;
        const utf8proc_ssize_t length =
            utf8proc_iterate(bytes + at, utf8proc_ssize_t(text.size() - at), &character);
        if (length < 1)
            throw BadInput(fmt::format("{}: byte {}: expected UTF-8, found 0x{:02x}",
                                       where, at, bytes[at]));
        at += std::size_t(length);
    }
}

}  // namespace gpt2
