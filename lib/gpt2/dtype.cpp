#include "gpt2/dtype.hpp"

#include <fmt/format.h>

#include <bit>

#include "gpt2/error.hpp"

namespace gpt2 {

std::size_t size_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return 4;
        case DType::f16:
        case DType::bf16:
            return 2;
        case DType::int8:
            return 1;
    }
    return 0;
}

std::int64_t matrix_bytes(DType dtype, std::int64_t rows, std::int64_t columns) {
    const std::int64_t groups = (rows + rows_per_scale - 1) / rows_per_scale;
    const std::int64_t scales = dtype == DType::int8 ? groups * columns : 0;
    return rows * columns * std::int64_t(size_of(dtype)) +
           scales * std::int64_t(sizeof(float));
}

std::string_view name_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "f32";
        case DType::f16:
            return "f16";
        case DType::bf16:
            return "bf16";
        case DType::int8:
            return "int8";
    }
    return "?";
}

DType parse_dtype(std::string_view name, std::string_view what) {
    for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::int8})
        if (name == name_of(dtype)) return dtype;
    throw BadInput(
        fmt::format("{}: expected f32, f16, bf16 or int8, found '{}'", what, name));
}

float from_f16(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16;
    const std::uint32_t exponent = bits >> 10 & 31;
    const std::uint32_t fraction = bits & 1023;
    // Below the smallest normal number the fraction counts in units of 2^-24, exactly.
    if (exponent == 0) {
        const float magnitude = float(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent == 31 ? 255 : exponent + 127 - 15;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

std::uint16_t to_f16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t sign = bits >> 16 & 0x8000;
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00;   // not a number
    if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds past 65,504
    if (magnitude >= 0x38800000) {                      // a normal half
        const std::uint32_t odd = magnitude >> 13 & 1;
        return sign | std::uint16_t((magnitude - 0x38000000 + 0xfff + odd) >> 13);
    }
    // A half below 2^-14 counts in units of 2^-24. Adding 0.5 lines a float's fraction up
    // with those units, and the addition itself rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | std::uint16_t(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000);
}

float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

std::uint16_t to_bf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return bits >> 16 | 0x40;  // not a number
    const std::uint32_t odd = bits >> 16 & 1;
    return std::uint16_t((bits + 0x7fff + odd) >> 16);
}

}  // namespace gpt2
