#include "kernel_times.hpp"

#include <algorithm>
#include <stdexcept>

#include "gpt2/cuda/attention.hpp"
#include "gpt2/cuda/choose.hpp"
#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/multiply.hpp"
#include "lab/measured.hpp"

// Compiled for a GPU, and included by a test for the kernels' CPU machine.

namespace gpu_check {

using gpt2::Config;
using gpt2::DType;
using gpt2::KvLayout;
using lab::Seconds;

namespace {

using namespace gpt2::cuda;

/// Launches in a graph, for each layer.
constexpr int repeats = 8;

/// Seconds of one launch, where `work(i)` gives the i-th of `launches`, which then go
/// round together.
template <class F>
Seconds time(Stream& stream, int launches, int looks, F work) {
    const Graph graph(stream, [&] {
        for (int i = 0; i < launches; ++i) work(i);
    });
    std::vector<double> seconds;
    for (int look = -1; look < looks; ++look) {  // one to warm up
        const lab::Stopwatch watch;
        for (int round = 0; round < 2; ++round) graph.launch(stream);
        stream.wait();
        if (look >= 0) seconds.push_back(watch.seconds() / 2 / launches);
    }
    return lab::summarize(std::move(seconds)).median;
}

/// On the device, zero all over.
template <class T>
Array<T> zeros(Stream& stream, std::size_t size) {
    Array<T> array(size);
    stream.clear(array.data(), array.bytes());
    return array;
}

/// One sequence's cache, full of zeros, and a row behind `context` positions of it.
class Row {
public:
    Row(Stream& stream, const Config& config, DType kv, int context)
        : layout_(config, kv),
          blocks_(KvLayout::blocks_for(config.n_ctx)),
          memory_(zeros<std::byte>(stream, std::size_t(blocks_) * layout_.block_bytes())),
          zero_(zeros<int>(stream, 1)),
          position_(1),
          table_(std::size_t(blocks_)) {
        std::vector<std::byte*> table;
        for (int b = 0; b < blocks_; ++b)
            table.push_back(memory_.data() + std::size_t(b) * layout_.block_bytes());
        stream.copy(table_.data(), table.data(), table_.bytes());
        stream.copy(position_.data(), &context, sizeof context);
        stream.wait();
    }

