#include <fmt/format.h>

#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/safetensors.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

namespace {

/// What `transformers` and read_config() need to know.
std::string config_json(const Config& config) {
    const int end_of_text = config.n_vocab - 1;
    return fmt::format(
        R"({{
 "model_type": "gpt2",
 "architectures": ["GPT2LMHeadModel"],
 "activation_function": "gelu_new",
 "vocab_size": {},
 "n_positions": {},
 "n_ctx": {},
 "n_embd": {},
 "n_layer": {},
 "n_head": {},
 "layer_norm_epsilon": 1e-05,
 "bos_token_id": {},
 "eos_token_id": {}
}}
)",
        config.n_vocab, config.n_ctx, config.n_ctx, config.n_embd, config.n_layer,
        config.n_head, end_of_text, end_of_text);
}

}  // namespace

void save_weights(const Weights& weights, const std::filesystem::path& directory) {
    const Config& config = weights.config();
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error)
        throw BadInput(
            fmt::format("{}: cannot be made: {}", directory.string(), error.message()));
    std::vector<std::vector<float>> numbers;
    std::vector<TensorToWrite> tensors;
    for (const Part part : all_parts())
        for (int layer = 0; layer < (is_per_layer(part) ? config.n_layer : 1); ++layer) {
            const auto [rows, columns] = shape_of(part, config);
            std::vector<float>& tensor =
                numbers.emplace_back(std::size_t(rows) * std::size_t(columns));
            weights.read(part, layer, 0, tensor);
            tensors.push_back({name_of(part, layer), DType::f32,
                               file_shape_of(part, config),
                               std::as_bytes(std::span(tensor))});
        }
    // The large one last: where it is, all is.
    write_file(directory / "config.json", config_json(config));
    write_safetensors(directory / "model.safetensors", tensors);
}

}  // namespace gpt2
