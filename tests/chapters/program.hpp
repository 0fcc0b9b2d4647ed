#pragma once

// Runs a chapter's program and keeps what it says.

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/results.hpp"
#include "support.hpp"

namespace support {

struct Outcome {
    int status;
    std::string out, err;
};

/// @param arguments  as a shell reads them
inline Outcome run(const std::string& chapter, const std::string& arguments) {
    const TempDir dir;
    const std::string command = std::string(PROGRAMS "/") + chapter + " " + arguments +
                                " >" + (dir / "out").string() + " 2>" +
                                (dir / "err").string() + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(dir / "out"),
            slurp(dir / "err")};
}

/// A run that must end with status 0: what it printed, and its results file.
struct Finished {
    std::string out;
    lab::Results results;
};

inline Finished finish(const std::string& chapter, const std::string& arguments) {
    const TempDir dir;
    const std::string json = (dir / "results.json").string();
    const Outcome outcome = run(chapter, arguments + " --json " + json);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    return {outcome.out, lab::read_results(json)};
}

/// The row of that id, which must be there.
inline const lab::Row& row(const lab::Results& results, const std::string& id) {
    const auto found = std::ranges::find(results.rows, id, &lab::Row::id);
    if (found == results.rows.end()) throw std::runtime_error("no row '" + id + "'");
    return *found;
}

/// The figure of that id, which must be there.
inline double note(const lab::Results& results, const std::string& id) {
    const auto found = std::ranges::find(results.notes, id, &lab::Note::id);
    if (found == results.notes.end()) throw std::runtime_error("no note '" + id + "'");
    return found->value;
}

/// The measured figure of a row that counts: it must come out alike in all runs, and as
/// predicted.
inline double counted(const lab::Results& results, const std::string& id) {
    const lab::Row& one = row(results, id);
    EXPECT_EQ(one.measured.min, one.measured.max) << id;
    EXPECT_NEAR(one.predicted.value_or(0), one.measured.median, 1e-12) << id;
    return one.measured.median;
}

/// A column of an exhibit's cells, of type T.
template <class T = double>
std::vector<T> column(const lab::Results& results, const std::string& id,
                      const std::string& name) {
    const lab::Exhibit* exhibit = results.find_exhibit(id);
    if (!exhibit) throw std::runtime_error("no exhibit '" + id + "'");
    const auto found = std::ranges::find(exhibit->columns, name);
    if (found == exhibit->columns.end()) throw std::runtime_error(id + ": no " + name);
    std::vector<T> cells;
    for (const lab::Cells& row : exhibit->rows)
        cells.push_back(std::get<T>(row[std::size_t(found - exhibit->columns.begin())]));
    return cells;
}

}  // namespace support
