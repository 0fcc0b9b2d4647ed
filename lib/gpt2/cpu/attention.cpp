#include "gpt2/cpu/attention.hpp"

#include <algorithm>
#include <cmath>

#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/simd.hpp"
#include "gpt2/cpu/tile.hpp"

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
        for (int c = 0; c < dim; c += 16) {
            float last[16] = {};
            std::copy_n(value + c, std::min(16, dim - c), last);
            store(load(last), v + c);
        }
        for (int c = 0; c < dim; ++c) {
            if constexpr (sizeof(T) == 4)
                k[c * block] = key[c];
            else
                k[c * block].bits = to_f16(key[c]);
        }
    }

    /// scores[r, t] = query[r] . key[t] for the 32 positions of block i; `next` is the
    /// block that comes then.
    template <int rows>
    void score(int i, int next, Left query, float* scores,
               std::size_t scores_stride) const {
        unroll<2 / tile_panels>([&](auto half) HWY_ATTR {
            const Right<T> part{at(i, keys) + half * 16, block, 16,
                                at(next, keys) + half * 16};
            tile<rows, tile_panels, ahead_for(rows)>(
                query, part, dim, [](int, int) HWY_ATTR { return broadcast(0.0f); },
                [&](int r, int p, const Vec16& sums) HWY_ATTR {
                    store(sums, scores + r * scores_stride + block * i + 16 * (half + p));
                });
        });
    }

    /// out[r] += weights[r, t] * value[t] for positions [from, to), all in one block, of
    /// which there are `last` + 1. `out` is [rows][stride].
    template <int rows>
    void gather(int from, int to, int last, Left weights, float* out) const {
        const T* v = at(from / block, values) + std::size_t(from % block) * stride;
        const T* next = at(std::min(from / block + 1, last), values);
        const auto columns = [&]<int panels>(std::integral_constant<int, panels>, int c) {
            tile<rows, panels, ahead_for(rows)>(
                Left{weights.data + from, weights.stride},
                Right<T>{v + c, std::size_t(stride), 16, next + c}, to - from,
                [&](int r, int p)
                    HWY_ATTR { return load(out + r * stride + c + 16 * p); },
                [&](int r, int p, const Vec16& sums)
                    HWY_ATTR { store(sums, out + r * stride + c + 16 * p); });
        };
        constexpr int panels = rows == 1 ? row_panels : tile_panels;
        int c = 0;
        for (; c + 16 * panels <= stride; c += 16 * panels)
            columns(std::integral_constant<int, panels>(), c);
        for (; c < stride; c += 16) columns(std::integral_constant<int, 1>(), c);
    }
};

template <int rows, class T>
void attend_rows(const Head<T>& head, int position, Left query, float* out,
                 std::size_t out_stride, float* scratch, std::size_t scores_stride) {
    float* scores = scratch;
    float* sums = scratch + queries_at_a_time * scores_stride;
    const float scale = 1.0f / std::sqrt(float(head.dim));

    const int blocks = (position + rows + block - 1) / block;
    for (int i = 0; i < blocks; ++i)
        head.template score<rows>(i, std::min(i + 1, blocks - 1), query, scores,
                                  scores_stride);

    float total[rows];
    for (int r = 0; r < rows; ++r)
        softmax(scores + r * scores_stride, position + r + 1, scale, &total[r]);

    // [attend]
    // Up to `position` all rows look at the same positions, and share the trip. Behind
    // it, each has its own end: there they go one by one.
    std::fill_n(sums, rows * head.stride, 0.0f);
    for (int from = 0; from <= position; from += block) {
        head.template gather<rows>(from, std::min(from + block, position + 1), blocks - 1,
                                   Left{scores, scores_stride}, sums);
    }
    for (int r = 1; r < rows; ++r)
        for (int from = position + 1; from <= position + r;) {
            const int to = std::min((from / block + 1) * block, position + r + 1);
            head.template gather<1>(from, to, blocks - 1,
                                    Left{scores + r * scores_stride, 0},
                                    sums + r * head.stride);
            from = to;
        }
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
