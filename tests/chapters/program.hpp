#pragma once

// Runs a chapter's program and keeps what it says.

#include <sys/wait.h>

#include <cstdlib>
#include <string>

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

}  // namespace support
