#pragma once

namespace lab {

/// The program `summary`: prints one table over results files; with `--machine` only the
/// slug of the machine that a file comes from. Exit status: 0; 1 when a check does not
/// hold; 2 for bad input.
int summary_program(int argc, const char* const* argv);

}  // namespace lab
