#include "lab/table.hpp"

#include <algorithm>

namespace lab {

namespace {

using Lines = std::vector<std::string>;

/// Characters of UTF-8 text: bytes that do not continue one.
int width(const std::string& text) {
    return int(std::count_if(text.begin(), text.end(),
                             [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

Lines wrap(const std::string& text, int most) {
    Lines lines(1);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (lines.back().empty())
            lines.back() = word;
        else if (width(lines.back()) + 1 + width(word) <= most)
            lines.back() += " " + word;
        else
            lines.push_back(word);
        begin = end + 1;
    }
    return lines;
}

}  // namespace

std::string Table::text() const {
    std::vector<std::vector<Lines>> cells;  // [rows + header][columns][lines]
    std::vector<int> widths(columns_.size(), 0);
    const auto lay_out = [&](const auto& text_of) {
        std::vector<Lines>& row = cells.emplace_back();
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            row.push_back(wrap(text_of(c), columns_[c].most));
            for (const std::string& line : row.back())
                widths[c] = std::max(widths[c], width(line));
        }
    };
    lay_out([&](std::size_t c) { return columns_[c].header; });
    for (const auto& row : rows_) lay_out([&](std::size_t c) { return row[c]; });

    std::string out;
    const auto end_line = [&] {
        while (!out.empty() && out.back() == ' ') out.pop_back();
        out += '\n';
    };
    const auto print = [&](const std::vector<Lines>& row) {
        std::size_t height = 0;
        for (const Lines& lines : row) height = std::max(height, lines.size());
        for (std::size_t l = 0; l < height; ++l) {
            for (std::size_t c = 0; c < row.size(); ++c) {
                const std::string line = l < row[c].size() ? row[c][l] : "";
                const std::string gap(std::size_t(widths[c] - width(line)), ' ');
                if (c > 0) out += "  ";
                out += columns_[c].right ? gap + line : line + gap;
            }
            end_line();
        }
    };
    print(cells.front());
    for (std::size_t c = 0; c < columns_.size(); ++c)
        out += (c > 0 ? "  " : "") + std::string(std::size_t(widths[c]), '-');
    end_line();
    for (std::size_t r = 1; r < cells.size(); ++r) print(cells[r]);
    return out;
}

}  // namespace lab
