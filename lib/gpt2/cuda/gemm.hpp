#pragma once

#include "gpt2/cuda/device.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2::cuda::inline SIMT_MACHINE {

/// Matrices of one shape, row-major: where the first begins, and how many elements two
/// rows, and two matrices, are apart.
template <class T>
struct Stack {
    T* first;                 ///< [rows, columns]
    int stride;               ///< from row to row
    std::ptrdiff_t step = 0;  ///< from matrix to matrix
};

/// y = scale * x w, `count` times over.
struct Product {
    int m;                ///< rows of x and y
    int n;                ///< columns of y
    int k;                ///< columns of x
    Stack<const void> x;  ///< [m, k]
    Stack<const void> w;  ///< [n, k] if transposed, else [k, n]
    bool transposed;      ///< how w stands
    Stack<float> y;       ///< [m, n]
    DType dtype;          ///< of x and w: f32, f16 or bf16; sums are f32
    int count = 1;        ///< matrices in each stack
    float scale = 1;      ///< factor of all sums
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
