#pragma once

#include <string>
#include <variant>
#include <vector>

namespace lab {

/// A number, or a text such as a token's piece.
using Cell = std::variant<double, std::string>;

/// One row of an exhibit.
using Cells = std::vector<Cell>;

/// The numbers behind a picture: a small table that is written to the results file and
/// not printed.
struct Exhibit {
    std::string id;                    ///< by which a figure asks for it
    std::vector<std::string> columns;  ///< their names
    std::vector<Cells> rows;           ///< each with a cell for every column
};

/// Throws an Error with one line for an exhibit that no reader could draw: an empty id,
/// no columns, two of one name, a row of another length, a number that is not finite, a
/// text that is not UTF-8.
void check_exhibit(const Exhibit& exhibit, const std::string& where);

}  // namespace lab
