// The kernels' CPU machine: right kernels run on it, and a wrong one is told what is
// wrong. Every kernel below the first three has a bug planted on purpose.

#include <gmock/gmock.h>

#include "device_support.hpp"

using namespace gpt2::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr unsigned threads = 64;

// Right ones
// ----------

__global__ void reverse(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = float(threadIdx.x);
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = s[threads - 1 - threadIdx.x];
}

__global__ void sum_by_warps(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = 1;
    __syncwarp();
    float sum = 0;
    for (unsigned lane = 0; lane < 32; ++lane) sum += s[threadIdx.x / 32 * 32 + lane];
    __syncwarp();
    s[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = s[0] + s[32];
}

__global__ void where(float* out) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(&out[block], float(thread));
}

// Barriers
// --------

__global__ void divergent_barrier(float* out) {
    if (threadIdx.x < 32) {
        __syncthreads();
        out[0] = 1;
    } else {
        __syncthreads();
    }
}

__global__ void early_return(float* out) {
    if (threadIdx.x >= 50) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void barrier_in_a_warp_of_two_minds(float* out) {
    if (threadIdx.x == 0)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = 1;
}

// Warp operations
// ---------------

__global__ void half_a_warp(float* out) {
    float v = float(threadIdx.x);
    if (threadIdx.x % 32 < 16) v += __shfl_xor_sync(~0u, v, 1);
    out[threadIdx.x] = v;
}

__global__ void not_in_its_mask(float* out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffu, float(threadIdx.x), 1);
}

__global__ void from_outside_the_mask(float* out) {
    float v = float(threadIdx.x);
    if (threadIdx.x % 32 < 16) v += __shfl_xor_sync(0xffffu, v, 16);
    out[threadIdx.x] = v;
}

__global__ void two_shuffles_at_once(float* out) {
    float v = float(threadIdx.x);
    if (threadIdx.x % 2 == 0)
        v += __shfl_xor_sync(~0u, v, 1);
    else
        v -= __shfl_xor_sync(~0u, v, 1);
    out[threadIdx.x] = v;
}

__global__ void two_masks(float* out) {
    const unsigned mask = threadIdx.x % 32 == 0 ? ~0u : 0xfffffffeu;
    out[threadIdx.x] = __shfl_xor_sync(mask, float(threadIdx.x), 0);
}

// Races
// -----

__global__ void missing_barrier(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = float(threadIdx.x);
    out[threadIdx.x] = s[threads - 1 - threadIdx.x];
}

