#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "gpt2/cuda/cpu_machine/fiber.hpp"

/// The machine that CUDA kernels run on where there is no GPU: see simt.hpp.
///
/// The blocks of a grid run one after another; those of a cooperative launch, which wait
/// for each other, all at once. Threads are fibers: each runs until it meets a barrier or
/// a warp operation, then another one does, and when all that must meet have come they go
/// on. What CUDA leaves undefined throws simt::Error
/// with the two places in the source where threads are at odds.

// CUDA's vocabulary
// -----------------

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

inline uint3 threadIdx, blockIdx;  // those of the thread that runs
inline dim3 blockDim, gridDim;

namespace simt {

/// A kernel did what a GPU leaves undefined, or would never have come to an end.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// In which order blocks, and the threads of a block, take their turns. A right kernel
/// gives the same result in each.
enum class Order { forward, reverse, shuffled };

/// The order from now on; `seed` is for shuffled.
void set_order(Order order, unsigned seed = 1);

/// What the kernels did since the machine's start. (What they did to memory: see
/// log.hpp.)
struct Counts {
    std::uint64_t launches, graphs;             ///< kernels; graphs of them
    std::uint64_t barriers, warp_operations;    ///< of a block; of a warp
    std::uint64_t shuffles;                     ///< of the warp operations
    std::uint64_t shared_reads, shared_writes;  ///< of single numbers
    std::uint64_t atomics;                      ///< by single threads
    std::uint64_t grid_barriers;                ///< of a whole grid
};
extern Counts counts;

/// One more of something that the current thread has done.
void count(std::uint64_t Counts::*what);

/// A place in the source. As a default argument it is the caller's.
struct Place {
    const char* file;
    unsigned line;
};
#define SIMT_HERE simt::Place at = {__builtin_FILE(), __builtin_LINE()}

// How a thread waits
// ------------------

enum class State : std::uint8_t {
    ready,
    at_warp_operation,
    at_barrier,
    at_grid_barrier,
    returned
};
enum class Operation : std::uint8_t { none, shuffle, order };

struct Block;

/// One CUDA thread.
struct Thread {
    Fiber fiber;
    Block* block = nullptr;
    uint3 index{};
    unsigned number = 0, lane = 0, warp = 0;  ///< within the block, the warp, the block
    State state = State::returned;
    Place at{};                             ///< where it waits
    Operation operation = Operation::none;  ///< and for what: the lanes of `mask`
    std::uint32_t mask = 0;
    int source = 0;                       ///< the lane whose value it asks for
    std::uint64_t value = 0, result = 0;  ///< handed in, handed out
    unsigned barriers = 0,
             warp_orders = 0;  ///< passed so far: its clock (see shared.hpp)
};

extern Thread* current;  ///< the thread that runs

/// What is wrong, in parts: text, a number, or "block (0,0,0) thread (3,0,0) at
/// rows.hpp:17"
void say(const char* text);
void say(std::size_t number);
void say(const Thread& thread);

/// Leaves the kernel for good: the launch throws Error with what was said.
[[noreturn]] void give_up();

/// Both. A fiber that is left for good destroys nothing: so parts, and no strings.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    (say(parts), ...);
    give_up();
}

void barrier(Place at);
unsigned arrive_at_grid_barrier(Place at);
void wait_at_grid_barrier(unsigned number);
std::uint64_t warp_operation(Operation operation, std::uint32_t mask, std::uint64_t value,
                             int source, Place at);

template <class T>
T shuffle(std::uint32_t mask, T value, int source, Place at) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof value);
    raw = warp_operation(Operation::shuffle, mask, raw, source, at);
    std::memcpy(&value, &raw, sizeof value);
    return value;
}

/// The machine has few: then each block of a kernel has several rows or columns to do, as
/// on a GPU. Each holds one block of a cooperative launch.
inline constexpr unsigned multiprocessors = 4;

/// Runs all threads of all blocks to their end.
/// @param dynamic_bytes  of shared memory, for SIMT_DYNAMIC_SHARED
/// @param cooperative    all blocks at once
void run(dim3 grid, dim3 block, std::size_t dynamic_bytes, std::function<void()> kernel,
         bool cooperative = false);

// What simt.hpp adds to CUDA's vocabulary
// ---------------------------------------

/// The barrier of a cooperative launch. What is done meanwhile is in no order with what
/// others do beyond it.
template <class F>
void sync_grid(F meanwhile, SIMT_HERE) {
    const unsigned number = arrive_at_grid_barrier(at);
    meanwhile();
    wait_at_grid_barrier(number);
}

/// Does nothing, but a sanitizer sees whether there is something at that place.
inline void prefetch(const void* place) { *static_cast<const volatile char*>(place); }

}  // namespace simt

inline void __syncthreads(SIMT_HERE) { simt::barrier(at); }

/// Unlike a shuffle, this orders what the lanes read and write.
inline void __syncwarp(std::uint32_t mask = ~0u, SIMT_HERE) {
    simt::warp_operation(simt::Operation::order, mask, 0, 0, at);
}

template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int bits, SIMT_HERE) {
    return simt::shuffle(mask, value, int(simt::current->lane) ^ (bits & 31), at);
}

inline void __threadfence() {}  // the atomics are sequentially consistent
inline void __threadfence_system() {}

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> value) {
    simt::count(&simt::Counts::atomics);
    return std::atomic_ref<T>(*p).fetch_add(value);
}

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline float __expf(float x) { return std::exp(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
