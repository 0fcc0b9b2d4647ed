// The device's memory within the host's reach, and launches that wait until they are
// done: what the tests of kernels, written for the CPU machine, take for granted.

#include <cuda_runtime.h>

#include <cstdlib>

namespace {
// Read by the first call of CUDA's runtime, which comes after this.
[[maybe_unused]] const int set = setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
}  // namespace

#define cudaMalloc cudaMallocManaged
#include "gpt2/cuda/device.cu"
