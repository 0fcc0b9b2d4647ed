// Attention over the KV cache, at several contexts.

#include "gpt2/cpu/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench.hpp"
#include "gpt2/cpu/matmul.hpp"
#include "gpt2/cpu/team.hpp"

namespace bench {

namespace {

using gpt2::DType;
using gpt2::KvCache;
using gpt2::cpu::Worker;

/// `count` queries, the last of which looks at positions 0 ... context, in `layers`
/// layers of each of `caches`, on all heads.
void look_back(benchmark::State& state, const std::vector<KvCache>& caches, int layers,
               int context, int count) {
    const gpt2::KvLayout& layout = caches.front().pool()->layout();
    const int heads = layout.n_head, n = layout.head_dim;
    const gpt2::cpu::Activations query(count, heads * n), out(count, heads * n);
    const auto random = random_floats(query.memory.size());
    std::copy_n(random.data(), random.size(), query.memory.data());
    const std::size_t stride =
        gpt2::cpu::attention_scratch(layout, caches.front().pool()->n_ctx());
    const gpt2::cpu::Buffer<float> scratch(std::size_t(setup().threads) * stride);
    std::size_t next = 0;
    for (auto _ : state) {
        const KvCache& cache = caches[next++ % caches.size()];
        gpt2::cpu::together(setup().threads, [&](const Worker& worker) {
            for (int i = worker.index; i < layers * heads; i += worker.count) {
                const int offset = i % heads * n;
                gpt2::cpu::attend(cache, i / heads, i % heads, context - count + 1, count,
                                  query.row(0) + offset, query.stride,
                                  out.row(0) + offset, out.stride,
                                  scratch.data() + std::size_t(worker.index) * stride);
            }
        });
    }
}

std::vector<KvCache> caches_of(DType kv, int positions, bool from_memory) {
    const auto pool = std::make_shared<gpt2::KvPool>(gpt2::preset("small"), kv);
    std::vector<KvCache> caches;
    do {
        fill(caches.emplace_back(pool), positions);
    } while (from_memory && int(caches.size()) < setup().copies(caches.front().bytes()));
    return caches;
}

/// As in decode: each layer's keys and values come from memory, after all the weights.
void one_query(benchmark::State& state, DType kv, int context) {
    const int layers = gpt2::preset("small").n_layer;
    look_back(state, caches_of(kv, context + 1, true), layers, context, 1);
    const ledger::Operation work =
        operation("attention", DType::f32, kv, {.past = context, .rows = 0});
    count(state, layers * work.bytes, layers * work.flops);
}

/// As in prefill: one block after the other looks at one layer's keys and values, which
/// stay in the processor's caches meanwhile.
void block_of_queries(benchmark::State& state, DType kv, int context) {
    const int queries = gpt2::cpu::queries_at_a_time;
    look_back(state, caches_of(kv, context + 1, false), 1, context, queries);
    const ledger::Operation work =
        operation("attention", DType::f32, kv,
                  {.tokens = queries, .past = context - queries + 1, .rows = 0});
    count(state, 0, work.flops);
}

}  // namespace

void add_attention() {
    for (const DType kv : kv_dtypes)
        for (const int context : {64, 256, 512, 1023}) {
            const auto name = [&](const char* what) {
                return fmt::format("attention/{}/context:{}/{}", what, context,
                                   name_of(kv));
            };
            add(name("one"), [=](benchmark::State& s) { one_query(s, kv, context); });
            add(name("block"),
                [=](benchmark::State& s) { block_of_queries(s, kv, context); });
        }
}

}  // namespace bench