    Batch batch() const {
        return {zero_.data(), position_.data(), zero_.data(), table_.data(), blocks_};
    }
    const KvLayout& layout() const { return layout_; }

private:
    KvLayout layout_;
    int blocks_;
    Array<std::byte> memory_;
    Array<int> zero_, position_;
    Array<std::byte*> table_;
};

template <class C>
Seconds time_attention(Stream& stream, const Config& config, const Row& row, int splits,
                       int looks) {
    const std::size_t d = std::size_t(config.n_embd), heads = std::size_t(config.n_head);
    const auto q = zeros<float>(stream, d), out = zeros<float>(stream, d);
    const auto found = zeros<float>(
        stream, heads * std::size_t(splits) * std::size_t(config.head_dim() + 2));
    const auto arrived = zeros<unsigned>(stream, heads);
    return time(stream, repeats * config.n_layer, looks, [&](int i) {
        stream.launch(attend<C, 2>, dim3(unsigned(heads), 1, unsigned(splits)),
                      dim3(attend_threads), 0, q.data(), row.batch(), 0,
                      CacheLayer(row.layout(), i % config.n_layer),
                      Partial{found.data(), arrived.data()}, out.data());
    });
}

Seconds time_attention(Stream& stream, const Config& config, const Row& row, int splits,
                       int looks) {
    if (config.head_dim() > 64)
        throw std::invalid_argument("attention: expected heads of at most 64 channels");
    return row.layout().dtype == DType::f16
               ? time_attention<gpt2::cuda::f16>(stream, config, row, splits, looks)
               : time_attention<float>(stream, config, row, splits, looks);
}

/// y = f(norm(x) W + b), with another matrix in every layer.
template <class T>
Seconds time_product(Stream& stream, const Config& config, const Row& row, int layers,
                     int k, int n, bool norm, Then then, int looks) {
    const std::size_t size = std::size_t(n) * std::size_t(padded(k));
    const auto w = zeros<T>(stream, size * std::size_t(layers));
    const auto x = zeros<float>(stream, std::size_t(k)),
               y = zeros<float>(stream, std::size_t(n)),
               gain = zeros<float>(stream, std::size_t(k)),
               bias = zeros<float>(stream, std::size_t(std::max(n, k)));
    const Norm normed = norm ? Norm{gain.data(), bias.data()} : Norm{};
    const int warps = few_threads / simt::warp_size;
    const int blocks = std::min((n + warps - 1) / warps, 16 * multiprocessors());
    return time(stream, repeats * layers, looks, [&](int i) {
        const int layer = i % layers;
        const Target target{
            then,        y.data(),    n,
            bias.data(), row.batch(), CacheLayer(row.layout(), layer % config.n_layer)};
        stream.launch(multiply_few<T, 1>, dim3(unsigned(blocks)), dim3(few_threads),
                      std::size_t(padded(k)) * sizeof(float), x.data(), 1, k, normed,
                      w.data() + std::size_t(layer) * size, target);
    });
}

template <class T>
Seconds time_embed(Stream& stream, const Config& config, const Row& row, int looks) {
    const int d = config.n_embd;
    const auto tokens = zeros<T>(stream, std::size_t(padded(d)));
    const auto places = zeros<float>(stream, std::size_t(config.n_ctx) * std::size_t(d));
    const auto x = zeros<float>(stream, std::size_t(d));
    return time(stream, repeats, looks, [&](int) {
        stream.launch(embed<T>, dim3(1), dim3(row_threads), 0, row.batch(), tokens.data(),
                      places.data(), d, x.data());
    });
}

/// Greedy. It moves its row on by one position each time.
Seconds time_choose(Stream& stream, const Config& config, int looks) {
    const std::size_t vocab = std::size_t(config.n_vocab);
    const auto logits = zeros<float>(stream, vocab);
    const auto weights = zeros<std::uint64_t>(stream, vocab);
    const auto token = zeros<int>(stream, 1), position = zeros<int>(stream, 1);
    const auto written = zeros<int>(stream, std::size_t(2 * repeats * (looks + 1)));
    const Array<gpt2::SamplerOptions> options(1);
    const gpt2::SamplerOptions greedy;
    stream.copy(options.data(), &greedy, sizeof greedy);
    stream.wait();
    Batch batch{};
    batch.token = token.data();
    batch.position = position.data();
    return time(stream, repeats, looks, [&](int) {
        stream.launch(choose, dim3(1), dim3(choose_threads), 0, logits.data(),
                      config.n_vocab, options.data(), weights.data(), batch,
                      written.data());
    });
}

/// As the engine has it for one row.
int splits_for(const Config& config) {
    const int most = std::max(1, KvLayout::blocks_for(config.n_ctx) / attend_warps);
    return std::clamp(4 * multiprocessors() / config.n_head, 1, std::min(most, 16));
}

template <class T>
std::vector<KernelTime> all_times(const Config& config, DType weights, DType kv,
                                  int context, int looks) {
    const ledger::Step step{.tokens = 1, .past = context, .rows = 1};
    const auto operations = ledger::forward_pass(config, weights, kv, {&step, 1});
    std::vector<KernelTime> all;
    const auto add = [&](const char* name, Seconds seconds) {
        for (const ledger::Operation& o : operations)
            if (o.name == name)
                all.push_back({name, o.times, o.bytes / o.times, seconds});
    };
    Stream stream;
    const Row row(stream, config, kv, context);
    const auto product = [&](int layers, int k, int n, bool norm, Then then) {
        return time_product<T>(stream, config, row, layers, k, n, norm, then, looks);
    };
    const int d = config.n_embd, inner = config.n_inner(), layers = config.n_layer;
    add("embed", time_embed<T>(stream, config, row, looks));
    add("attn qkv", product(layers, d, 3 * d, true, Then::remember));
    add("attention", time_attention(stream, config, row, splits_for(config), looks));
    add("attn proj", product(layers, d, d, false, Then::residual));
    add("fc", product(layers, d, inner, true, Then::gelu));
    add("mlp proj", product(layers, inner, d, false, Then::residual));
    add("head", product(1, d, config.n_vocab, true, Then::store));
    all.push_back({"choose", 1, double(config.n_vocab) * sizeof(float),
                   time_choose(stream, config, looks)});
    return all;
}

}  // namespace

std::vector<KernelTime> kernel_times(const Config& config, DType weights, DType kv,
                                     int context, int looks) {
    if (weights == DType::f16)
        return all_times<gpt2::cuda::f16>(config, weights, kv, context, looks);
    if (weights == DType::bf16)
        return all_times<gpt2::cuda::bf16>(config, weights, kv, context, looks);
    return all_times<float>(config, weights, kv, context, looks);
}

Seconds attention_time(const Config& config, DType kv, int context, int splits,
                       int looks) {
    Stream stream;
    const Row row(stream, config, kv, context);
    return time_attention(stream, config, row, splits, looks);
}

#ifdef __CUDACC__

std::vector<std::pair<std::string, std::string>> device_properties() {
    cudaDeviceProp p;
    check(cudaGetDeviceProperties(&p, 0), "device");
    const auto attribute = [](cudaDeviceAttr which) {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, which, 0), "device");
        return std::to_string(value);
    };
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "driver");
    check(cudaRuntimeGetVersion(&runtime), "runtime");
    const auto version = [](int v) {
        return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
    };
    return {
        {"name", p.name},
        {"compute capability", std::to_string(p.major) + "." + std::to_string(p.minor)},
        {"multiprocessors", std::to_string(p.multiProcessorCount)},
        {"memory, bytes", std::to_string(p.totalGlobalMem)},
        {"memory bus, bits", std::to_string(p.memoryBusWidth)},
        {"memory clock, kHz", attribute(cudaDevAttrMemoryClockRate)},
        {"clock, kHz", attribute(cudaDevAttrClockRate)},
        {"second-level cache, bytes", std::to_string(p.l2CacheSize)},
        {"shared memory of a multiprocessor, bytes",
         std::to_string(p.sharedMemPerMultiprocessor)},
        {"shared memory of a block, bytes", std::to_string(p.sharedMemPerBlockOptin)},
        {"error correction", p.ECCEnabled ? "on" : "off"},
        {"cooperative launch", attribute(cudaDevAttrCooperativeLaunch)},
        {"driver's CUDA", version(driver)},
        {"runtime's CUDA", version(runtime)}};
}

std::size_t memory_in_use() {
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "memory");
    return all - free;
}

#endif

}  // namespace gpu_check
