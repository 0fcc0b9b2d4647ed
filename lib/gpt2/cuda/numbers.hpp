#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpt2/cuda/simt.hpp"
#include "gpt2/dtype.hpp"

/// The numbers that weights and caches are stored in. All arithmetic is done in f32.
///
/// The host widens and narrows too. A function that is __device__ alone must not be
/// called there, and where a template does, nvcc does not say so: the program just ends.
namespace gpt2::cuda::inline SIMT_MACHINE {

/// IEEE 754 half precision.
struct f16 {
    std::uint16_t bits;  ///< sign, 5 of the exponent, 10
};

/// The upper half of an f32.
struct bf16 {
    std::uint16_t bits;  ///< sign, 8 of the exponent, 7
};

// (Forced inline: of a call's argument or result the compiler would not tell the CPU
// machine's log that it was loaded or stored.)

/// To f32: exact.
__host__ __device__ __forceinline__ float widen(float x) { return x; }

/// To f32: exact.
__host__ __device__ __forceinline__ float widen(f16 x) {
#ifdef __CUDACC__
    return __half2float(__ushort_as_half(x.bits));
#else
    return from_f16(x.bits);
#endif
}

/// To f32: exact.
__host__ __device__ __forceinline__ float widen(bf16 x) {
    const std::uint32_t bits = std::uint32_t(x.bits) << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

/// To the nearest, ties to even. Only finite numbers are narrowed.
template <class T>
__host__ __device__ __forceinline__ T narrow(float x) {
    if constexpr (sizeof(T) == 4) {
        return x;
    } else if constexpr (std::is_same_v<T, bf16>) {
        std::uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        return {std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    } else {
#ifdef __CUDACC__
        return {__half_as_ushort(__float2half_rn(x))};
#else
        return {to_f16(x)};
#endif
    }
}

/// As many numbers as a thread reads from memory at once: 16 bytes.
template <class T>
struct alignas(16) Pack {
    static constexpr int size = 16 / sizeof(T);  ///< how many
    T v[size];                                   ///< side by side in memory
};

/// n numbers, rounded up to whole packs of any type: rows of a matrix of weights begin
/// that far apart, and what is behind their end is zero.
constexpr int padded(int n) { return (n + 7) / 8 * 8; }

// Over the lanes of a warp
// ------------------------
// In each round a lane adds what the lane has whose number differs in one bit: after five
// rounds all have the sum of all 32.

/// The sum over the warp, to every lane.
__device__ inline float warp_sum(float x) {
    SIMT_UNROLL
    for (int bit = 16; bit > 0; bit /= 2) x += __shfl_xor_sync(~0u, x, bit);
    return x;
}

/// The greatest in the warp, to every lane.
__device__ inline float warp_max(float x) {
    SIMT_UNROLL
    for (int bit = 16; bit > 0; bit /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, bit));
    return x;
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