__global__ void buffer_used_again(float* out) {
    SIMT_SHARED(float, s, threads);
    float sum = 0;
    for (int round = 0; round < 3; ++round) {
        s[threadIdx.x] = float(round);
        __syncthreads();
        sum += s[threads - 1 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

__global__ void missing_syncwarp(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = float(threadIdx.x);
    const float half =
        __shfl_xor_sync(~0u, float(s[threadIdx.x]), 1);  // orders no memory
    out[threadIdx.x] = s[threadIdx.x ^ 1] + half;
}

__global__ void syncwarp_for_a_block(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = float(threadIdx.x);
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 32];
}

__global__ void two_writers(float* out) {
    SIMT_SHARED(float, s, 1);
    s[0] = float(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = s[0];
}

// Memory
// ------

__global__ void never_written(float* out) {
    SIMT_SHARED(float, sum, 1);
    if (threadIdx.x == 0) sum[0] += 1;
    __syncthreads();
    out[threadIdx.x] = sum[0];
}

__global__ void past_shared_memory(float* out) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 1];
}

__global__ void past_dynamic_memory(float* out) {
    SIMT_DYNAMIC_SHARED(float, s);
    s[threadIdx.x + 1] = 0;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void too_much_shared_memory(float* out) {
    SIMT_SHARED(double, s, 7000);
    s[threadIdx.x] = 0;
    out[threadIdx.x] = float(double(s[threadIdx.x]));
}

[[maybe_unused]] __global__ void past_the_end(float* out) { out[threadIdx.x + 1] = 1; }

[[maybe_unused]] __global__ void before_the_start(float* out) {
    out[int(threadIdx.x) - 1] = 1;
}

[[maybe_unused]] __global__ void count_blocks(float* out) {
    if (threadIdx.x == 0) out[0] = out[0] + 1;  // no atomicAdd
}

// ----------------

using Kernel = void (*)(float*);

/// What the machine says of one block of that kernel.
std::string said_of(Kernel kernel, unsigned dynamic = threads * sizeof(float)) {
    const Array<float> out(threads);
    try {
        Stream().launch(kernel, dim3(1), dim3(threads), dynamic, out.data());
    } catch (const simt::Error& error) {
        return error.what();
    }
    return "nothing";
}

struct Bug {
    const char* name;
    Kernel kernel;
    std::vector<std::string> says;
};

const Bug bugs[] = {
    {"divergent_barrier", divergent_barrier, {"divergent barrier: block (0,0,0)"}},
    {"early_return", early_return, {"deadlock: ", "14 of 64 threads have returned"}},
    {"barrier_in_a_warp_of_two_minds",
     barrier_in_a_warp_of_two_minds,
     {"deadlock: ", "waits for ever; 32 of 64 threads have returned"}},
    {"half_a_warp", half_a_warp, {"deadlock: ", "32 of 64 threads have returned"}},
    {"not_in_its_mask", not_in_its_mask, {"not in its own mask: ", "thread ("}},
    {"from_outside_the_mask",
     from_outside_the_mask,
     {"shuffle from lane ", "outside the mask: "}},
    {"two_shuffles_at_once", two_shuffles_at_once, {"divergent warp operation: "}},
    {"two_masks", two_masks, {"deadlock: ", "62 of 64 threads have returned"}},
    {"missing_barrier",
     missing_barrier,
     {"race on shared memory: ", "s[", "no barrier between"}},
    {"buffer_used_again",
     buffer_used_again,
     {"race on shared memory: ", "with no barrier between"}},
    {"missing_syncwarp",
     missing_syncwarp,
     {"race on shared memory: ", "s[", "no barrier between"}},
    {"syncwarp_for_a_block",
     syncwarp_for_a_block,
     {"race on shared memory: ", "reads s["}},
    {"two_writers", two_writers, {"race on shared memory: ", "writes s[0]", "wrote"}},
    {"never_written", never_written, {"read before it was written: sum[0]"}},
    {"past_shared_memory", past_shared_memory, {"shared memory: s[64] of 64: "}},
    {"past_dynamic_memory", past_dynamic_memory, {"shared memory: s[64] of 64: "}},
    {"too_much_shared_memory",
     too_much_shared_memory,
     {"more than 49152 bytes of static shared memory: "}},
#ifndef __SANITIZE_ADDRESS__  // which stops the program first, with a message of its own
    {"past_the_end", past_the_end, {"written behind the end of a piece of 256 bytes"}},
    {"before_the_start",
     before_the_start,
     {"written before the start of a piece of 256 bytes"}},
#endif
};

}  // namespace

TEST(CudaMachine, RunsRightKernels) {
    support::in_every_order([] {
        Stream stream;
        const Array<float> out(3 * threads);
        stream.launch(reverse, dim3(3), dim3(threads), 0, out.data());
        for (unsigned i = 0; i < 3 * threads; ++i)
            EXPECT_EQ(out.data()[i], float(threads - 1 - i % threads));

        stream.launch(sum_by_warps, dim3(1), dim3(threads), 0, out.data());
        for (unsigned i = 0; i < threads; ++i) EXPECT_EQ(out.data()[i], float(threads));

        const auto sums = support::on_device(std::vector<float>(2 * 3 * 4));
        stream.launch(where, dim3(2, 3, 4), dim3(5, 2, 3), 0, sums.data());
        for (const float sum : support::on_host(sums)) EXPECT_EQ(sum, 29.0f * 30 / 2);
    });
}

// Whatever the order in which threads take their turns: a schedule that hides a bug on
// one machine must not hide it here.
TEST(CudaMachine, SaysWhatIsWrong) {
    for (const Bug& bug : bugs)
        support::in_every_order([&] {
            const std::string said = said_of(bug.kernel);
            for (const std::string& part : bug.says)
                EXPECT_THAT(said, HasSubstr(part)) << bug.name;
            EXPECT_EQ(said.find('\n'), std::string::npos);
        });
}

// In global memory it is the sanitizers that see what went wrong.
#ifdef __SANITIZE_ADDRESS__
TEST(CudaMachineDeathTest, TheAddressSanitizerSeesTheEndOfMemory) {
    EXPECT_DEATH(said_of(past_the_end), "heap-buffer-overflow");
    EXPECT_DEATH(said_of(before_the_start), "heap-buffer-overflow");
}
#endif
#ifdef __SANITIZE_THREAD__
TEST(CudaMachineDeathTest, TheThreadSanitizerSeesBlocksRace) {
    const auto race = [] {
        const auto out = support::on_device(std::vector<float>(threads));
        Stream().launch(count_blocks, dim3(4), dim3(threads), 0, out.data());
        std::exit(0);
    };
    EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
}
#endif

TEST(CudaMachine, NamesThePlacesInTheSource) {
    const std::string said = said_of(divergent_barrier);
    EXPECT_THAT(said,
                AllOf(HasSubstr("thread (63,0,0) at "), HasSubstr("thread (0,0,0) at "),
                      HasSubstr("cuda_machine_test.cpp:")));
}

TEST(CudaMachine, GoesOnAfterAnError) {
    EXPECT_NE(said_of(early_return), "nothing");
    EXPECT_EQ(said_of(reverse), "nothing");
}

TEST(CudaMachine, RefusesLaunchesThatAGpuWould) {
    const auto said = [](dim3 grid, dim3 block, std::size_t dynamic) -> std::string {
        const Array<float> out(threads);
        try {
            Stream().launch(reverse, grid, block, dynamic, out.data());
        } catch (const simt::Error& error) {
            return error.what();
        }
        return "nothing";
    };
    EXPECT_THAT(said(dim3(1), dim3(1025), 0), HasSubstr("1 to 1024 threads in a block"));
    EXPECT_THAT(said(dim3(1), dim3(0), 0), HasSubstr("found 0"));
    EXPECT_THAT(said(dim3(1, 65536), dim3(32), 0), HasSubstr("a grid of 1 x 65536 x 1"));
    EXPECT_THAT(said(dim3(1), dim3(32), 240 << 10), HasSubstr("232448 bytes of shared"));
}

// A graph keeps the arguments that it was recorded with: what changes from one launch to
// the next must be read through a pointer.
TEST(CudaMachine, AGraphFreezesItsArguments) {
    const auto by_value = [](int position, int* out) { *out = position; };
    const auto by_pointer = [](const int* position, int* out) { *out = *position; };
    Stream stream;
    const auto position = support::on_device(std::vector{0});
    const auto out = support::on_device(std::vector{-1, -1});
    const Graph graph(stream, [&] {
        stream.launch(+by_value, dim3(1), dim3(1), 0, *position.data(), out.data());
        stream.launch(+by_pointer, dim3(1), dim3(1), 0, position.data(), out.data() + 1);
    });
    EXPECT_EQ(support::on_host(out), (std::vector{-1, -1})) << "recorded, not run";
    for (*position.data() = 0; *position.data() < 3; ++*position.data()) {
        graph.launch(stream);
        EXPECT_EQ(support::on_host(out), (std::vector{0, *position.data()}));
    }
}

// What the chapter on GPUs prints of a kernel.
TEST(CudaMachine, Counts) {
    const simt::Counts before = simt::counts;
    const Array<float> out(3 * threads);
    Stream().launch(reverse, dim3(3), dim3(threads), 0, out.data());
    Stream().launch(sum_by_warps, dim3(1), dim3(threads), 0, out.data());
    EXPECT_EQ(simt::counts.launches - before.launches, 2u);
    EXPECT_EQ(simt::counts.barriers - before.barriers, 4u);
    EXPECT_EQ(simt::counts.warp_operations - before.warp_operations, 4u);
    EXPECT_EQ(simt::counts.shared_writes - before.shared_writes, 5u * threads);
    EXPECT_EQ(simt::counts.shared_reads - before.shared_reads, (3u + 32 + 2) * threads);
}
