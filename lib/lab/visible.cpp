#include "lab/visible.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

namespace lab {

namespace {

bool has_shape(utf8proc_int32_t character) {
    const utf8proc_category_t category = utf8proc_category(character);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO &&
           (category < UTF8PROC_CATEGORY_MN || category > UTF8PROC_CATEGORY_ME);
}

}  // namespace

std::string visible(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
        utf8proc_int32_t c;
        const utf8proc_ssize_t length =
            utf8proc_iterate(begin, utf8proc_ssize_t(bytes.size()), &c);
        const std::size_t size = length < 1 ? 1 : std::size_t(length);
        if (length < 1)
            out += fmt::format("\\x{:02x}", *begin);
        else if (c == ' ')
            out += "\u2423";
        else if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\\')
            out += "\\\\";
        else if (has_shape(c))
            out += bytes.substr(0, size);
        else
            out += fmt::format("\\u{{{:x}}}", c);
        bytes.remove_prefix(size);
    }
    return out;
}

}  // namespace lab
