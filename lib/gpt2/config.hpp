#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpt2 {

/// The five numbers that fix the shape of a GPT-2.
///
/// Everything else follows: a head has `n_embd / n_head` channels, the MLP's hidden layer
/// is four times as wide as the stream, the output head is the token embedding again.
struct Config {
    int n_vocab;  ///< rows of the token embedding, and scores per position
    int n_ctx;    ///< positions: the longest sequence
    int n_embd;   ///< channels of the residual stream
    int n_layer;  ///< blocks of attention and MLP
    int n_head;   ///< attention heads per block

    /// Channels of one head: 64 in every model that OpenAI released.
    int head_dim() const { return n_embd / n_head; }

    /// Channels of the MLP's hidden layer.
    int n_inner() const { return 4 * n_embd; }

    /// Equal in all five: then `widen` has nothing to do.
    bool operator==(const Config&) const = default;
};

/// Parameters of the model, the tied output head counted once.
/// GPT-2 small: 124,439,808 (Radford et al. 2019 print 117M; their released file has
/// these).
std::int64_t parameters(const Config& config);

/// Parameters without the two embeddings: what every token is multiplied by, but for the
/// output head. GPT-2 small: 85,056,000.
std::int64_t body_parameters(const Config& config);

/// The shapes that OpenAI released: "small", "medium", "large", "xl".
/// @throws BadInput for any other name.
Config preset(std::string_view name);

/// The names that `preset` knows, smallest first.
const std::vector<std::string>& preset_names();

/// Reads a Hugging Face `config.json`.
/// @throws BadInput where the file is missing or malformed, a number is out of range, or
///         the model is not a plain GPT-2 (another activation, another hidden width,
///         ...).
Config read_config(const std::filesystem::path& file);

/// Checks what every user of a Config relies on: all numbers positive and within the
/// limits stated in config.cpp, `n_embd` a multiple of `n_head`.
/// @param where  named in the message, such as a file
/// @throws BadInput where one of these does not hold.
void check(const Config& config, const std::string& where);

}  // namespace gpt2
