// Whole passes at GPT-2 small's shape with random weights, and the way to the first
// token.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "bench.hpp"
#include "gpt2/cpu/engine.hpp"
#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/safetensors.hpp"
#include "lab/measured.hpp"

namespace bench {

namespace {

using gpt2::DType;
using gpt2::Token;

gpt2::Config small() { return gpt2::preset("small"); }

/// A model with weights of this type. It is kept until another type is asked for.
gpt2::Model& model(DType dtype) {
    static std::unique_ptr<gpt2::Model> loaded;
    static DType type;
    if (!loaded || type != dtype) {
        loaded.reset();  // before the next: there is memory for one
        loaded = gpt2::cpu::load(*gpt2::random_weights(small(), 1), dtype, DType::f32,
                                 setup().threads);
        type = dtype;
    }
    return *loaded;
}

std::vector<Token> random_tokens(int n) {
    std::minstd_rand random(1);
    std::vector<Token> tokens(static_cast<std::size_t>(n));
    for (Token& token : tokens) token = Token(random() % unsigned(small().n_vocab));
    return tokens;
}

/// One token for each of `sequences`, behind `past` positions.
void decode(benchmark::State& state, DType dtype, int past, int sequences) {
    gpt2::Model& gpt = model(dtype);
    const std::vector<Token> tokens = random_tokens(sequences);
    std::vector<gpt2::KvCache> caches;
    std::vector<gpt2::Step> batch;
    caches.reserve(std::size_t(sequences));
    for (const Token& token : tokens) {
        fill(caches.emplace_back(gpt.new_cache()), past);
        batch.push_back({{&token, 1}, caches.back()});
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(gpt.forward(batch));
        for (gpt2::KvCache& cache : caches) cache.truncate(past);
    }
    const std::vector<ledger::Step> steps(std::size_t(sequences), {.past = past});
    count(state, ledger::forward_pass(small(), dtype, DType::f32, steps));
}

/// A prompt of 512 tokens, read at once.
void prefill(benchmark::State& state, DType dtype, gpt2::Rows rows) {
    constexpr int n = 512;
    gpt2::Model& gpt = model(dtype);
    const std::vector<Token> tokens = random_tokens(n);
    for (auto _ : state) {
        gpt2::KvCache cache = gpt.new_cache();
        benchmark::DoNotOptimize(gpt.forward(tokens, cache, rows));
    }
    const ledger::Step step{.tokens = n, .rows = rows == gpt2::Rows::all ? n : 1};
    count(state, ledger::forward_pass(small(), dtype, DType::f32, {&step, 1}));
}

/// A model directory of GPT-2 small's shape in f32, every tensor from the same random
/// numbers. It goes with the program.
class ModelFiles {
public:
    ModelFiles() {
        std::string name =
            (std::filesystem::temp_directory_path() / "gpt2-bench-XXXXXX").string();
        if (!mkdtemp(name.data())) throw gpt2::BadInput(name + ": cannot make a folder");
        folder = name;
        const gpt2::Config c = small();
        std::ofstream(folder / "config.json") << fmt::format(
            R"({{"vocab_size": {}, "n_positions": {}, "n_embd": {}, "n_layer": {}, )"
            R"("n_head": {}}})",
            c.n_vocab, c.n_ctx, c.n_embd, c.n_layer, c.n_head);
        const auto numbers =
            random_floats(std::size_t(c.n_vocab) * std::size_t(c.n_embd));
        std::vector<gpt2::TensorToWrite> tensors;
        for (const gpt2::Part part : gpt2::all_parts())
            for (int i = 0; i < (gpt2::is_per_layer(part) ? c.n_layer : 1); ++i) {
                const auto [rows, columns] = gpt2::shape_of(part, c);
                std::vector<std::int64_t> shape{columns};
                if (rows > 1) shape.insert(shape.begin(), rows);
                const std::size_t n = std::size_t(rows) * std::size_t(columns);
                tensors.push_back({gpt2::name_of(part, i), DType::f32, shape,
                                   std::as_bytes(std::span(numbers.data(), n))});
            }
        gpt2::write_safetensors(weights(), tensors);
    }
    ~ModelFiles() {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    ModelFiles(const ModelFiles&) = delete;

    std::filesystem::path weights() const { return folder / "model.safetensors"; }

    std::filesystem::path folder;
};

/// Seconds until the file lies in fresh memory, read by one thread.
double seconds_to_read(const std::filesystem::path& file) {
    const lab::Stopwatch watch;
    const gpt2::Buffer<char> memory(std::filesystem::file_size(file));
    std::ifstream in(file, std::ios::binary);
    if (!in.read(memory.data(), std::streamsize(memory.size())))
        throw gpt2::BadInput(file.string() + ": cannot be read");
    return watch.seconds();
}

/// From a file that the system still has in memory to the first token. Its ceiling is
/// measured beside it: how long it takes only to read that file.
void start(benchmark::State& state, DType dtype) {
    static const ModelFiles files;
    const gpt2::LoadOptions options{.dtype = dtype, .threads = setup().threads};
    const Token token = 0;
    double reading = 0;
    std::unique_ptr<gpt2::Model> gpt;
    for (auto _ : state) {
        state.PauseTiming();
        gpt.reset();
        reading += seconds_to_read(files.weights());
        state.ResumeTiming();
        gpt = gpt2::load_model(files.folder, options);
        gpt2::KvCache cache = gpt->new_cache();
        benchmark::DoNotOptimize(gpt->forward({&token, 1}, cache));
    }
    using benchmark::Counter;
    state.counters["reading"] = Counter(reading, Counter::kAvgIterations);
    state.counters["GB/s"] =
        Counter(double(std::filesystem::file_size(files.weights())) / 1e9,
                Counter::kIsIterationInvariantRate);
}

}  // namespace

void add_model() {
    for (const DType dtype : weight_dtypes) {
        const std::string type(name_of(dtype));
        const auto write = [&](int past, int sequences) {
            add(fmt::format("decode/behind:{}/sequences:{}/{}", past, sequences, type),
                [=](benchmark::State& s) { decode(s, dtype, past, sequences); });
        };
        for (const int past : {10, 128, 511, 1000}) write(past, 1);
        for (const int sequences : {8, 16}) write(128, sequences);
        add("prefill/512/rows:all/" + type,
            [=](benchmark::State& s) { prefill(s, dtype, gpt2::Rows::all); });
        add("prefill/512/rows:last/" + type,
            [=](benchmark::State& s) { prefill(s, dtype, gpt2::Rows::last); });
    }
    for (const DType dtype : weight_dtypes)
        add(fmt::format("start/{}", name_of(dtype)),
            [=](benchmark::State& s) { start(s, dtype); });
}

}  // namespace bench
