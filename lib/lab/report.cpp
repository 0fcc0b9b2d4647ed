#include "lab/report.hpp"

#include <fmt/format.h>

#include "lab/format.hpp"
#include "lab/table.hpp"

namespace lab {

namespace {

std::string course(const std::optional<Published>& published) {
    if (!published) return "";
    if (!published->printed.empty()) return published->printed;
    return published->value ? quantity(*published->value, published->unit) : "";
}

std::string range(const Measured& measured, const std::string& unit) {
    return fmt::format("{} ({}..{})", cell(measured.median, unit),
                       cell(measured.min, unit), cell(measured.max, unit));
}

std::string check_line(const Check& check) {
    return fmt::format("{}  {}{}\n", check.holds ? "holds " : "FAILED", check.what,
                       check.detail.empty() ? "" : ": " + check.detail);
}

}  // namespace

std::string report(const Results& results) {
    std::string out;
    if (!results.rows.empty()) {
        Table table({{"what", 30},
                     {"unit", 10},
                     {"predicted", 12, true},
                     {"measured (min..max)", 30, true},
                     {"off by", 7, true},
                     {"the course printed", 20}});
        for (const Row& row : results.rows)
            table.add({row.what, row.unit,
                       row.predicted ? cell(*row.predicted, row.unit) : "",
                       range(row.measured, row.unit),
                       row.predicted ? off_by(row.measured.median, *row.predicted) : "",
                       course(row.published)});
        out += table.text() + "\n";
    }
    if (!results.notes.empty()) {
        Table table({{"follows from the shape", 50},
                     {"value", 24, true},
                     {"the course printed", 28}});
        for (const Note& note : results.notes)
            table.add(
                {note.what, quantity(note.value, note.unit), course(note.published)});
        out += table.text() + "\n";
    }
    for (const Check& check : results.checks) out += check_line(check);
    if (!results.checks.empty()) out += "\n";
    if (!results.keep.empty()) out += results.keep + "\n";
    return out;
}

std::string summary(std::span<const Results> chapters) {
    Table table({{"chapter", 18},
                 {"question", 34},
                 {"predicted", 12, true},
                 {"measured", 12, true},
                 {"the course printed", 14},
                 {"checks", 6, true}});
    std::string failed;
    for (const Results& results : chapters) {
        std::string predicted, measured, printed;
        if (const Row* const row = results.headline_row()) {
            if (row->predicted) predicted = quantity(*row->predicted, row->unit);
            measured = quantity(row->measured.median, row->unit);
            printed = course(row->published);
        }
        table.add({results.chapter, results.question, predicted, measured, printed,
                   fmt::format("{}/{}", results.checks_held(), results.checks.size())});
        for (const Check& check : results.checks)
            if (!check.holds) failed += results.chapter + ": " + check_line(check);
    }
    return table.text() + (failed.empty() ? "" : "\n" + failed);
}

}  // namespace lab
