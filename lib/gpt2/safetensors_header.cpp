#include "gpt2/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpt2/error.hpp"

namespace gpt2::safetensors_header {

namespace {

constexpr Type types[] = {
    {"BOOL", 1, {}},          {"U8", 1, {}},  {"I8", 1, {}},  {"F8_E4M3", 1, {}},
    {"F8_E5M2", 1, {}},       {"I16", 2, {}}, {"U16", 2, {}}, {"F16", 2, DType::f16},
    {"BF16", 2, DType::bf16}, {"I32", 4, {}}, {"U32", 4, {}}, {"F32", 4, DType::f32},
    {"F64", 8, {}},           {"I64", 8, {}}, {"U64", 8, {}},
};

/// Reads a header's JSON event by event, and refuses it at the first event that is not
/// the one expected. A tree of the JSON would hide a name that comes twice; here the
/// stack stays flat too, however deep a hostile header nests.
class HeaderParser : public nlohmann::json_sax<nlohmann::json> {
public:
    HeaderParser(const std::string& where, std::vector<Safetensors::Tensor>& tensors)
        : where_(where), tensors_(tensors) {}

    bool start_object(std::size_t) override {
        if (next_ == Next::root)
            next_ = Next::name;
        else if (next_ == Next::entry)
            next_ = in_metadata_ ? Next::metadata_key : Next::field;
        else
            fail("an object");
        return true;
    }

    bool key(std::string& text) override {
        if (next_ == Next::name)
            start_entry(text);
        else if (next_ == Next::field)
            start_field(text);
        else
            start_metadata(text);
        return true;
    }

    bool string(std::string& text) override {
        if (next_ == Next::metadata_value) {
            next_ = Next::metadata_key;
        } else if (next_ == Next::dtype) {
            if (!find_type(text)) fail(shown(text));
            tensors_.back().type_name = text;
            next_ = Next::field;
        } else {
            fail("a string");
        }
        return true;
    }

    bool start_array(std::size_t) override {
        if (next_ == Next::shape)
            next_ = Next::dimension;
        else if (next_ == Next::offsets)
            next_ = Next::offset;
        else
            fail("a list");
        return true;
    }

    bool number_unsigned(std::uint64_t value) override {
        if (next_ == Next::dimension && std::in_range<std::int64_t>(value))
            tensors_.back().shape.push_back(std::int64_t(value));
        else if (next_ == Next::offset && offsets_ < 2)
            (offsets_++ == 0 ? tensors_.back().begin : tensors_.back().end) = value;
        else
            fail(fmt::format("{}", value));
        return true;
    }

    bool end_array() override {
        if (next_ == Next::offset && offsets_ != 2)
            fail(fmt::format("{} numbers", offsets_));
        next_ = Next::field;
        return true;
    }

    bool end_object() override {
        if (next_ == Next::field)
            for (std::size_t i = 0; i < fields.size(); ++i)
                if (!seen_[i]) refuse(fmt::format("{}: missing", fields[i].name));
        next_ = Next::name;
        return true;
    }

    bool number_integer(std::int64_t value) override { fail(fmt::format("{}", value)); }
    bool number_float(double, const std::string& text) override { fail(shown(text)); }
    bool null() override { fail("null"); }
    bool boolean(bool value) override { fail(value ? "true" : "false"); }
    bool binary(nlohmann::json::binary_t&) override { fail("bytes"); }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::json::exception&) override {
        throw BadInput(
            fmt::format("{}: header: not JSON at its byte {}", where_, position));
    }

    /// Refuses a name that comes twice, which the spans alone would not always show.
    void check_metadata() {
        std::sort(metadata_keys_.begin(), metadata_keys_.end());
        const auto twice =
            std::adjacent_find(metadata_keys_.begin(), metadata_keys_.end());
        if (twice != metadata_keys_.end())
            throw BadInput(fmt::format("{}: {}: duplicate name {}", where_, metadata_name,
                                       shown(*twice)));
    }

private:
    /// What the next event has to be.
    enum class Next {
        root,
        name,
        entry,
        field,
        dtype,
        shape,
        dimension,
        offsets,
        offset,
        metadata_key,
        metadata_value,
    };
    struct Field {
        std::string_view name;
        Next value;
    };
    static constexpr std::array<Field, 3> fields = {{{"dtype", Next::dtype},
                                                     {"shape", Next::shape},
                                                     {"data_offsets", Next::offsets}}};

