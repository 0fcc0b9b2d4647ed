#pragma once

#include <string>
#include <vector>

namespace lab {

/// A table in plain text. A cell that is too long for its column is wrapped at blanks.
class Table {
public:
    /// How one column looks.
    struct Column {
        std::string header;  ///< in the first line
        int most = 40;       ///< characters, at least 1
        bool right = false;  ///< numbers stand at the right
    };

    /// A table without rows.
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// @param cells  one for each column
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// Whether no row was added yet: such a table is better not printed.
    bool empty() const { return rows_.empty(); }

    /// All lines, each ended by a newline and free of blanks at its end.
    std::string text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace lab
