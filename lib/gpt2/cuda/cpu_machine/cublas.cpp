#include <cublas_v2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpt2/dtype.hpp"

// cuBLAS's symbols where there is no GPU: the same rules for arguments, plain loops.

namespace {

float get(const void* p, cudaDataType type, std::size_t i) {
    if (type == CUDA_R_32F) return static_cast<const float*>(p)[i];
    const std::uint16_t bits = static_cast<const std::uint16_t*>(p)[i];
    return type == CUDA_R_16F ? gpt2::from_f16(bits) : gpt2::from_bf16(bits);
}

bool known(cudaDataType type) {
    return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    *handle = reinterpret_cast<cublasHandle_t>(new char);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    delete reinterpret_cast<char*>(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t) {
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
    int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
    long long a_step, const void* b, cudaDataType b_type, int ldb, long long b_step,
    const void* beta, void* c, cudaDataType c_type, int ldc, long long c_step, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
    if (m < 0 || n < 0 || k < 0 || count < 0 || lda < std::max(1, plain_a ? m : k) ||
        ldb < std::max(1, plain_b ? k : n) || ldc < std::max(1, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (a_type != b_type || !known(a_type) || c_type != CUDA_R_32F ||
        compute != CUBLAS_COMPUTE_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const float by = *static_cast<const float*>(alpha);
    const float keep = *static_cast<const float*>(beta);
    for (int batch = 0; batch < count; ++batch) {
        const std::size_t a0 = std::size_t(batch * a_step),
                          b0 = std::size_t(batch * b_step);
        float* out = static_cast<float*>(c) + batch * c_step;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                float sum = 0;
                for (int l = 0; l < k; ++l) {
                    const std::size_t at_a =
                        plain_a ? i + std::size_t(l) * lda : l + std::size_t(i) * lda;
                    const std::size_t at_b =
                        plain_b ? l + std::size_t(j) * ldb : j + std::size_t(l) * ldb;
                    sum += get(a, a_type, a0 + at_a) * get(b, b_type, b0 + at_b);
                }
                float& y = out[i + std::size_t(j) * ldc];
                y = by * sum + (keep == 0 ? 0 : keep * y);  // 0: y may be unset
            }
    }
    return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
