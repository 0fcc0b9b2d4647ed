#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpt2 {

/// How a number is stored. All arithmetic is done in 32-bit floats; a narrower type saves
/// bytes in memory and on the way to the processor, not multiplications.
enum class DType {
    f32,   ///< IEEE 754 single precision, 4 bytes
    f16,   ///< IEEE 754 half precision, 2 bytes: 11 significant bits, up to 65,504
    bf16,  ///< the upper half of an f32, 2 bytes: 8 significant bits, f32's range
    int8,  ///< -127 ... 127 times a scale, 1 byte; only for matrices of weights
};

/// Rows of an int8 matrix [k, n] that share a scale, an f32, in each column: from row
/// 0, 32, 64 ... on. The last group has what rows are left.
///
/// A group's scale is its largest magnitude / 127, so its numbers are off by at most half
/// a scale. Where all are zero, so is the scale.
inline constexpr int rows_per_scale = 32;

/// Bytes per number, without an int8's share of its scale.
std::size_t size_of(DType dtype);

/// Bytes of a matrix of weights, the scales of an int8 matrix among them.
/// @param rows  the k that a product with it sums over
std::int64_t matrix_bytes(DType dtype, std::int64_t rows, std::int64_t columns);

/// "f32", "f16", "bf16", "int8".
std::string_view name_of(DType dtype);

/// The type of that name.
/// @param what  named in the message, such as `--dtype`
/// @throws BadInput for any other name.
DType parse_dtype(std::string_view name, std::string_view what);

/// Half precision to single: exact for every bit pattern.
float from_f16(std::uint16_t bits);

/// Single precision to half: to the nearest, ties to even; too large becomes infinity.
std::uint16_t to_f16(float value);

/// bfloat16 to single: exact.
float from_bf16(std::uint16_t bits);

/// Single precision to bfloat16: to the nearest, ties to even; too large becomes
/// infinity.
std::uint16_t to_bf16(float value);

}  // namespace gpt2
