#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpt2/config.hpp"

namespace gpt2 {

/// The tensors of a GPT-2, in the order in which a forward pass meets them. Those from
/// `ln_1_gain` to `mlp_proj_bias` exist once per layer.
enum class Part {
    token_embedding,     ///< [n_vocab, n_embd], also the output head
    position_embedding,  ///< [n_ctx, n_embd]
    ln_1_gain,           ///< [n_embd]
    ln_1_bias,           ///< [n_embd]
    attn_weight,         ///< [n_embd, 3 n_embd]: queries, keys and values side by side
    attn_bias,           ///< [3 n_embd]
    attn_proj_weight,    ///< [n_embd, n_embd]
    attn_proj_bias,      ///< [n_embd]
    ln_2_gain,           ///< [n_embd]
    ln_2_bias,           ///< [n_embd]
    fc_weight,           ///< [n_embd, 4 n_embd]
    fc_bias,             ///< [4 n_embd]
    mlp_proj_weight,     ///< [4 n_embd, n_embd]
    mlp_proj_bias,       ///< [n_embd]
    ln_f_gain,           ///< [n_embd]
    ln_f_bias,           ///< [n_embd]
};

/// All sixteen, in their order.
const std::vector<Part>& all_parts();

/// Rows and columns of a tensor; a vector is one row.
struct Shape {
    int rows;     ///< 1 for a vector
    int columns;  ///< numbers that stand side by side in memory

    /// Both numbers alike.
    bool operator==(const Shape&) const = default;
};

/// The shape of a tensor in a model of this config.
Shape shape_of(Part part, const Config& config);

/// The shape that a file stores: that of `shape_of`, but one number for a vector.
std::vector<std::int64_t> file_shape_of(Part part, const Config& config);

/// Whether each layer has one of its own.
bool is_per_layer(Part part);

/// Hugging Face's name, such as "h.3.attn.c_attn.weight", without "transformer.".
/// @param layer  from 0; not looked at where the model has one such tensor only
std::string name_of(Part part, int layer);

/// Where a model's numbers come from: a file, a seed, or a narrower model.
///
/// Rows are handed out as f32 a few at a time, so that an engine packs them straight into
/// its own layout and dtype, and nothing is ever in memory twice.
class Weights {
public:
    virtual ~Weights() = default;

    /// The shape that these numbers fill.
    const Config& config() const { return config_; }

    /// What a results file says of them, such as "data/models/story, widened to small".
    const std::string& origin() const { return origin_; }

    /// Reads whole rows from `first_row` on, as many as `out` holds:
    /// `out` is [rows, columns], row-major. Safe from several threads.
    /// @throws BadInput where a number is not finite (naming the tensor and the place) or
    ///         the file cannot be read.
    virtual void read(Part part, int layer, int first_row,
                      std::span<float> out) const = 0;

protected:
    /// @param origin  such as the directory that was read
    Weights(const Config& config, std::string origin)
        : config_(config), origin_(std::move(origin)) {}

private:
    Config config_;
    std::string origin_;
};

/// The weights of a model directory: `config.json` and `model.safetensors`, with or
/// without "transformer." before the names, tied or with an equal `lm_head.weight`.
/// @throws BadInput where a file is missing or malformed, a tensor is missing, of the
///         wrong shape or unknown, or the head is not the token embedding.
std::unique_ptr<Weights> load_weights(const std::filesystem::path& directory);

/// Writes `model.safetensors` (f32) and `config.json` into a directory that it makes
/// where there is none: what load_weights reads back, bit for bit, and Hugging Face's
/// `transformers` too. All weights are in memory meanwhile. There is no vocabulary among
/// the files.
/// @throws BadInput where one of them cannot be written.
void save_weights(const Weights& weights, const std::filesystem::path& directory);

/// Random weights of any shape, drawn as GPT-2's were before training (normal, standard
/// deviation 0.02). The same seed gives the same numbers everywhere.
std::unique_ptr<Weights> random_weights(const Config& config, std::uint64_t seed);

/// The same function at a larger shape: equal logits but for rounding, at the larger
/// model's cost. The wide model's width is a whole multiple (at least 2) of the narrow
/// one's, its heads are of the same size; it may have more layers and more tokens. New
/// tokens are never chosen (their logit is about -100). `<|endoftext|>`, the narrow
/// vocabulary's last token, becomes the wide one's last. Equal shapes give the narrow
/// weights back.
/// @throws BadInput where the shapes do not allow it.
std::unique_ptr<Weights> widen(std::unique_ptr<Weights> narrow, const Config& wide,
                               std::uint64_t seed);

}  // namespace gpt2