    void start_entry(const std::string& name) {
        in_metadata_ = name == metadata_name;
        if (in_metadata_) {
            if (seen_metadata_)
                throw BadInput(fmt::format("{}: duplicate name {}", where_, name));
            seen_metadata_ = true;
        } else {
            tensors_.push_back({.name = name,
                                .dtype = {},
                                .type_name = {},
                                .shape = {},
                                .begin = 0,
                                .end = 0});
            seen_ = {};
            offsets_ = 0;
        }
        next_ = Next::entry;
    }

    void start_field(const std::string& name) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (name != fields[i].name) continue;
            if (seen_[i]) refuse(fmt::format("duplicate field {}", name));
            seen_[i] = true;
            next_ = fields[i].value;
            return;
        }
        refuse(
            fmt::format("expected dtype, shape and data_offsets, found {}", shown(name)));
    }

    void start_metadata(const std::string& name) {
        metadata_keys_.push_back(name);
        next_ = Next::metadata_value;
    }

    /// What `next_` is called in a message.
    std::string_view expected() const {
        switch (next_) {
            case Next::dtype:
                return "dtype: expected a type of the format";
            case Next::shape:
                return "shape: expected a list";
            case Next::dimension:
                return "shape: expected whole numbers from 0 to 2^63 - 1";
            case Next::offsets:
                return "data_offsets: expected a list";
            case Next::offset:
                return "data_offsets: expected two whole numbers from 0 to 2^64 - 1";
            case Next::metadata_value:
                return "expected a string";
            default:
                return "expected an object";
        }
    }

    [[noreturn]] void fail(std::string_view found) const {
        refuse(fmt::format("{}, found {}", expected(), found));
    }

    [[noreturn]] void refuse(std::string_view what) const {
        if (in_metadata_)
            throw BadInput(fmt::format("{}: {}: {}", where_, metadata_name, what));
        throw BadInput(
            fmt::format("{}: tensor {}: {}", where_, shown(tensors_.back().name), what));
    }

    const std::string& where_;
    std::vector<Safetensors::Tensor>& tensors_;
    Next next_ = Next::root;
    bool in_metadata_ = false, seen_metadata_ = false;
    std::array<bool, fields.size()> seen_{};  // of the last tensor
    int offsets_ = 0;                         // likewise
    std::vector<std::string> metadata_keys_;
};

}  // namespace

const Type* find_type(std::string_view name) {
    const auto found = std::find_if(std::begin(types), std::end(types),
                                    [&](const Type& type) { return type.name == name; });
    return found != std::end(types) ? found : nullptr;
}

std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape,
                                      std::size_t element_size) {
    std::int64_t elements = 1;
    for (std::int64_t dimension : shape)
        if (__builtin_mul_overflow(elements, dimension, &elements)) return {};
    std::uint64_t bytes;
    if (__builtin_mul_overflow(elements, element_size, &bytes)) return {};
    return bytes;
}

std::string shown(std::string_view text) {
    constexpr std::size_t longest = 100;
    return nlohmann::json(text.substr(0, longest))
               .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
           (text.size() > longest ? "..." : "");
}

std::vector<Safetensors::Tensor> parse(const std::string& header,
                                       const std::string& where) {
    // The format says so; the parser would pass over a byte order mark, and take a zero
    // byte for the end.
    if (!header.starts_with('{'))
        throw BadInput(fmt::format("{}: header: expected to begin with '{{'", where));
    if (const std::size_t zero = header.find('\0'); zero != std::string::npos)
        throw BadInput(
            fmt::format("{}: header: not JSON at its byte {}", where, zero + 1));
    std::vector<Safetensors::Tensor> tensors;
    HeaderParser parser(where, tensors);
    nlohmann::json::sax_parse(header, &parser);
    parser.check_metadata();
    return tensors;
}

}  // namespace gpt2::safetensors_header
