#include "gpt2/load.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/cuda/engine.hpp"
#include "gpt2/error.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

namespace {

constexpr int max_threads = 256;

bool is_random(const std::filesystem::path& directory) { return directory == "random"; }

}  // namespace

Config load_config(const std::filesystem::path& directory, const LoadOptions& options) {
    if (options.shape != "own") return preset(options.shape);
    if (is_random(directory))
        throw BadInput(
            "model random: expected a shape (small, medium, large, xl), found own");
    return read_config(directory / "config.json");
}

std::unique_ptr<Weights> open_weights(const std::filesystem::path& directory,
                                      const LoadOptions& options) {
    const Config config = load_config(directory, options);
    if (is_random(directory)) return random_weights(config, options.seed);
    return widen(load_weights(directory), config, options.seed);
}

std::unique_ptr<Model> load_model(const std::filesystem::path& directory,
                                  const LoadOptions& options) {
    if (options.device == "cuda")
        return cuda::load(*open_weights(directory, options), options.dtype, options.kv);
    if (options.device != "cpu")
        throw BadInput(
            fmt::format("device: expected cpu or cuda, found '{}'", options.device));
    if (options.threads < 0 || options.threads > max_threads)
        throw BadInput(fmt::format("threads: expected 0 to {}, found {}", max_threads,
                                   options.threads));
    const int threads = options.threads == 0 ? cpu::processors() : options.threads;
    return cpu::load(*open_weights(directory, options), options.dtype, options.kv,
                     threads);
}

Tokenizer load_tokenizer(const std::filesystem::path& directory,
                         const LoadOptions& options) {
    Tokenizer tokenizer = Tokenizer::load(
        is_random(directory) ? data_directory() / "gpt2-vocab" : directory);
    // The model's own shape first: a vocabulary of another model must not pass.
    const int own = is_random(directory) ? load_config(directory, options).n_vocab
                                         : read_config(directory / "config.json").n_vocab;
    if (tokenizer.size() != own)
        throw BadInput(
            fmt::format("{}: vocabulary: expected {} entries (config.json), found {}",
                        directory.string(), own, tokenizer.size()));
    const int n_vocab = load_config(directory, options).n_vocab;
    if (n_vocab > own) tokenizer.move_end_of_text(n_vocab - 1);
    return tokenizer;
}

std::filesystem::path data_directory() {
    const char* set = std::getenv("GPT2_DATA");
    return set && *set ? set : GPT2_SOURCE_DATA;
}

}  // namespace gpt2
