#include "gpt2/cuda/gemm.hpp"

#include <cublas_v2.h>

#include <string>

#include "gpt2/error.hpp"

// Compiled unchanged for a GPU, and for tests against cpu_machine/cublas.cpp, which has
// the same symbols.

namespace gpt2::cuda::inline SIMT_MACHINE {

namespace {

void check_blas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw Error("cuBLAS: status " + std::to_string(int(status)));
}

cudaDataType type_of(DType dtype) {
    if (dtype == DType::f16) return CUDA_R_16F;
    return dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

}  // namespace

Gemm::Gemm() {
    cublasHandle_t handle;
    check_blas(cublasCreate(&handle));
    handle_ = handle;
}

Gemm::~Gemm() { cublasDestroy(static_cast<cublasHandle_t>(handle_)); }

void Gemm::multiply(Stream& stream, const Product& p) const {
    const auto handle = static_cast<cublasHandle_t>(handle_);
    const float zero = 0;
    check_blas(cublasSetStream(handle, static_cast<cudaStream_t>(stream.handle())));
    // [gemm]
    // cuBLAS's matrices are column-major: what is x [m, k] to us it sees as [k, m]. So it
    // is asked for y^T = w^T x^T, and w goes first. A w that stands as [n, k] looks to it
    // like [k, n], and is to be transposed.
    check_blas(cublasGemmStridedBatchedEx(
        handle, p.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k,
        &p.scale, p.w.first, type_of(p.dtype), p.w.stride, p.w.step, p.x.first,
        type_of(p.dtype), p.x.stride, p.x.step, &zero, p.y.first, CUDA_R_32F, p.y.stride,
        p.y.step, p.count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    // [gemm]
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
