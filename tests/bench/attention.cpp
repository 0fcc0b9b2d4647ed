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
/// layers on all heads. `batch` times between two looks at the clock, since waking the
/// team takes as long as a small one; each time in the next of `caches`.
void look_back(benchmark::State& state, const std::vector<KvCache>& caches, int layers,
               int context, int count, int batch) {
    const gpt2::KvLayout& layout = caches.front().pool()->layout();
    const int heads = layout.n_head, n = layout.head_dim;
    const gpt2::cpu::Activations query(count, heads * n), out(count, heads * n);
    const auto random = random_floats(query.memory.size());
    std::copy_n(random.data(), random.size(), query.memory.data());
    const std::size_t stride =
        gpt2::cpu::attention_scratch(layout, caches.front().pool()->n_ctx());
    const gpt2::Buffer<float> scratch(std::size_t(setup().threads) * stride);
    std::size_t next = 0;
    while (state.KeepRunningBatch(batch)) {
        gpt2::cpu::together(setup().threads, [&](const Worker& worker) {
            float* const own = scratch.data() + std::size_t(worker.index) * stride;
            for (int i = worker.index; i < batch * layers * heads; i += worker.count) {
                const int layer = i / heads % layers, head = i % heads;
                const std::size_t turn = next + std::size_t(i / heads / layers);
                gpt2::cpu::attend(caches[turn % caches.size()], layer, head,
                                  context - count + 1, count, query.row(0) + head * n,
                                  query.stride, out.row(0) + head * n, out.stride, own);
            }
        });
        next += std::size_t(batch);
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
    look_back(state, caches_of(kv, context + 1, true), layers, context, 1, 4);
    const ledger::Operation work =
        operation("attention", DType::f32, kv, {.past = context, .rows = 0});
    count(state, layers * work.bytes, layers * work.flops);
}

/// As in prefill: one block after the other looks at one layer's keys and values, which
/// stay in the processor's caches meanwhile.
void block_of_queries(benchmark::State& state, DType kv, int context) {
    const int queries = gpt2::cpu::queries_at_a_time;
    look_back(state, caches_of(kv, context + 1, false), 1, context, queries, 64);
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
