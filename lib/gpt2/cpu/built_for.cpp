#include <hwy/detect_targets.h>

#include "gpt2/cpu/processor.hpp"

// Under -ffast-math sums may be taken in another order and tests for not-a-number
// disappear, and with them the promise of equal bits.
#ifdef __FAST_MATH__
#error "-ffast-math (or -Ofast) breaks this library: build without it"
#endif

namespace gpt2::cpu {

// A constant in the program file, there before any code has run.
constinit const std::int64_t built_for = HWY_STATIC_TARGET;

}  // namespace gpt2::cpu
