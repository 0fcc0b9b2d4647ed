#include "lab/exhibit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpt2/error.hpp"
#include "gpt2/utf8.hpp"
#include "lab/format.hpp"

namespace lab {

void check_exhibit(const Exhibit& exhibit, const std::string& where) {
    const auto fail = [&](const std::string& place, const std::string& expected,
                          const std::string& found) {
        throw gpt2::Error(
            fmt::format("{}: {}: expected {}, found {}", where, place, expected, found));
    };
    const auto& [id, columns, rows] = exhibit;
    if (id.empty()) fail("id", "a name", "none");
    gpt2::check_utf8(id, where + ": id");
    if (columns.empty()) fail("columns", "one or more", "none");
    for (auto column = columns.begin(); column != columns.end(); ++column) {
        gpt2::check_utf8(*column, where + ": columns");
        if (column->empty() || std::find(columns.begin(), column, *column) != column)
            fail("columns", "names of their own", "'" + *column + "'");
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string row = fmt::format("rows[{}]", i);
        if (rows[i].size() != columns.size())
            fail(row, fmt::format("{} cells", columns.size()),
                 std::to_string(rows[i].size()));
        for (const Cell& cell : rows[i])
            if (const double* number = std::get_if<double>(&cell)) {
                if (!std::isfinite(*number))
                    fail(row, "finite numbers", fmt::format("{}", *number));
            } else {
                gpt2::check_utf8(std::get<std::string>(cell), where + ": " + row);
            }
    }
}

}  // namespace lab
