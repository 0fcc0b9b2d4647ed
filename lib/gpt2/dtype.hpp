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
};

/// Bytes per number.
std::size_t size_of(DType dtype);

/// "f32", "f16", "bf16".
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

}  // namespace gpt2
