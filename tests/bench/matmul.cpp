// The matrix routine at GPT-2 small's five shapes, for one row and for many.

#include "gpt2/cpu/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "gpt2/cpu/team.hpp"

#ifdef GPT2_OPENBLAS
#include <cblas.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#endif

namespace bench {

namespace {

using gpt2::DType;
using gpt2::cpu::Activations;
using gpt2::cpu::Packed;
using gpt2::cpu::Worker;

/// A matrix of the model, [depth, columns].
struct Shape {
    const char* name;  ///< as the ledger has it
    int depth, columns;

    std::size_t parameters() const { return std::size_t(depth) * std::size_t(columns); }
    std::string text() const { return fmt::format("{}x{}", depth, columns); }
};

constexpr Shape shapes[] = {{"attn qkv", 768, 2304},
                            {"attn proj", 768, 768},
                            {"fc", 768, 3072},
                            {"mlp proj", 3072, 768},
                            {"head", 768, 50257}};

/// Products between two looks at the clock. Waking the team takes as long as a small one.
int batch_of(int rows) { return std::clamp(128 / rows, 1, 8); }

Packed random_matrix(const Shape& shape, DType dtype) {
    Packed matrix(shape.depth, shape.columns, dtype);
    const auto panel = random_floats(std::size_t(shape.depth) * 16);
    gpt2::cpu::together(setup().threads, [&](const Worker& worker) {
        const auto [begin, end] = worker.share(matrix.panels());
        for (int p = begin; p < end; ++p)
            matrix.put_panel(p, std::min(16, shape.columns - 16 * p), panel.data());
    });
    return matrix;
}

/// Copies of one matrix that take turns. They are kept as long as benchmarks of the same
/// shape follow: repetitions do not make them again.
template <class Matrix>
const std::vector<Matrix>& copies(const Shape& shape, DType dtype,
                                  const std::function<Matrix()>& make) {
    static std::map<DType, std::vector<Matrix>> all;
    static const char* name = nullptr;
    if (std::exchange(name, shape.name) != shape.name) all.clear();
    const std::size_t bytes = shape.parameters() * gpt2::size_of(dtype);
    std::vector<Matrix>& these = all[dtype];
    while (int(these.size()) < setup().copies(bytes)) these.push_back(make());
    return these;
}

Activations random_rows(int rows, int columns) {
    Activations all(rows, columns);
    all.memory = random_floats(all.memory.size());
    return all;
}

void count_product(benchmark::State& state, const Shape& shape, DType dtype, int rows) {
    const ledger::Operation product =
        operation(shape.name, dtype, DType::f32, {.tokens = rows, .rows = rows});
    count(state, product.bytes, product.flops);
}

void multiply(benchmark::State& state, const Shape& shape, DType dtype, int rows) {
    const auto& w =
        copies<Packed>(shape, dtype, [&] { return random_matrix(shape, dtype); });
    const Activations x = random_rows(rows, shape.depth);
    const Activations y = random_rows(rows, shape.columns);
    const int batch = batch_of(rows);
    std::size_t next = 0;
    while (state.KeepRunningBatch(batch)) {
        gpt2::cpu::together(setup().threads, [&](const Worker& worker) {
            for (int i = 0; i < batch; ++i) {
                matmul(worker, w[(next + std::size_t(i)) % w.size()], x.row(0), x.stride,
                       rows, y.row(0), y.stride, gpt2::cpu::Then::store, nullptr);
                worker.wait();
            }
        });
        next += std::size_t(batch);
    }
    count_product(state, shape, dtype, rows);
}

}  // namespace

#ifdef GPT2_OPENBLAS

namespace {

/// The same product by OpenBLAS. The head it has as the model's file has it: a row for
/// each token.
void multiply_by_blas(benchmark::State& state, const Shape& shape, int rows) {
    const auto& w = copies<gpt2::Buffer<float>>(
        shape, DType::f32, [&] { return random_floats(shape.parameters()); });
    const bool head = shape.columns > 4 * shape.depth;
    const Activations x = random_rows(rows, shape.depth);
    const Activations y = random_rows(rows, shape.columns);
    const int batch = batch_of(rows);
    std::size_t next = 0;
    // Alone in a team of one, the calling thread is pinned to the first processor.
    gpt2::cpu::together(1, [&](const Worker&) {
        while (state.KeepRunningBatch(batch))
            for (int i = 0; i < batch; ++i)
                cblas_sgemm(CblasRowMajor, CblasNoTrans, head ? CblasTrans : CblasNoTrans,
                            rows, shape.columns, shape.depth, 1, x.row(0), x.stride,
                            w[next++ % w.size()].data(),
                            head ? shape.depth : shape.columns, 0, y.row(0), y.stride);
    });
    count_product(state, shape, DType::f32, rows);
}

}  // namespace

std::string blas_name() { return openblas_get_config(); }

void prepare_blas(int threads) {
    openblas_set_num_threads(threads);
    constexpr int n = 256;  // large enough that all threads have come to life
    const auto x = random_floats(n * n), y = random_floats(n * n);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x.data(), n,
                x.data(), n, 0, y.data(), n);
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    std::vector<pid_t> tasks;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
        tasks.push_back(std::stoi(task.path().filename()));
    std::sort(tasks.begin(), tasks.end());
    int processor = -1;
    for (const pid_t task : tasks) {
        do {
            if (++processor == CPU_SETSIZE) return;
        } while (!CPU_ISSET(processor, &allowed));
        if (task == getpid()) continue;  // that one is pinned while it works
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        sched_setaffinity(task, sizeof one, &one);
    }
}

#else

std::string blas_name() { return "none"; }

void prepare_blas(int) {}

#endif

void add_matmul() {
    for (const Shape& shape : shapes)
        for (const int rows : {1, 2, 4, 8, 16, 64, 512}) {
            const auto name = [&](const char* routine, std::string_view dtype) {
                return fmt::format("{}/{}/rows:{}/{}", routine, shape.text(), rows,
                                   dtype);
            };
            for (const DType dtype : {DType::f32, DType::f16, DType::int8})
                add(name("matmul", name_of(dtype)),
                    [=](benchmark::State& s) { multiply(s, shape, dtype, rows); });
#ifdef GPT2_OPENBLAS
            add(name("openblas", "f32"),
                [=](benchmark::State& s) { multiply_by_blas(s, shape, rows); });
#endif
        }
}

}  // namespace bench
