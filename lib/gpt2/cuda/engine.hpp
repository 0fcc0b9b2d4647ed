#pragma once

#include <memory>

#include "gpt2/model.hpp"
#include "gpt2/weights.hpp"

namespace gpt2::cuda {

/// How a sequence writes on, in Model::write.
enum class Decode {
    /// A step is recorded once, as a graph of kernels, and launched for every token.
    graph,
    /// One kernel stays on the device, for several tokens at a time (see persistent.hpp).
    /// Where it cannot, the graph does it: the device must launch cooperatively, and
    /// heads have at most 64 channels.
    persistent,
};

/// The CUDA engine: Model::forward on an NVIDIA GPU, with the KV cache in its memory.
///
/// Its logits are those of the CPU engine but for rounding: sums are taken in another
/// order, and where many rows are multiplied at once with narrow weights the rows are
/// rounded to the weights' type too.
///
/// @param dtype  of the weights: f32, f16 or bf16
/// @param kv     of the KV cache: f32 or f16
/// @param decode  the same tokens either way, but for rounding
/// @throws Unavailable where there is no GPU, or the program was built without CUDA
/// @throws BadInput for another type, or heads of more than 256 channels
std::unique_ptr<Model> load(const Weights& weights, DType dtype, DType kv,
                            Decode decode = Decode::graph);

/// The same engine, from the same source, on the CPU: every CUDA thread is a fiber (see
/// simt.hpp). Some thousand times slower; for tests, debuggers and readers. It is in the
/// library `gpt2_simt`.
std::unique_ptr<Model> load_emulated(const Weights& weights, DType dtype, DType kv,
                                     Decode decode = Decode::graph);

}  // namespace gpt2::cuda
