#include "homework/show.hpp"

#include <fmt/format.h>

namespace homework {

std::string show_number(double x) { return fmt::format("{:.9g}", x); }

std::string show_text(std::string_view text) {
    constexpr std::size_t most = 100;
    std::string all;
    for (const char c : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n')
            all += "\\n";
        else if (byte < 0x20 || byte == 0x7f)
            all += fmt::format("\\x{:02x}", byte);
        else
            all += c;
    }
    return fmt::format("\"{}\"{}", all, text.size() > most ? " ..." : "");
}

}  // namespace homework
