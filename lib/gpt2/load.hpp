#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "gpt2/dtype.hpp"
#include "gpt2/model.hpp"
#include "gpt2/tokenizer.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

/// How to run a model.
struct LoadOptions {
    std::string shape = "own";   ///< "own", or a preset's name to widen the model to
    std::string device = "cpu";  ///< "cpu" or "cuda"
    DType dtype = DType::f32;    ///< of the weights in memory; int8 is made on loading
    DType kv = DType::f32;       ///< of the KV cache: f32 or f16
    int threads = 0;             ///< of the CPU; 0: all that this process may use
    std::uint64_t seed = 1;      ///< for random weights, and for what widening adds
};

/// The shape that a model directory runs at under these options.
/// @throws BadInput for an unusable `config.json` or an unknown shape.
Config load_config(const std::filesystem::path& directory,
                   const LoadOptions& options = {});

/// Its weights at that shape, to be read by an engine or by the reference.
/// @throws BadInput for unusable files, or a shape that they cannot be widened to.
std::unique_ptr<Weights> open_weights(const std::filesystem::path& directory,
                                      const LoadOptions& options = {});

/// Loads a model directory (`config.json`, `model.safetensors`); this is the only
/// function that knows which engines there are. The directory "random" stands for random
/// weights of the shape `options.shape`.
/// @throws BadInput for unusable files or options, and for weights that need more memory
///         than the CPU's process can have; Unavailable for a device that is not here
std::unique_ptr<Model> load_model(const std::filesystem::path& directory,
                                  const LoadOptions& options = {});

/// The tokenizer that belongs to it: the directory's own vocabulary ("random": GPT-2's),
/// with the id of `<|endoftext|>` where `options.shape` puts it.
/// @throws BadInput where the vocabulary is not of the size that `config.json` says.
Tokenizer load_tokenizer(const std::filesystem::path& directory,
                         const LoadOptions& options = {});

/// The folder of data that came with the source, or what the environment variable
/// `GPT2_DATA` names.
std::filesystem::path data_directory();

}  // namespace gpt2
