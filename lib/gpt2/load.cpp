#include "gpt2/load.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

/// The most memory that this process can come to have.
std::int64_t memory() {
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    std::int64_t most = pages > 0 && page > 0 ? pages * page : PTRDIFF_MAX;
    rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur < rlim_t(most))
        most = std::int64_t(addresses.rlim_cur);
    return std::min<std::int64_t>(most, PTRDIFF_MAX);
}

/// Systems promise memory that they do not have, and end whoever comes to use it.
void check_memory(const Config& config, DType dtype, const std::string& where) {
    const std::int64_t bytes = parameters(config) * std::int64_t(size_of(dtype));
    if (const std::int64_t most = memory(); bytes > most)
        throw BadInput(fmt::format(
            "{}: {} parameters in {} need {} bytes of memory, but there are {}", where,
            parameters(config), name_of(dtype), bytes, most));
}

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
    check_memory(load_config(directory, options), options.dtype, directory.string());
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
