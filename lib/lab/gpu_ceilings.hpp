#pragma once

#include <string>

#include "gpt2/dtype.hpp"
#include "ledger/cost.hpp"

namespace lab {

/// What a GPU can do at most, and what two of its steps cost at least.
struct GpuCeilings {
    std::string name;                  ///< as the driver names it
    int multiprocessors = 0;           ///< what a thread block runs on
    double read_bandwidth = 0;         ///< bytes/s out of its memory
    double copy_bandwidth = 0;         ///< bytes/s, those read and those written together
    double multiply_add_f32 = 0;       ///< FLOP/s of cuBLAS on large squares
    double matrix_bf16 = 0;            ///< the same for bf16 with sums in f32
    ledger::Seconds graph_node = 0;    ///< of a kernel in a graph that does nothing
    ledger::Seconds grid_barrier = 0;  ///< until all thread blocks have met

    /// What the ledger predicts from, for weights of that type: two bytes wide, they go
    /// through the matrix units.
    ledger::Machine machine(gpt2::DType weights) const {
        return {.read_bandwidth = read_bandwidth,
                .multiply_add_peak =
                    weights == gpt2::DType::f32 ? multiply_add_f32 : matrix_bf16,
                .threads = 1};
    }
};

/// Measures them on the first GPU, in two or three seconds, with nothing of GPT-2 in
/// sight. Each is a median; of the ways to read memory the best one counts.
///
/// @throws gpt2::Unavailable where there is no GPU, or the program was built without CUDA
/// @throws std::bad_alloc where less than 2 GiB of the GPU's memory are free
GpuCeilings measure_gpu_ceilings();

}  // namespace lab
