#pragma once

/// One kernel source, two machines.
///
/// nvcc compiles the kernels of this folder for a GPU; there this header adds next to
/// nothing. Any other compiler builds the very same text for the machine in cpu_machine/:
/// a debugger steps through it, a sanitizer watches it, and a race or a barrier that not
/// all threads reach is an error with a place in the source.
///
/// So a kernel keeps to what both understand: threadIdx and its kin, __syncthreads,
/// __syncwarp, __shfl_xor_sync, __threadfence, atomicAdd; shared memory through
/// SIMT_SHARED and SIMT_DYNAMIC_SHARED; loops unrolled by SIMT_UNROLL, or n rounds at a
/// time by SIMT_UNROLL_BY(n); and, from below, simt::sync_grid and simt::prefetch.
///
/// To step through a kernel, stop where one thread is, such as
/// `break multiply.hpp:203 if threadIdx.x == 3 && blockIdx.x == 1`.
///
/// All that is compiled for both stands in an inner namespace of its machine's name: a
/// program may hold both.

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define SIMT_MACHINE gpu
#define SIMT_UNROLL _Pragma("unroll")
#define SIMT_UNROLL_BY(n) SIMT_PRAGMA(unroll n)
#define SIMT_PRAGMA(x) _Pragma(#x)
#define SIMT_SHARED(T, name, size) __shared__ T name[size]
#define SIMT_DYNAMIC_SHARED(T, name)                              \
    extern __shared__ __align__(16) unsigned char simt_dynamic[]; \
    T* name = reinterpret_cast<T*>(simt_dynamic)

namespace simt {

/// A barrier of all threads of all blocks, in a cooperative launch. Each block does
/// `meanwhile` between its own arrival and the wait for the others: some of them may be
/// beyond the barrier by then.
template <class F>
__device__ void sync_grid(F meanwhile) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    auto arrival = grid.barrier_arrive();
    meanwhile();
    grid.barrier_wait(static_cast<decltype(arrival)&&>(arrival));
}

/// Asks memory for the 128 bytes around a place, to be kept in the second-level cache.
__device__ inline void prefetch(const void* place) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}

}  // namespace simt

#else
#include "gpt2/cuda/cpu_machine/machine.hpp"
#include "gpt2/cuda/cpu_machine/shared.hpp"

#define SIMT_MACHINE cpu_machine
#define SIMT_UNROLL
#define SIMT_UNROLL_BY(n)
#endif

namespace simt {
/// Threads that run in step and can look into each other's registers.
inline constexpr int warp_size = 32;
}  // namespace simt
