#pragma once

#include "gpt2/cpu/simd.hpp"

namespace gpt2::cpu {

/// GELU in the form that GPT-2 was trained with (Hendrycks and Gimpel 2016):
///
///     x/2 (1 + tanh(u)),  u = sqrt(2/pi) (x + 0.044715 x^3)
///
/// Now (1 + tanh(u)) / 2 = 1 / (1 + e^(-2u)), so one exponential is all it takes.
HWY_INLINE Vec16 gelu(const Vec16& x) {
    const Vec16 cubic = fma(x * x * x, broadcast(0.044715f), x);
    const Vec16 e = exp(cubic * broadcast(-2 * 0.7978845608028654f));
    return x / (broadcast(1.0f) + e);
}

/// Layer norm of one row of n channels, in two passes over the row:
///
///     y = (x - mean) / sqrt(variance + 1e-5) * gain + bias
///
/// Source: Ba, Kiros and Hinton 2016.
/// @param x, y  n floats, rounded up to whole vectors (what lies behind x[n - 1] is not
///              used); they may be the same
/// @param gain, bias  n floats, zero behind that up to whole vectors
void layer_norm(const float* x, int n, const float* gain, const float* bias, float* y);

/// Turns scores into weights that add up to `*total` (not yet to 1):
///
///     weight[i] = e^(scale (scores[i] - largest))
///
/// They take the scores' places. Behind n, up to whole vectors, stand zeros.
/// @param scale  positive
void softmax(float* scores, int n, float scale, float* total);

}  // namespace gpt2::cpu
