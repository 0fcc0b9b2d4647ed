#pragma once

// What the benchmarks share. Each file registers its own; main.cpp runs them.

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "gpt2/buffer.hpp"
#include "gpt2/dtype.hpp"
#include "gpt2/kv_cache.hpp"
#include "ledger/cost.hpp"

namespace bench {

/// How weights are stored: whole passes are benchmarked with each of these.
inline constexpr gpt2::DType weight_dtypes[] = {gpt2::DType::f32, gpt2::DType::f16,
                                                gpt2::DType::bf16, gpt2::DType::int8};

/// How keys and values are stored, likewise.
inline constexpr gpt2::DType kv_dtypes[] = {gpt2::DType::f32, gpt2::DType::f16};

/// What holds for all benchmarks.
struct Setup {
    int threads = 0;     ///< at work in each; 0 until the options were read
    bool quick = false;  ///< each runs once, to see that it does: its times mean nothing

    /// Copies of something of `bytes` bytes that a benchmark walks through in turn, so
    /// that it comes from memory each time, as weights do in a pass: 256 MiB of it.
    int copies(std::size_t bytes) const {
        return quick ? 1 : int((std::size_t(256) << 20) / bytes + 1);
    }
};

/// The one that is in force.
Setup& setup();

/// Registers a benchmark that is timed by the clock on the wall.
void add(const std::string& name, std::function<void(benchmark::State&)> body);

// Each registers what its file holds, in the order in which it runs.

void add_matmul();     ///< the matrix routine, and OpenBLAS beside it
void add_attention();  ///< one query behind a context, and a block of them
void add_rows();       ///< layer norm, GELU, softmax; the tokenizer
void add_model();      ///< whole passes, and the start

/// Which BLAS is compared with; "none" where none was found when this was built.
std::string blas_name();

/// Has the BLAS use `threads` threads and pins them as the engine's team is pinned.
/// Called before that team exists: all other threads in the process are then the BLAS's.
void prepare_blas(int threads);

/// Says what one iteration does, by the ledger: its bytes and FLOPs, and both per second.
/// The reporter sets them against the machine's ceilings.
void count(benchmark::State& state, double bytes, double flops);

/// The same for a whole forward pass, or for one of its operations.
void count(benchmark::State& state, std::span<const ledger::Operation> operations);

/// An operation of GPT-2 small's forward pass, by its name in the ledger, in one layer.
ledger::Operation operation(const std::string& name, gpt2::DType weights, gpt2::DType kv,
                            const ledger::Step& step);

/// Random floats in (-1, 1), the same every time.
gpt2::Buffer<float> random_floats(std::size_t count);

/// Puts random keys and values for `positions` positions into an empty cache.
void fill(gpt2::KvCache& cache, int positions);

}  // namespace bench
