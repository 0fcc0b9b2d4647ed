// What kernels do, written down: barrier by barrier, and which memory they ask for.

#include "device_support.hpp"
#include "gpt2/cuda/cpu_machine/log.hpp"

using namespace gpt2::cuda;
using simt::Holds;

namespace {

constexpr unsigned threads = 64;

/// Loads one number of x each, twice its neighbour's; leaves sums in y.
__global__ void neighbours(const float* x, const std::uint16_t* halves, float* y,
                           unsigned* done) {
    SIMT_SHARED(float, s, threads);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = s[threadIdx.x ^ 1] + float(halves[threadIdx.x / 2]);
    sum += __shfl_xor_sync(~0u, sum, 1);
    __syncwarp();
    __syncthreads();
    float& mine = y[blockIdx.x * threads + threadIdx.x];
    mine = mine + sum + x[0];
    if (threadIdx.x == 0) atomicAdd(done, 1u);
}

struct Ran {
    std::vector<simt::Launch> launches;
    std::vector<float> y;
};

/// x is marked as weights, halves as cache; all else is unmarked.
Ran run(unsigned blocks) {
    const auto x = support::on_device(std::vector<float>(threads, 1.0f));
    simt::mark(Holds::weights);
    const auto halves = support::on_device(std::vector<std::uint16_t>(threads / 2, 2));
    simt::mark(Holds::cache);
    const auto y = support::on_device(std::vector<float>(3 * threads, 0.0f));
    const auto done = support::on_device(std::vector<unsigned>(1));
    Stream stream;
    const auto launch = [&](unsigned of) {
        stream.launch(neighbours, dim3(of), dim3(threads), 0, x.data(), halves.data(),
                      y.data(), done.data());
    };
    launch(1);  // nobody writes this one down
    simt::Log log;
    launch(blocks);
    launch(1);
    return {log.launches, support::on_host(y)};
}

}  // namespace

TEST(CudaLog, CountsFromBarrierToBarrier) {
    support::in_every_order([] {
        const auto launches = run(3).launches;
        ASSERT_EQ(launches.size(), 2u);
        EXPECT_EQ(launches[0].blocks(), 3u);
        EXPECT_EQ(launches[1].blocks(), 1u);
        for (const simt::Launch& launch : launches) {
            const std::uint64_t blocks = launch.blocks();
            ASSERT_EQ(launch.stages.size(), 3u);
            const auto& first = launch.stages[0].counts;
            EXPECT_EQ(first.shared_writes, threads * blocks);
            EXPECT_EQ(first.shared_reads + first.shuffles + first.atomics, 0u);
            EXPECT_EQ(first.barriers, blocks);
            const auto& second = launch.stages[1].counts;
            EXPECT_EQ(second.shared_reads, threads * blocks);
            EXPECT_EQ(second.shuffles, 2 * blocks);
            EXPECT_EQ(second.warp_operations, 4 * blocks);
            EXPECT_EQ(second.barriers, blocks);
            EXPECT_EQ(launch.stages[2].counts.atomics, blocks);
            EXPECT_EQ(launch.total().counts.barriers, 2 * blocks);
        }
    });
}

TEST(CudaLog, TellsWhichMemoryIsAskedFor) {
    if (!simt::sees_memory()) GTEST_SKIP() << "a sanitizer has the compiler's calls";
    support::in_every_order([] {
        for (const simt::Launch& launch : run(3).launches) {
            const std::uint64_t blocks = launch.blocks();
            const simt::Traffic x0 = launch.stages[0].of(Holds::weights);
            EXPECT_EQ(x0.loaded, 4 * threads * blocks);
            EXPECT_EQ(x0.first, 4 * threads) << "the other blocks ask again";
            EXPECT_EQ(x0.stored, 0u);
            const simt::Traffic halves = launch.stages[1].of(Holds::cache);
            EXPECT_EQ(halves.loaded, 2 * threads * blocks);
            EXPECT_EQ(halves.first, threads) << "two threads share each";
            const simt::Stage all = launch.total();
            EXPECT_EQ(all.of(Holds::weights).loaded, 2 * 4 * threads * blocks);
            EXPECT_EQ(all.of(Holds::weights).first, 4 * threads);
            EXPECT_EQ(all.of(Holds::other).loaded, 4 * threads * blocks);
            EXPECT_EQ(all.of(Holds::other).stored, 4 * threads * blocks);
            EXPECT_EQ(all.stored(), 4 * threads * blocks);
            EXPECT_EQ(launch.stages[0].stored() + launch.stages[1].stored(), 0u);
        }
    });
}

TEST(CudaLog, ChangesNothingAndEndsWithItsLife) {
    const auto y = run(2).y;
    for (unsigned i = 0; i < 3 * threads; ++i)
        EXPECT_EQ(y[i], i < threads ? 3 * 7 : i < 2 * threads ? 7 : 0);
    EXPECT_EQ(simt::log, nullptr);
    // What is freed is forgotten: new memory in its place is nobody's.
    const auto x = support::on_device(std::vector<float>(threads, 1.0f));
    Stream stream;
    simt::Log log;
    const auto copy = [](const float* from, float* to) { *to = *from; };
    const auto to = support::on_device(std::vector<float>(1));
    stream.launch(+copy, dim3(1), dim3(1), 0, x.data(), to.data());
    ASSERT_EQ(log.launches.size(), 1u);
    const simt::Stage all = log.launches[0].total();
    EXPECT_EQ(all.of(Holds::weights).loaded + all.of(Holds::cache).loaded, 0u);
    EXPECT_EQ(all.of(Holds::other).loaded, simt::sees_memory() ? 4u : 0u);
}
