#pragma once

#include "gpt2/cuda/device.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2::cuda::inline SIMT_MACHINE {

/// Matrices of one shape, row-major: where the first begins, and how many elements two
/// rows, and two matrices, are apart.
template <class T>
struct Stack {
    T* first;
    int stride;
    std::ptrdiff_t step = 0;
};

/// y = scale * x w, `count` times over.
struct Product {
    int m, n, k;
    Stack<const void> x;  ///< [m, k]
    Stack<const void> w;  ///< [n, k] if transposed, else [k, n]
    bool transposed;
    Stack<float> y;  ///< [m, n]
    DType dtype;     ///< of x and w: f32, f16 or bf16; sums are f32
    int count = 1;
    float scale = 1;
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
