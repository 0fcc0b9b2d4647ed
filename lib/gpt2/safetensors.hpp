#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpt2/dtype.hpp"

namespace gpt2 {

class OpenFile;

/// A file of named tensors (https://github.com/huggingface/safetensors, format of 2023):
/// eight bytes of header length, a JSON header, then the tensors' bytes.
///
/// Every field of the header is checked before anything is read by it. The file stays
/// open, is not mapped, and reading is safe from several threads.
class Safetensors {
public:
    /// What the header says of one tensor.
    struct Tensor {
        std::string name;            ///< such as "h.3.attn.c_attn.weight"
        std::optional<DType> dtype;  ///< empty for a type that read() does not convert
        std::string type_name;       ///< as the file writes it: "F32", "BOOL", ...
        std::vector<std::int64_t> shape;  ///< outermost dimension first; none: one number
        std::uint64_t begin;              ///< bytes from the start of the data section
        std::uint64_t end;                ///< one past its last byte, counted alike

        /// The product of its dimensions.
        std::int64_t elements() const;
    };

    /// Opens a file and checks its whole header.
    /// @throws BadInput naming the file, the tensor and what is wrong with it.
    explicit Safetensors(const std::filesystem::path& file);
    ~Safetensors();

    /// Pointers to tensors stay good: they move along.
    Safetensors(Safetensors&&) noexcept;

    /// Closes the file that was open so far.
    Safetensors& operator=(Safetensors&&) noexcept;

    /// Its path, as it was handed in.
    const std::filesystem::path& file() const;

    /// All tensors, in the order of their bytes.
    const std::vector<Tensor>& tensors() const;

    /// The tensor of that name, or nullptr.
    const Tensor* find(std::string_view name) const;

    /// Reads elements [first, first + out.size()) of an F32, F16 or BF16 tensor as f32.
    /// @throws BadInput if the file has become shorter meanwhile or cannot be read, or
    ///         if the tensor is of another type or has fewer elements.
    void read(const Tensor& tensor, std::int64_t first, std::span<float> out) const;

private:
    std::filesystem::path path_;
    std::unique_ptr<const OpenFile> file_;
    std::uint64_t data_begin_ = 0;
    std::vector<Tensor> tensors_;
    std::vector<const Tensor*> by_name_;
};

/// One tensor to be written.
struct TensorToWrite {
    std::string name;  ///< UTF-8; no two alike in a file
    DType dtype;       ///< of `bytes` and of the file: nothing is converted
    std::vector<std::int64_t> shape;   ///< outermost dimension first
    std::span<const std::byte> bytes;  ///< little-endian, row-major
};

/// Writes a file that every safetensors reader accepts: whole or, on any error, not at
/// all.
/// @throws BadInput where the file cannot be written or a tensor's bytes do not fit its
///         shape.
void write_safetensors(const std::filesystem::path& file,
                       std::span<const TensorToWrite> tensors);

}  // namespace gpt2
