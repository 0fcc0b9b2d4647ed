#pragma once

#include <memory>

#include "gpt2/dtype.hpp"
#include "gpt2/model.hpp"
#include "gpt2/weights.hpp"

/// The CPU engine: one tile of fused multiply-adds that all products go through,
/// attention over the blocks of the cache, operations on rows, and a team of threads.
///
/// What it promises beside being right: the logits of a sequence are the same to the last
/// bit, however the sequence is cut, whatever runs beside it, on any number of threads.
namespace gpt2::cpu {

/// A model that runs on the processor.
/// @param dtype    of the matrices in memory; int8 weights are quantised here. Biases,
///                 layer norms and position embeddings (under 1% of the parameters) stay
///                 f32.
/// @param kv       of the KV cache: f32 or f16
/// @param threads  at least 1
/// @throws BadInput where the weights cannot be read, or for another `kv`
std::unique_ptr<Model> load(const Weights& weights, DType dtype, DType kv, int threads);

}  // namespace gpt2::cpu
