#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measured.hpp"
#include "ledger/machine.hpp"

namespace lab {

/// A figure that the course prints.
struct Published {
    std::optional<double> value;  ///< absent for a figure that is no number
    std::string unit;
    std::string printed;                   ///< as the course words it; may be empty
    std::optional<double> tolerance = {};  ///< of an exact figure; not in results files
};

struct Row {
    std::string id, what, unit;
    std::optional<double> predicted;
    Measured measured;
    std::optional<Published> published;
};

/// A figure that follows from the model's shape and was not measured.
struct Note {
    std::string id, what;
    double value = 0;
    std::string unit;
    std::optional<Published> published;
};

struct Check {
    std::string id, what;
    bool holds = false;
    std::string detail;
};

struct MachineInfo {
    std::string cpu, slug;
    int cores = 0;    ///< processors that the process may use
    int threads = 0;  ///< that the model used
    std::int64_t memory_bytes = 0;
    ledger::Machine ceilings{};
};

struct ModelInfo {
    std::string name, origin, shape, dtype, kv;
    std::int64_t parameters = 0;
    std::int64_t weight_bytes = 0;  ///< in memory, padding included
};

/// All that a run of one chapter found out: what its results file holds.
struct Results {
    std::string chapter, title, question, keep;
    bool quick = false;
    std::string headline;  ///< the id of the row that stands for the chapter, or empty
    std::string date;      ///< of the start, ISO 8601, UTC
    std::string commit, build;
    MachineInfo machine;
    std::optional<ModelInfo> model;
    std::vector<Row> rows;
    std::vector<Note> notes;
    std::vector<Check> checks;

    int checks_held() const;

    /// The row that `headline` names, or null where there is none.
    const Row* headline_row() const;
};

std::string to_json(const Results& results);

/// @param where  named in messages, such as the file
/// @throws BadInput for anything that `to_json` would not write.
Results parse_results(std::string_view json, const std::string& where);
Results read_results(const std::filesystem::path& file);

/// Throws BadInput where `write_whole_file` would fail, and leaves nothing behind.
void check_writable(const std::filesystem::path& file);

/// Writes a file whole or, on any error, not at all: an older file of that name stays
/// until the new one is complete.
/// @throws BadInput where it cannot be written.
void write_whole_file(const std::filesystem::path& file, std::string_view content);

}  // namespace lab
