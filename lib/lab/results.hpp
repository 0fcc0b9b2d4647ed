#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/exhibit.hpp"
#include "lab/gpu_ceilings.hpp"
#include "lab/measured.hpp"
#include "ledger/machine.hpp"

namespace lab {

/// A figure that the course prints.
struct Published {
    std::optional<double> value;           ///< absent for a figure that is no number
    std::string unit;                      ///< as in Row; empty for a bare number
    std::string printed;                   ///< as the course words it; may be empty
    std::optional<double> tolerance = {};  ///< of an exact figure; not in results files
};

/// One line of a chapter's table: predicted, measured, printed by the course.
struct Row {
    std::string id;                   ///< the course's id for the figure, where it has it
    std::string what;                 ///< in words, for the table
    std::string unit;                 ///< of all three figures, such as "s" or "times"
    std::optional<double> predicted;  ///< by the ledger; absent where it cannot say
    Measured measured;                ///< over the runs that counted
    std::optional<Published> published;  ///< absent where the course has no such figure
};

/// A figure without a prediction, such as one that follows from the model's shape.
struct Note {
    std::string id;                      ///< as in Row
    std::string what;                    ///< in words
    double value = 0;                    ///< computed
    std::string unit;                    ///< empty for a bare number
    std::optional<Published> published;  ///< as in Row
};

/// Something that must hold on every machine; no timing is one.
struct Check {
    std::string id;      ///< for programs and tests
    std::string what;    ///< a sentence, true if it holds
    bool holds = false;  ///< where it is false, the program's exit status is 1
    std::string detail;  ///< the figures behind it; may be empty
};

/// Where a run took place.
struct MachineInfo {
    std::string cpu;                      ///< as the system names it
    std::string slug;                     ///< names a folder, such as "amd-epyc-2-cores"
    int cores = 0;                        ///< processors that the process may use
    int threads = 0;                      ///< that the model used
    std::int64_t memory_bytes = 0;        ///< 0 where the system does not say
    ledger::Machine ceilings{};           ///< measured when the program began
    std::optional<GpuCeilings> gpu = {};  ///< absent where none was worked on
};

/// The first model that a chapter loaded.
struct ModelInfo {
    std::string name;               ///< of its directory
    std::string origin;             ///< its directory, the shipped ones from `data` on
    std::string shape;              ///< "own", or the preset that it was widened to
    std::string dtype;              ///< of the weights in memory
    std::string kv;                 ///< of the KV cache
    std::int64_t parameters = 0;    ///< at that shape, the tied head counted once
    std::int64_t weight_bytes = 0;  ///< in memory, padding included
};

/// All that a run of one chapter found out: what its results file holds.
struct Results {
    std::string chapter;   ///< its folder, such as "04_read_vs_write"
    std::string title;     ///< of the chapter
    std::string question;  ///< that it answers, in one line
    std::string keep;      ///< the one sentence to keep
    bool quick = false;    ///< run with `--quick`: figures to look at, not to keep
    std::string headline;  ///< the id of the row that stands for the chapter, or empty
    std::string date;      ///< of the start, ISO 8601, UTC
    std::string commit;    ///< of the source, as source_commit() gives it
    std::string build;     ///< as build_description() gives it
    MachineInfo machine;   ///< where it ran
    std::optional<ModelInfo> model;  ///< absent where a chapter loads none
    std::vector<Row> rows;           ///< in the order of the table
    std::vector<Note> notes;         ///< figures that were computed, not measured
    std::vector<Check> checks;       ///< all must hold
    std::vector<Exhibit> exhibits;   ///< the numbers behind the book's figures

    /// How many of the checks hold.
    int checks_held() const;

    /// The row that `headline` names, or null where there is none.
    const Row* headline_row() const;

    /// Null where there is none of this id.
    const Exhibit* find_exhibit(const std::string& id) const;
};

/// The content of a results file.
std::string to_json(const Results& results);

/// Reads back what `to_json` wrote.
/// @param where  named in messages, such as the file
/// @throws BadInput for anything that `to_json` would not write.
Results parse_results(std::string_view json, const std::string& where);

/// The same for a file of at most 64 MiB.
/// @throws BadInput as parse_results, and where the file cannot be read.
Results read_results(const std::filesystem::path& file);

}  // namespace lab
