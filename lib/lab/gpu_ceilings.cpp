#include "lab/gpu_ceilings.hpp"

#include "gpt2/error.hpp"

// In the place of gpu_ceilings.cu where the build has no CUDA.

namespace lab {

GpuCeilings measure_gpu_ceilings() {
    throw gpt2::Unavailable(
        "device cuda: this build is without CUDA: see GPT2_CUDA in cmake");
}

}  // namespace lab
