#include "gpt2/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/json.hpp"

namespace gpt2 {

namespace {

struct Preset {
    const char* name;
    Config config;
};

constexpr Preset presets[] = {
    {"small", {50257, 1024, 768, 12, 12}},
    {"medium", {50257, 1024, 1024, 24, 16}},
    {"large", {50257, 1024, 1280, 36, 20}},
    {"xl", {50257, 1024, 1600, 48, 25}},
};

// Far above any GPT-2, and low enough that no product of a few of them overflows 63 bits.
constexpr int max_vocab = 1 << 20, max_ctx = 1 << 20, max_embd = 1 << 16,
              max_layer = 1 << 10, max_head = 1 << 10;

}  // namespace

std::int64_t body_parameters(const Config& config) {
    const std::int64_t d = config.n_embd;
    const std::int64_t attention = d * 3 * d + 3 * d + d * d + d;
    const std::int64_t mlp = d * 4 * d + 4 * d + 4 * d * d + d;
    const std::int64_t norms = 2 * 2 * d;
    return config.n_layer * (attention + mlp + norms) + 2 * d;
}

std::int64_t parameters(const Config& config) {
    return body_parameters(config) +
           (std::int64_t(config.n_vocab) + config.n_ctx) * config.n_embd;
}

Config preset(std::string_view name) {
    for (const Preset& preset : presets)
        if (name == preset.name) return preset.config;
    throw BadInput(
        fmt::format("shape: expected small, medium, large or xl, found '{}'", name));
}

const std::vector<std::string>& preset_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Preset& preset : presets) all.emplace_back(preset.name);
        return all;
    }();
    return names;
}

void check(const Config& config, const std::string& where) {
    const auto within = [&](const char* name, int value, int most) {
        if (value < 1 || value > most)
            throw BadInput(fmt::format("{}: {}: expected 1 to {}, found {}", where, name,
                                       most, value));
    };
    within("n_vocab", config.n_vocab, max_vocab);
    within("n_ctx", config.n_ctx, max_ctx);
    within("n_embd", config.n_embd, max_embd);
    within("n_layer", config.n_layer, max_layer);
    within("n_head", config.n_head, max_head);
    if (config.n_embd % config.n_head != 0)
        throw BadInput(
            fmt::format("{}: n_embd: expected a multiple of n_head = {}, found {}", where,
                        config.n_head, config.n_embd));
}

Config read_config(const std::filesystem::path& file) {
    const std::string where = file.string();
    constexpr std::uint64_t most = 1 << 20;  // bytes; OpenAI's has 665
    const nlohmann::json json = parse_json(read_file(file, most), where);
    if (!json.is_object())
        throw BadInput(
            fmt::format("{}: expected an object, found {}", where, shown(json)));

    const auto number = [&](const char* name) {
        const auto found = json.find(name);
        if (found == json.end())
            throw BadInput(fmt::format("{}: {}: missing", where, name));
        if (!found->is_number_integer() || *found < 1 || *found > (1 << 20))
            throw BadInput(fmt::format("{}: {}: expected 1 to {}, found {}", where, name,
                                       1 << 20, shown(*found)));
        return found->get<int>();
    };
    // What a plain GPT-2 has, whether the file says so or not.
    const auto must_be = [&](const char* name, const nlohmann::json& expected) {
        const auto found = json.find(name);
        if (found != json.end() && !found->is_null() && *found != expected)
            throw BadInput(fmt::format("{}: {}: expected {}, found {}", where, name,
                                       shown(expected), shown(*found)));
    };

    Config config{};
    config.n_vocab = number("vocab_size");
    config.n_ctx = number(json.contains("n_positions") ? "n_positions" : "n_ctx");
    config.n_embd = number("n_embd");
    config.n_layer = number("n_layer");
    config.n_head = number("n_head");
    check(config, where);
    must_be("model_type", "gpt2");
    must_be("activation_function", "gelu_new");
    must_be("n_inner", config.n_inner());
    must_be("layer_norm_epsilon", 1e-5);
    must_be("scale_attn_weights", true);
    must_be("scale_attn_by_inverse_layer_idx", false);
    must_be("add_cross_attention", false);
    must_be("tie_word_embeddings", true);
    return config;
}

}  // namespace gpt2
