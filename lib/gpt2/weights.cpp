#include "gpt2/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/safetensors.hpp"

namespace gpt2 {

namespace {

struct PartFacts {
    Part part;
    const char* name;  ///< Hugging Face's, without "h.N."
    bool per_layer;
};

// In the order of `Part`.
constexpr PartFacts facts[] = {
    {Part::token_embedding, "wte.weight", false},
    {Part::position_embedding, "wpe.weight", false},
    {Part::ln_1_gain, "ln_1.weight", true},
    {Part::ln_1_bias, "ln_1.bias", true},
    {Part::attn_weight, "attn.c_attn.weight", true},
    {Part::attn_bias, "attn.c_attn.bias", true},
    {Part::attn_proj_weight, "attn.c_proj.weight", true},
    {Part::attn_proj_bias, "attn.c_proj.bias", true},
    {Part::ln_2_gain, "ln_2.weight", true},
    {Part::ln_2_bias, "ln_2.bias", true},
    {Part::fc_weight, "mlp.c_fc.weight", true},
    {Part::fc_bias, "mlp.c_fc.bias", true},
    {Part::mlp_proj_weight, "mlp.c_proj.weight", true},
    {Part::mlp_proj_bias, "mlp.c_proj.bias", true},
    {Part::ln_f_gain, "ln_f.weight", false},
    {Part::ln_f_bias, "ln_f.bias", false},
};

}  // namespace

const std::vector<Part>& all_parts() {
    static const std::vector<Part> parts = [] {
        std::vector<Part> all;
        for (const PartFacts& f : facts) all.push_back(f.part);
        return all;
    }();
    return parts;
}

Shape shape_of(Part part, const Config& c) {
    const int d = c.n_embd;
    switch (part) {
        case Part::token_embedding:
            return {c.n_vocab, d};
        case Part::position_embedding:
            return {c.n_ctx, d};
        case Part::attn_weight:
            return {d, 3 * d};
        case Part::attn_bias:
            return {1, 3 * d};
        case Part::attn_proj_weight:
            return {d, d};
        case Part::fc_weight:
            return {d, c.n_inner()};
        case Part::fc_bias:
            return {1, c.n_inner()};
        case Part::mlp_proj_weight:
            return {c.n_inner(), d};
        default:
            return {1, d};
    }
}

std::vector<std::int64_t> file_shape_of(Part part, const Config& config) {
    const auto [rows, columns] = shape_of(part, config);
    const bool vector =
        rows == 1 && part != Part::position_embedding && part != Part::token_embedding;
    if (vector) return {columns};
    return {rows, columns};
}

bool is_per_layer(Part part) { return facts[int(part)].per_layer; }

std::string name_of(Part part, int layer) {
    const PartFacts& f = facts[int(part)];
    return f.per_layer ? fmt::format("h.{}.{}", layer, f.name) : f.name;
}

namespace {

/// Without a way out in the middle, and in whole numbers, so that it runs in vectors:
/// every weight passes here while somebody waits for the first token.
bool all_finite(std::span<const float> numbers) {
    constexpr std::uint32_t exponent = 0x7f800000;  // all ones: infinite, or no number
    std::uint32_t wrong = 0;
    for (const float x : numbers)
        wrong |= (std::bit_cast<std::uint32_t>(x) & exponent) == exponent;
    return !wrong;
}

class FileWeights final : public Weights {
public:
    FileWeights(const Config& config, const std::filesystem::path& directory)
        : Weights(config, directory.string()), file_(directory / "model.safetensors") {
        find_tensors();
        check_head();
    }

    void read(Part part, int layer, int first_row, std::span<float> out) const override {
        const Safetensors::Tensor& tensor =
            *tensors_[int(part)][is_per_layer(part) ? layer : 0];
        const std::int64_t first =
            std::int64_t(first_row) * shape_of(part, config()).columns;
        file_.read(tensor, first, out);
        if (all_finite(out)) return;
        const auto wrong =
            std::ranges::find_if(out, [](float x) { return !std::isfinite(x); });
        throw BadInput(fmt::format(
            "{}: {}: element {}: expected a finite number, found {}",
            file_.file().string(), tensor.name, first + (wrong - out.begin()), *wrong));
    }

private:
    [[noreturn]] void refuse(const std::string& tensor, const std::string& why) const {
        throw BadInput(fmt::format("{}: {}: {}", file_.file().string(), tensor, why));
    }

    void find_tensors() {
        // Every tensor must be claimed by someone: a file with more layers than its
        // config says is as wrong as one with fewer.
        std::set<std::string> unclaimed;
        bool prefixed = false;
        for (const Safetensors::Tensor& t : file_.tensors()) {
            unclaimed.insert(t.name);
            prefixed = prefixed || t.name.starts_with(prefix);
        }
        for (const PartFacts& f : facts)
            for (int layer = 0; layer < (f.per_layer ? config().n_layer : 1); ++layer) {
                const std::string plain = name_of(f.part, layer);
                const std::string name = prefixed ? prefix + plain : plain;
                const Safetensors::Tensor* tensor = file_.find(name);
                if (!tensor) refuse(name, "missing");
                check_shape(*tensor, f.part);
                tensors_[int(f.part)].push_back(tensor);
                unclaimed.erase(name);
            }
        // Stored causal masks: the mask is part of the program, not of the weights.
        for (int layer = 0; layer < config().n_layer; ++layer)
            for (const char* mask : {"attn.bias", "attn.masked_bias"})
                unclaimed.erase(
                    fmt::format("{}h.{}.{}", prefixed ? prefix : "", layer, mask));
        unclaimed.erase(head_name);
        if (!unclaimed.empty())
            refuse(*unclaimed.begin(), "not a tensor of a GPT-2 of this config");
    }

    void check_shape(const Safetensors::Tensor& tensor, Part part) const {
        const std::vector<std::int64_t> expected = file_shape_of(part, config());
        if (tensor.shape != expected)
            refuse(tensor.name,
                   fmt::format("expected shape [{}], found [{}]",
                               fmt::join(expected, ", "), fmt::join(tensor.shape, ", ")));
        if (!tensor.dtype)
            refuse(tensor.name,
                   fmt::format("expected F32, F16 or BF16, found {}", tensor.type_name));
    }

    /// GPT-2's output head is its token embedding. A file may store it twice, but equal.
    void check_head() const {
        const Safetensors::Tensor* head = file_.find(head_name);
        if (!head) return;
        const Shape shape = shape_of(Part::token_embedding, config());
        check_shape(*head, Part::token_embedding);
        std::vector<float> a(shape.columns), b(shape.columns);
        for (int row = 0; row < shape.rows; ++row) {
            read(Part::token_embedding, 0, row, a);
            file_.read(*head, std::int64_t(row) * shape.columns, b);
            if (a != b)
                refuse(head_name,
                       fmt::format("row {} differs from the token embedding: not a GPT-2",
                                   row));
        }
    }

    static constexpr const char* prefix = "transformer.";
    static constexpr const char* head_name = "lm_head.weight";

    Safetensors file_;
    std::array<std::vector<const Safetensors::Tensor*>, std::size(facts)> tensors_;
};

}  // namespace

std::unique_ptr<Weights> load_weights(const std::filesystem::path& directory) {
    return std::make_unique<FileWeights>(read_config(directory / "config.json"),
                                         directory);
}

}  // namespace gpt2
