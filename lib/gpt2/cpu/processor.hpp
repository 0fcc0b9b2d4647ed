#pragma once

#include <cstdint>

namespace gpt2::cpu {

/// The instruction set that the library was compiled for, as one of Highway's target
/// bits.
extern const std::int64_t built_for;

/// What is wrong with running a program built for one target on a processor that supports
/// these targets, or null where nothing is.
const char* processor_error(std::int64_t built_for, std::int64_t supported);

/// Ends the process with one line and status 2 where this processor lacks what the
/// library was built for. Runs by itself before any static object of a program is made;
/// a program calls it again only so that the linker keeps it.
void require_processor();

}  // namespace gpt2::cpu
