#pragma once

#include "ledger/machine.hpp"

namespace lab {

/// Measures the two ceilings of this machine, in about a second, with nothing of GPT-2 in
/// sight: how fast memory can be read, and how fast the vector units can multiply and add
/// 32-bit floats. For what never leaves the last cache, how fast that can be read.
///
/// Each is the sum over `threads` pinned threads, all at work at once, of a thread's
/// median over several repeats. The memory read is 256 MiB or four times the largest
/// cache, less on a machine that has little. Of that cache three quarters are read: the
/// rest is left to others. Where the system does not say how large it is, or it proves no
/// faster than memory, the machine has no `cache_bytes`.
///
/// @param threads  1 ... 256
/// @throws std::bad_alloc
ledger::Machine measure_ceilings(int threads);

/// The first one alone, in less than a second: bytes per second.
double measure_read_bandwidth(int threads);

/// The second one alone, in less than a second: FLOPs per second.
double measure_multiply_add_peak(int threads);

}  // namespace lab
