#pragma once

// A chapter's program, run from the outside.

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "support.hpp"

namespace support {

struct Outcome {
    int status;
    std::string out, err;
};

inline Outcome run_chapter(const std::string& chapter, const std::string& arguments) {
    const TempDir dir;
    const std::string command = std::string(PROGRAMS "/") + chapter + " " + arguments +
                                " >" + (dir / "out").string() + " 2>" +
                                (dir / "err").string() + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(dir / "out"),
            slurp(dir / "err")};
}

}  // namespace support
