#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/gemm.hpp"
#include "gpt2/cuda/numbers.hpp"
#include "gpt2/error.hpp"
#include "lab/gpu_ceilings.hpp"
#include "lab/measured.hpp"

namespace lab {

namespace {

using namespace gpt2::cuda;

constexpr int threads = 256;  // of a block, wherever nothing else is said

/// Each thread has four times 16 bytes on their way at once. The sum is looked at, or the
/// compiler would leave the reading out.
__global__ void __launch_bounds__(threads)
    read_all(const uint4* from, std::size_t count, unsigned* found) {
    const std::size_t all = std::size_t(gridDim.x) * threads;
    unsigned sum = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < count;
         i += 4 * all) {
        uint4 some[4];
        SIMT_UNROLL
        for (int a = 0; a < 4; ++a)
            some[a] = i + a * all < count ? from[i + a * all] : uint4{};
        SIMT_UNROLL
        for (int a = 0; a < 4; ++a) sum |= some[a].x | some[a].y | some[a].z | some[a].w;
    }
    if (sum != 0) *found = sum;
}

/// Numbers in [-1, 1) that look random: with zeros the units would draw less power and
/// run faster than they ever do at work.
template <class T>
__global__ void __launch_bounds__(threads) fill(T* to, std::size_t count) {
    for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < count;
         i += std::size_t(gridDim.x) * threads) {
        std::uint32_t x = std::uint32_t(i) * 2654435769u;
        x = (x ^ x >> 15) * 2246822519u;
        x ^= x >> 13;
        to[i] = narrow<T>(float(x) * 0x1p-31f - 1);
    }
}

__global__ void nothing() {}

__global__ void __launch_bounds__(threads) meet(int times) {
    for (int i = 0; i < times; ++i) cooperative_groups::this_grid().sync();
}

/// Seconds of one `work`, of which `times` are given before the clock is looked at again:
/// the median of nine, after one that warms up.
template <class F>
Seconds time(Stream& stream, int times, F work) {
    std::vector<double> seconds;
    for (int look = -1; look < 9; ++look) {
        const Stopwatch watch;
        for (int i = 0; i < times; ++i) work();
        stream.wait();
        if (look >= 0) seconds.push_back(watch.seconds() / times);
    }
    return summarize(std::move(seconds)).median;
}

/// What there is for reading and copying: 1 GiB, far more than any cache.
constexpr std::size_t bytes = std::size_t(1) << 30;

double read_bandwidth(Stream& stream) {
    const Array<uint4> memory(bytes / sizeof(uint4));
    const Array<unsigned> found(1);
    stream.clear(memory.data(), memory.bytes());
    stream.clear(found.data(), found.bytes());
    double best = 0;
    // Few blocks that stay, or many that come in turn: which is better differs.
    for (const int blocks : {4, 8, 32, 128}) {
        const unsigned grid = unsigned(blocks * multiprocessors());
        const Seconds seconds = time(stream, 10, [&] {
            stream.launch(read_all, dim3(grid), dim3(threads), 0, memory.data(),
                          memory.size(), found.data());
        });
        best = std::max(best, double(bytes) / seconds);
    }
    unsigned sum = 0;
    stream.copy(&sum, found.data(), sizeof sum);
    stream.wait();
    if (sum != 0) throw gpt2::Error("ceilings: memory was not read back as written");
    return best;
}

double copy_bandwidth(Stream& stream) {
    const Array<std::byte> memory(bytes);
    stream.clear(memory.data(), memory.bytes());
    std::byte* const middle = memory.data() + bytes / 2;
    const Seconds seconds =
        time(stream, 10, [&] { stream.copy(middle, memory.data(), bytes / 2); });
    return double(bytes) / seconds;
}

/// FLOP/s where two matrices of n x n numbers are multiplied.
template <class T>
double multiply_add_rate(Stream& stream, int n, gpt2::DType dtype) {
    const std::size_t size = std::size_t(n) * n;
    const Array<T> x(size), w(size);
    const Array<float> y(size);
    for (const Array<T>& one : {x, w})
        stream.launch(fill<T>, dim3(4096), dim3(threads), 0, one.data(), one.size());
    const Gemm gemm;
    const Seconds seconds = time(stream, 4, [&] {
        gemm.multiply(
            stream,
            Product{n, n, n, {x.data(), n}, {w.data(), n}, true, {y.data(), n}, dtype});
    });
    return 2.0 * n * n * n / seconds;
}

Seconds graph_node(Stream& stream) {
    constexpr int nodes = 1000;
    const Graph graph(stream, [&] {
        for (int i = 0; i < nodes; ++i) stream.launch(nothing, dim3(1), dim3(32), 0);
    });
    return time(stream, 2, [&] { graph.launch(stream); }) / nodes;
}

/// One block on every multiprocessor. What the launch itself takes is left out.
Seconds grid_barrier(Stream& stream) {
    cudaLaunchAttribute together{};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(multiprocessors()));
    config.blockDim = dim3(threads);
    config.stream = static_cast<cudaStream_t>(stream.handle());
    config.attrs = &together;
    config.numAttrs = 1;
    const auto seconds = [&](int barriers) {
        return time(stream, 1, [&] {
            check(cudaLaunchKernelEx(&config, meet, barriers), "grid barrier");
        });
    };
    const Seconds few = seconds(1000);
    return (seconds(5000) - few) / 4000;
}

}  // namespace

GpuCeilings measure_gpu_ceilings() {
    require_device();
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    Stream stream;
    GpuCeilings found;
    found.name = properties.name;
    found.multiprocessors = properties.multiProcessorCount;
    found.read_bandwidth = read_bandwidth(stream);
    found.copy_bandwidth = copy_bandwidth(stream);
    found.multiply_add_f32 = multiply_add_rate<float>(stream, 4096, gpt2::DType::f32);
    found.matrix_bf16 = multiply_add_rate<bf16>(stream, 8192, gpt2::DType::bf16);
    found.graph_node = graph_node(stream);
    found.grid_barrier = grid_barrier(stream);
    return found;
}

}  // namespace lab
