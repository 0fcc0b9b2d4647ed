#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpt2/safetensors.hpp"

/// What the reader and the writer of safetensors share.
namespace gpt2::safetensors_header {

/// Bytes of JSON that the format allows.
constexpr std::uint64_t max_bytes = 100'000'000;

/// The one entry of a header that is no tensor.
constexpr std::string_view metadata_name = "__metadata__";

/// A number type as the format names it.
struct Type {
    std::string_view name;       ///< in capitals, such as "BF16"
    std::size_t size;            ///< bytes
    std::optional<DType> dtype;  ///< empty where this library does not convert it
};

/// The type of that name, or nullptr.
const Type* find_type(std::string_view name);

/// Bytes of a tensor, or nothing where its elements pass 2^63 - 1 or its bytes 2^64 - 1.
/// @param shape  no dimension below 0
std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape,
                                      std::size_t element_size);

/// Text from a file as it can stand in a message of one line: escaped, cut when long.
std::string shown(std::string_view text);

/// The tensors of a header, in its order. Names and types are known to be good; spans are
/// not checked.
/// @param where  the file, for messages
/// @throws BadInput for a header that the format does not allow.
std::vector<Safetensors::Tensor> parse(const std::string& header,
                                       const std::string& where);

}  // namespace gpt2::safetensors_header
