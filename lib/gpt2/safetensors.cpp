#include "gpt2/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/safetensors_header.hpp"

namespace gpt2 {

using safetensors_header::shown;

namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

/// The tensors by name, each name once.
std::vector<const Safetensors::Tensor*> index(
    const std::vector<Safetensors::Tensor>& tensors, const std::string& where) {
    std::vector<const Safetensors::Tensor*> by_name;
    for (const Safetensors::Tensor& tensor : tensors) by_name.push_back(&tensor);
    std::sort(by_name.begin(), by_name.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    const auto twice = std::adjacent_find(
        by_name.begin(), by_name.end(),
        [](const auto* a, const auto* b) { return a->name == b->name; });
    if (twice != by_name.end())
        throw BadInput(
            fmt::format("{}: duplicate name {}", where, shown((*twice)->name)));
    return by_name;
}

/// Checks that each tensor fills its span, and fills in its dtype.
void check_span(Safetensors::Tensor& tensor, const std::string& where) {
    const safetensors_header::Type& type =
        *safetensors_header::find_type(tensor.type_name);
    tensor.dtype = type.dtype;
    const std::optional<std::uint64_t> bytes =
        safetensors_header::bytes_of(tensor.shape, type.size);
    if (!bytes)
        throw BadInput(
            fmt::format("{}: tensor {}: shape: more than 2^63 - 1 elements or "
                        "2^64 - 1 bytes",
                        where, shown(tensor.name)));
    if (tensor.end < tensor.begin || tensor.end - tensor.begin != *bytes)
        throw BadInput(
            fmt::format("{}: tensor {}: data_offsets: expected {} bytes, found {} to {}",
                        where, shown(tensor.name), *bytes, tensor.begin, tensor.end));
}

/// Checks that the tensors, sorted by offset, fill the data section: each byte belongs to
/// exactly one.
void check_cover(const std::vector<Safetensors::Tensor>& tensors, std::uint64_t data_size,
                 const std::string& where) {
    std::uint64_t covered = 0;
    for (const Safetensors::Tensor& tensor : tensors) {
        if (tensor.begin != covered)
            throw BadInput(fmt::format(
                "{}: tensor {}: data_offsets: expected to begin where the bytes of the "
                "tensor before end, at {}, found {}",
                where, shown(tensor.name), covered, tensor.begin));
        covered = tensor.end;
    }
    if (covered != data_size)
        throw BadInput(
            fmt::format("{}: expected {} bytes of data behind the header, found {}",
                        where, covered, data_size));
}

/// As from_f16(), in a form that a compiler turns into vector code. Scaling by 2^112
/// moves the exponent from a half's bias to a float's, and makes tiny halves normal.
float widen_f16(std::uint16_t bits) {
    const float scaled =
        std::bit_cast<float>(std::uint32_t(bits & 0x7fff) << 13) * 0x1p112f;
    const std::uint32_t special = scaled >= 65536.0f ? 0x7f800000 : 0;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special |
                                std::uint32_t(bits & 0x8000) << 16);
}

}  // namespace

std::int64_t Safetensors::Tensor::elements() const {
    std::int64_t product = 1;
    for (std::int64_t dimension : shape) product *= dimension;
    return product;
}

Safetensors::Safetensors(const std::filesystem::path& file)
    : path_(file), file_(std::make_unique<OpenFile>(file)) {
    const std::string where = file.string();
    std::uint64_t length;
    if (file_->size() < sizeof length)
        throw BadInput(fmt::format("{}: expected 8 bytes of header length, found {}",
                                   where, file_->size()));
    file_->read(0, &length, sizeof length);
    const std::uint64_t most = std::min<std::uint64_t>(safetensors_header::max_bytes,
                                                       file_->size() - sizeof length);
    if (length > most)
        throw BadInput(fmt::format(
            "{}: header length: expected at most {} bytes, {}, found {}", where, most,
            most == safetensors_header::max_bytes ? "the format's limit"
                                                  : "all that follows",
            length));
    data_begin_ = sizeof length + length;
    try {
        std::string header(length, '\0');
        file_->read(sizeof length, header.data(), length);
        tensors_ = safetensors_header::parse(header, where);
        std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
        by_name_ = index(tensors_, where);
    } catch (const std::bad_alloc&) {
        throw BadInput(
            fmt::format("{}: header: no memory for its {} bytes", where, length));
    }
    for (Tensor& tensor : tensors_) check_span(tensor, where);
    check_cover(tensors_, file_->size() - data_begin_, where);
}

Safetensors::~Safetensors() = default;
Safetensors::Safetensors(Safetensors&&) noexcept = default;
Safetensors& Safetensors::operator=(Safetensors&&) noexcept = default;

const std::filesystem::path& Safetensors::file() const { return path_; }

const std::vector<Safetensors::Tensor>& Safetensors::tensors() const { return tensors_; }

const Safetensors::Tensor* Safetensors::find(std::string_view name) const {
    const auto at =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [](const Tensor* a, std::string_view b) { return a->name < b; });
    return at != by_name_.end() && (*at)->name == name ? *at : nullptr;
}

void Safetensors::read(const Tensor& tensor, std::int64_t first,
                       std::span<float> out) const {
    if (!tensor.dtype)
        throw BadInput(
            fmt::format("{}: tensor {}: dtype: expected F32, F16 or BF16, found {}",
                        path_.string(), shown(tensor.name), tensor.type_name));
    const std::int64_t elements = tensor.elements();
    if (first < 0 || first > elements || out.size() > std::uint64_t(elements - first))
        throw BadInput(
            fmt::format("{}: tensor {}: expected at least {} elements from {} on, "
                        "found {} in all",
                        path_.string(), shown(tensor.name), out.size(), first, elements));
    std::uint64_t offset =
        data_begin_ + tensor.begin + std::uint64_t(first) * size_of(*tensor.dtype);
    if (*tensor.dtype == DType::f32)
        return file_->read(offset, out.data(), out.size_bytes());

    std::array<std::uint16_t, 1 << 14> chunk;  // stays in the first cache
    while (!out.empty()) {
        const std::size_t count = std::min(out.size(), chunk.size());
        file_->read(offset, chunk.data(), count * 2);
        if (*tensor.dtype == DType::f16)
            std::transform(chunk.begin(), chunk.begin() + count, out.begin(), widen_f16);
        else
            std::transform(chunk.begin(), chunk.begin() + count, out.begin(), from_bf16);
        offset += count * 2;
        out = out.subspan(count);
    }
}

}  // namespace gpt2
