#pragma once

#include "ledger/machine.hpp"

namespace lab {

/// Measures the two ceilings of this machine, in about a second, with nothing of GPT-2 in
/// sight: how fast memory can be read, and how fast the vector units can multiply and add
/// 32-bit floats. For what never leaves the last cache, how fast that can be read.
///
/// Each is the sum over `threads` pinned threads, all at work at once, of a thread's
/// median over several repeats. The memory read is 256 MiB or four times the largest
/// cache, less on a machine that has little. What the last cache holds is measured, since
/// systems and virtual machines are often wrong about it: 8 MiB are read again and again,
/// then 16, and so on, as long as they come at least half as fast again as memory does.
///
/// @param threads  1 ... 256
/// @throws std::bad_alloc
ledger::Machine measure_ceilings(int threads);

/// The first one alone, in little more than that many seconds: bytes per second.
double measure_read_bandwidth(int threads, double seconds = 0.5);

/// The second one alone, in less than a second: FLOPs per second.
double measure_multiply_add_peak(int threads);

}  // namespace lab
