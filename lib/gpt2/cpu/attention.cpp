#include "gpt2/cpu/attention.hpp"

#include <algorithm>
#include <cmath>

#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/simd.hpp"

namespace gpt2::cpu {

namespace {

constexpr int block = KvLayout::positions;
/// One query waits for memory: its keys and values lie in stretches of a few KiB.
constexpr unsigned ahead_for(int rows) { return rows == 1 ? ~0u : 0u; }

/// Rows of scores are a cache line longer than they need be (see Activations).
std::size_t score_stride(int n_ctx) { return (n_ctx + block - 1) / block * block + 16; }

/// One head of one layer of a cache, as numbers of type T.
template <class T>
struct Head {
    const KvCache& cache;
    std::size_t keys, values;  ///< elements from the start of a block
    int dim, stride;

    Head(const KvCache& c, int layer, int head)
        : cache(c),
          keys(c.pool()->layout().keys(layer, head)),
          values(c.pool()->layout().values(layer, head)),
          dim(c.pool()->layout().head_dim),
          stride(c.pool()->layout().head_stride) {}

    T* at(int i, std::size_t offset) const {
        return reinterpret_cast<T*>(cache.block(i)) + offset;
    }

    void append(int position, const float* key, const float* value) const {
        T* k = at(position / block, keys) + position % block;
        T* v = at(position / block, values) + std::size_t(position % block) * stride;
        int c = 0;
        for (; c + 16 <= dim; c += 16) store(load(value + c), v + c);
        if (c < dim) {
            float last[16] = {};
            std::copy_n(value + c, dim - c, last);
            store(load(last), v + c);
        }
        for (c = 0; c < dim; ++c) {
            if constexpr (sizeof(T) == 4)
                k[c * block] = key[c];
            else
                k[c * block].bits = to_f16(key[c]);
        }
    }

    /// scores[r, t] = query[r] . key[t] for the 32 positions of block i; `next` is what
    /// is read then.
    template <int rows>
    void score(int i, const T* next, Left query, float* scores,
               std::size_t scores_stride) const {
        unroll<2 / tile_panels>([&](auto half) HWY_ATTR {
            const Right<T> part{
                at(i, keys) + half * 16, block,         16, next + half * 16,
                block * sizeof(T),       16 * sizeof(T)};
            tile<rows, tile_panels, ahead_for(rows)>(
                query, part, dim, [&](int r, int p, const Vec16& sums) HWY_ATTR {
                    store(sums, scores + r * scores_stride + block * i + 16 * (half + p));
                });
        });
    }

    /// out[r] += weights[r, t] * value[t] for positions [from, to) and the 16 `panels`
    /// channels from c on. `out` is [rows][stride]. The sums stay in registers from the
    /// first position to the last.
    template <int rows, int panels>
    void gather_panels(int c, int from, int to, Left weights, float* out) const {
        const auto place = [&](int r, int p) { return out + r * stride + c + 16 * p; };
        Sums<rows, panels> sums;
        unroll<rows>([&](auto r) HWY_ATTR {
            unroll<panels>([&](auto p) HWY_ATTR { sums[r][p] = load(place(r, p)); });
        });
        const int last = (to - 1) / block;
        for (int i = from / block; i <= last; ++i, from = i * block) {
            const T* v = at(i, values + c) + std::size_t(from % block) * stride;
            add_products<rows, panels, ahead_for(rows)>(
                Left{weights.data + from, weights.stride},
                Right<T>{v, std::size_t(stride), 16,
                         at(std::min(i + 1, last), values + c), stride * sizeof(T),
                         16 * sizeof(T)},
                std::min(to, (i + 1) * block) - from, sums);
        }
        unroll<rows>([&](auto r) HWY_ATTR {
            unroll<panels>([&](auto p) HWY_ATTR { store(sums[r][p], place(r, p)); });
        });
    }

    /// The same for all channels.
    template <int rows>
    void gather(int from, int to, Left weights, float* out) const {
        constexpr int panels = rows == 1 ? row_panels : tile_panels;
        int c = 0;
        for (; c + 16 * panels <= stride; c += 16 * panels)
            gather_panels<rows, panels>(c, from, to, weights, out);
        for (; c < stride; c += 16) gather_panels<rows, 1>(c, from, to, weights, out);
    }
};

template <int rows, class T>
void attend_rows(const Head<T>& head, int position, Left query, float* out,
                 std::size_t out_stride, float* scratch, std::size_t scores_stride) {
    float* scores = scratch;
    float* sums = scratch + queries_at_a_time * scores_stride;
    const float scale = 1.0f / std::sqrt(float(head.dim));

    const int blocks = (position + rows + block - 1) / block;
    for (int i = 0; i < blocks; ++i) {
        const T* next =
            i + 1 < blocks ? head.at(i + 1, head.keys) : head.at(0, head.values);
        head.template score<rows>(i, next, query, scores, scores_stride);
    }

    float total[rows];
    for (int r = 0; r < rows; ++r)
        softmax(scores + r * scores_stride, position + r + 1, scale, &total[r]);

    // [attend]
    // Up to `position` all rows look at the same positions, and share the trip. Behind
    // it, each has its own end: there they go one by one.
    std::fill_n(sums, rows * head.stride, 0.0f);
    head.template gather<rows>(0, position + 1, Left{scores, scores_stride}, sums);
    for (int r = 1; r < rows; ++r)
        head.template gather<1>(position + 1, position + r + 1,
                                Left{scores + r * scores_stride, 0},
                                sums + r * head.stride);
    // [attend]

    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < head.dim; ++c)
            out[r * out_stride + c] = sums[r * head.stride + c] / total[r];
}

template <class T>
void attend_as(const Head<T>& head, int position, int count, Left query, float* out,
               std::size_t out_stride, float* scratch) {
    const std::size_t scores_stride = score_stride(head.cache.pool()->n_ctx());
    with_constant<queries_at_a_time>(count, [&](auto rows) {
        attend_rows<rows>(head, position, query, out, out_stride, scratch, scores_stride);
    });
}

}  // namespace

std::size_t attention_scratch(const KvLayout& layout, int n_ctx) {
    return queries_at_a_time * (score_stride(n_ctx) + layout.head_stride);
}

void append(const KvCache& cache, int layer, int head, int position, const float* key,
            const float* value) {
    if (cache.pool()->layout().dtype == DType::f16)
        Head<f16>(cache, layer, head).append(position, key, value);
    else
        Head<float>(cache, layer, head).append(position, key, value);
}

void attend(const KvCache& cache, int layer, int head, int position, int count,
            const float* query, std::size_t query_stride, float* out,
            std::size_t out_stride, float* scratch) {
    const Left queries{query, query_stride};
    if (cache.pool()->layout().dtype == DType::f16)
        attend_as(Head<f16>(cache, layer, head), position, count, queries, out,
                  out_stride, scratch);
    else
        attend_as(Head<float>(cache, layer, head), position, count, queries, out,
                  out_stride, scratch);
}

}  // namespace gpt2::cpu
