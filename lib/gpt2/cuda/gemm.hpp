#pragma once

#include "gpt2/cuda/device.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2::cuda::inline SIMT_MACHINE {

/// y = scale * x w, or as many such products as `count` says. All matrices are row-major;
/// a stride is the distance of two rows, a step that of two matrices, both in elements.
struct Product {
    int m, n, k;
    const void* x;  ///< [m, k]
    int x_stride;
    std::ptrdiff_t x_step = 0;
    const void* w;  ///< [n, k] if transposed, else [k, n]
    int w_stride;
    bool transposed;
    std::ptrdiff_t w_step = 0;
    float* y;  ///< [m, n]
    int y_stride;
    std::ptrdiff_t y_step = 0;
    int count = 1;
    float scale = 1;
    DType dtype;  ///< of x and w: f32, f16 or bf16; sums and y are f32
};

/// The only door to cuBLAS, which multiplies when there are many rows.
class Gemm {
public:
    Gemm();
    ~Gemm();
    Gemm(const Gemm&) = delete;

    /// @throws Error with cuBLAS's status
    void multiply(Stream& stream, const Product& product) const;

private:
    void* handle_;
};

}  // namespace gpt2::cuda::inline SIMT_MACHINE
