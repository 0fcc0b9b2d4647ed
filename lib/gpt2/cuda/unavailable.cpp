#include "gpt2/cuda/engine.hpp"
#include "gpt2/error.hpp"

// In the place of gpu.cu where the build has no CUDA.

namespace gpt2::cuda {

std::unique_ptr<Model> load(const Weights&, DType, DType, Decode) {
    throw Unavailable("device cuda: this build is without CUDA: see GPT2_CUDA in cmake");
}

}  // namespace gpt2::cuda
