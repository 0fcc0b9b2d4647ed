#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/safetensors.hpp"
#include "gpt2/safetensors_header.hpp"

namespace gpt2 {

using safetensors_header::shown;

namespace {

std::string_view type_name(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "F32";
        case DType::f16:
            return "F16";
        case DType::bf16:
            return "BF16";
        case DType::int8:  // check() refuses it
            break;
    }
    return "?";
}

void check(const TensorToWrite& tensor, const std::string& where) {
    const auto refuse = [&](const std::string& what) {
        throw BadInput(fmt::format("{}: tensor {}: {}", where, shown(tensor.name), what));
    };
    if (tensor.name == safetensors_header::metadata_name) refuse("expected another name");
    if (tensor.dtype == DType::int8)
        refuse("expected f32, f16 or bf16: the format has no place for int8's scales");
    for (std::int64_t dimension : tensor.shape)
        if (dimension < 0)
            refuse(fmt::format("shape: expected dimensions from 0, found {}", dimension));
    const std::optional<std::uint64_t> bytes =
        safetensors_header::bytes_of(tensor.shape, size_of(tensor.dtype));
    if (bytes != tensor.bytes.size())
        refuse(fmt::format("expected {} bytes for its shape, found {}",
                           bytes ? fmt::format("{}", *bytes) : "over 2^63",
                           tensor.bytes.size()));
}

/// The length and the JSON, padded so that the data begins at a multiple of 8.
std::string header_of(std::span<const TensorToWrite* const> tensors,
                      const std::string& where) {
    // Older versions of Hugging Face's transformers refuse a file that does not say so.
    std::string json = R"({"__metadata__":{"format":"pt"})";
    std::uint64_t end = 0;
    for (const TensorToWrite* tensor : tensors) {
        std::string name;
        try {
            name = nlohmann::json(tensor->name).dump();
        } catch (const nlohmann::json::exception&) {
            throw BadInput(fmt::format("{}: tensor {}: expected a name in UTF-8", where,
                                       shown(tensor->name)));
        }
        const std::uint64_t begin = end;
        end += tensor->bytes.size();
        json += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                            name, type_name(tensor->dtype), fmt::join(tensor->shape, ","),
                            begin, end);
    }
    json += "}";
    json.resize((json.size() + 7) / 8 * 8, ' ');
    if (json.size() > safetensors_header::max_bytes)
        throw BadInput(fmt::format("{}: header: expected at most {} bytes, found {}",
                                   where, safetensors_header::max_bytes, json.size()));
    const std::uint64_t length = json.size();
    std::string header(sizeof length, '\0');
    std::memcpy(header.data(), &length, sizeof length);
    return header + json;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file,
                       std::span<const TensorToWrite> tensors) {
    const std::string where = file.string();
    std::set<std::string_view> names;
    for (const TensorToWrite& tensor : tensors) {
        check(tensor, where);
        if (!names.insert(tensor.name).second)
            throw BadInput(
                fmt::format("{}: duplicate name {}", where, shown(tensor.name)));
    }
    // Wide numbers first: then every tensor is aligned to its own type.
    std::vector<const TensorToWrite*> order;
    for (std::size_t size : {4, 2})
        for (const TensorToWrite& tensor : tensors)
            if (size_of(tensor.dtype) == size) order.push_back(&tensor);
    const std::string header = header_of(order, where);

    NewFile out(file);
    out.write(std::as_bytes(std::span(header)));
    for (const TensorToWrite* tensor : order) out.write(tensor->bytes);
    out.finish();
}

}  // namespace gpt2
