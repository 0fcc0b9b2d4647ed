// Operations on rows, and the tokenizer: neither memory nor multiply-adds limit them, so
// they have no share of a ceiling.

#include "gpt2/cpu/rows.hpp"

#include <fstream>
#include <sstream>

#include "bench.hpp"
#include "gpt2/cpu/matmul.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/load.hpp"

namespace bench {

namespace {

using benchmark::Counter;
using gpt2::cpu::Activations;
using gpt2::cpu::Worker;

/// Runs row(x, y) over rows of n floats that stay in the nearest caches, on all threads.
/// A row is read and written once.
template <class F>
void over_rows(benchmark::State& state, int n, F row) {
    constexpr int rows = 64, sweeps = 8;
    Activations x(rows, n);
    const Activations y(rows, n);
    x.memory = random_floats(x.memory.size());
    while (state.KeepRunningBatch(sweeps))
        gpt2::cpu::together(setup().threads, [&](const Worker& worker) {
            const auto [begin, end] = worker.share(rows);
            for (int sweep = 0; sweep < sweeps; ++sweep)
                for (int r = begin; r < end; ++r) row(x.row(r), y.row(r));
        });
    state.counters["GB/s"] =
        Counter(2.0 * rows * n * sizeof(float) / 1e9, Counter::kIsIterationInvariantRate);
}

void layer_norm(benchmark::State& state) {
    constexpr int n = 768;
    const auto gain = random_floats(n), bias = random_floats(n);
    over_rows(state, n, [&](const float* x, float* y) {
        gpt2::cpu::layer_norm(x, n, gain.data(), bias.data(), y);
    });
}

void gelu(benchmark::State& state) {
    constexpr int n = 3072;
    over_rows(state, n, [](const float* x, float* y) HWY_ATTR {
        for (int c = 0; c < n; c += 16)
            gpt2::cpu::store(gpt2::cpu::gelu(gpt2::cpu::load(x + c)), y + c);
    });
}

void softmax(benchmark::State& state) {
    constexpr int n = 1024;
    over_rows(state, n, [](float* x, float* y) {
        // In place: the weights of one sweep are the scores of the next.
        gpt2::cpu::softmax(x, n, 0.125f, y);
    });
}

void tokenizer(benchmark::State& state) {
    const auto data = gpt2::data_directory();
    const auto tokenizer = gpt2::Tokenizer::load(data / "gpt2-vocab");
    std::stringstream text;
    text << std::ifstream(data / "texts" / "article.txt", std::ios::binary).rdbuf();
    const std::string prose = text.str();
    for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(prose));
    state.counters["MB/s"] =
        Counter(double(prose.size()) / 1e6, Counter::kIsIterationInvariantRate);
}

}  // namespace

void add_rows() {
    add("layer_norm", layer_norm);
    add("gelu", gelu);
    add("softmax", softmax);
    add("tokenizer/gpt2/english", tokenizer);
}

}  // namespace bench
