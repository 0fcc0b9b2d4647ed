#include "bench.hpp"

#include <random>

#include "gpt2/cpu/attention.hpp"
#include "gpt2/error.hpp"

namespace bench {

using gpt2::DType;

Setup& setup() {
    static Setup the_setup;
    return the_setup;
}

void add(const std::string& name, std::function<void(benchmark::State&)> body) {
    benchmark::RegisterBenchmark(name.c_str(), std::move(body))->UseRealTime();
}

void count(benchmark::State& state, double bytes, double flops) {
    using benchmark::Counter;
    state.counters["bytes"] = bytes;
    state.counters["flops"] = flops;
    state.counters["GB/s"] = Counter(bytes / 1e9, Counter::kIsIterationInvariantRate);
    state.counters["GFLOP/s"] = Counter(flops / 1e9, Counter::kIsIterationInvariantRate);
}

void count(benchmark::State& state, std::span<const ledger::Operation> operations) {
    count(state, ledger::total_bytes(operations), ledger::total_flops(operations));
}

ledger::Operation operation(const std::string& name, DType weights, DType kv,
                            const ledger::Step& step) {
    for (ledger::Operation& found :
         ledger::forward_pass(gpt2::preset("small"), weights, kv, {&step, 1}))
        if (found.name == name)
            return {name, 1, found.flops / found.times, found.bytes / found.times};
    throw gpt2::Error("bench: the ledger has no operation '" + name + "'");
}

gpt2::Buffer<float> random_floats(std::size_t count) {
    std::minstd_rand random(1);
    gpt2::Buffer<float> floats(count);
    for (std::size_t i = 0; i < count; ++i)
        floats[i] = float(random()) / float(std::minstd_rand::max()) * 2 - 1;
    return floats;
}

void fill(gpt2::KvCache& cache, int positions) {
    const gpt2::KvLayout& layout = cache.pool()->layout();
    static const auto floats = random_floats(2048);
    cache.reserve(positions);
    for (int i = 0; i < layout.n_layer * layout.n_head; ++i)
        for (int t = 0; t < positions; ++t) {
            const float* const some = floats.data() + t % 1024;
            gpt2::cpu::append(cache, i / layout.n_head, i % layout.n_head, t, some,
                              some + layout.head_dim);
        }
    cache.advance(positions);
}

}  // namespace bench
