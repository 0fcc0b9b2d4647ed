// Attention on the device, for few rows and for many, against sums in double precision:
// every type of cache, contexts of 1 to 1,024 positions, 1 to 25 heads, heads that fill
// no warp, several splits.

#include "device_support.hpp"
#include "gpt2/cuda/attention.hpp"

using namespace gpt2;
using namespace gpt2::cuda;
using support::on_device;
using support::on_host;

namespace {

/// Sequences of random keys and values in a cache, and a random query behind each.
template <class C>
struct Sequences {
    KvLayout layout;
    std::vector<int> lengths;
    int width = 0;  // of the table
    std::vector<Array<std::byte>> blocks;
    std::vector<std::byte*> table;
    std::vector<float> q;

    Sequences(const Config& config, std::vector<int> of_lengths, unsigned seed)
        : layout(config, sizeof(C) == 4 ? DType::f32 : DType::f16),
          lengths(std::move(of_lengths)) {
        for (const int n : lengths) width = std::max(width, KvLayout::blocks_for(n));
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (const int n : lengths)
            for (int b = 0; b < width; ++b) {
                blocks.emplace_back(layout.block_bytes());  // NaN all over
                table.push_back(blocks.back().data());
                C* memory = reinterpret_cast<C*>(table.back());
                for (int t = 0; t < std::min(32, n - 32 * b); ++t)
                    for (int l = 0; l < layout.n_layer; ++l)
                        for (int h = 0; h < layout.n_head; ++h)
                            for (int c = 0; c < layout.head_dim; ++c) {
                                memory[layout.keys(l, h) + std::size_t(c * 32 + t)] =
                                    narrow<C>(normal(random));
                                memory[layout.values(l, h) +
                                       std::size_t(t * layout.head_stride + c)] =
                                    narrow<C>(normal(random));
                            }
            }
        q = support::random_floats(
            lengths.size() * std::size_t(layout.n_head * layout.head_dim), seed + 1, 3);
    }

    double number(std::size_t sequence, int t, std::size_t element) const {
        const std::byte* block =
            table[sequence * std::size_t(width) + std::size_t(t / 32)];
        return double(widen(reinterpret_cast<const C*>(block)[element]));
    }

    /// out [n_embd] of a query that looks at positions 0 ... length - 1.
    std::vector<double> expected(const float* query, std::size_t sequence, int length,
                                 int layer) const {
        const int dim = layout.head_dim;
        std::vector<double> out;
        for (int h = 0; h < layout.n_head; ++h) {
            std::vector<double> scores, sums(std::size_t(dim), 0.0);
            for (int t = 0; t < length; ++t) {
                double score = 0;
                for (int c = 0; c < dim; ++c)
                    score += double(query[h * dim + c]) *
                             number(sequence, t,
                                    layout.keys(layer, h) + std::size_t(c * 32 + t % 32));
                scores.push_back(score / std::sqrt(double(dim)));
            }
            const double top = *std::ranges::max_element(scores);
            double total = 0;
            for (int t = 0; t < length; ++t) {
                const double weight = std::exp(scores[std::size_t(t)] - top);
                total += weight;
                for (int c = 0; c < dim; ++c)
                    sums[std::size_t(c)] +=
                        weight * number(sequence, t,
                                        layout.values(layer, h) +
                                            std::size_t(t % 32 * layout.head_stride + c));
            }
            for (const double sum : sums) out.push_back(sum / total);
        }
        return out;
    }
};

/// Each sequence's query at its last position, by `attend`.
template <class C, int spread>
void check_few(const Config& config, const std::vector<int>& lengths, int splits,
               int first_row = 0) {
    const Sequences<C> s(config, lengths, unsigned(config.n_embd + splits));
    const int layer = config.n_layer - 1, rows = int(lengths.size()) - first_row;
    const std::size_t heads = std::size_t(rows) * config.n_head;
    std::vector<int> positions, sequences;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        positions.push_back(lengths[i] - 1);
        sequences.push_back(int(i));
    }
    const auto q = on_device(s.q);
    const auto position = on_device(positions), sequence = on_device(sequences);
    const auto table = on_device(s.table);
    const auto arrived = on_device(std::vector<unsigned>(heads));
    const Array<float> found(heads * std::size_t(splits * (config.head_dim() + 2)));
    const auto out = on_device(std::vector<float>(s.q.size(), 0.0f));
    Batch batch{nullptr, position.data(), sequence.data(), table.data(), s.width};
    Stream stream;
    std::vector<double> expected(std::size_t(first_row * config.n_embd), 0.0);
    for (std::size_t i = std::size_t(first_row); i < lengths.size(); ++i)
        for (const double x :
             s.expected(&s.q[i * std::size_t(config.n_embd)], i, lengths[i], layer))
            expected.push_back(x);
    for (int launch = 0; launch < 2; ++launch) {  // the first must leave the counts at 0
        stream.clear(out.data(), out.bytes());
        stream.launch(attend<C, spread>,
                      dim3(unsigned(config.n_head), unsigned(rows), unsigned(splits)),
                      dim3(attend_threads), 0, q.data(), batch, first_row,
                      CacheLayer(s.layout, layer), Partial{found.data(), arrived.data()},
                      out.data());
        EXPECT_LT(support::largest_difference(on_host(out), expected), 1e-5)
            << "head_dim " << config.head_dim() << ", heads " << config.n_head
            << ", length " << lengths.back() << ", splits " << splits;
    }
}

/// The last rows of a sequence, by the kernels around the library's products.
template <class T, class C>
void check_many(const Config& config, int length, int rows, double tolerance) {
    const Sequences<C> s(config, {length}, unsigned(length));
    const int heads = config.n_head, dim = config.head_dim(), layer = 0;
    const int span = s.width * 32, position = length - rows;
    const auto table = on_device(s.table);
    const auto sequence = on_device(std::vector{0});
    const Array<T> keys(std::size_t(heads * dim * span)), values(keys.size());
    Batch batch{nullptr, nullptr, sequence.data(), table.data(), s.width};
    Stream stream;
    stream.launch(gather<T, C>, dim3(unsigned(heads), unsigned(s.width)), dim3(128), 0,
                  batch, 0, length, CacheLayer(s.layout, layer), keys.data(),
                  values.data());
    for (int h = 0; h < heads; ++h)
        for (int t = 0; t < span; ++t)
            for (int c = 0; c < dim; ++c) {
                const std::size_t key =
                    s.layout.keys(layer, h) + std::size_t(c * 32 + t % 32);
                const std::size_t value = s.layout.values(layer, h) +
                                          std::size_t(t % 32 * s.layout.head_stride + c);
                const bool held = t < length;
                ASSERT_EQ(widen(keys.data()[(h * dim + c) * span + t]),
                          held ? widen(narrow<T>(float(s.number(0, t, key)))) : 0);
                ASSERT_EQ(widen(values.data()[(h * span + t) * dim + c]),
                          held ? widen(narrow<T>(float(s.number(0, t, value)))) : 0);
            }

    const auto scores =
        support::random_floats(std::size_t(heads * rows * span), unsigned(rows), 4);
    const auto dscores = on_device(scores);
    const Array<T> weights(scores.size());
    stream.launch(causal_softmax<T>, dim3(unsigned(rows + 3) / 4, unsigned(heads)),
                  dim3(128), 0, dscores.data(), rows, position, span, weights.data());
    std::vector<double> expected(scores.size(), 0.0);
    for (int r = 0; r < heads * rows; ++r) {
        const int looks = position + r % rows + 1;
        const float* from = &scores[std::size_t(r * span)];
        double total = 0;
        for (int t = 0; t < looks; ++t) total += std::exp(double(from[t]));
        for (int t = 0; t < looks; ++t)
            expected[std::size_t(r * span + t)] = std::exp(double(from[t])) / total;
    }
    EXPECT_LT(support::largest_difference(on_host(weights), expected), tolerance)
        << "length " << length << ", rows " << rows;
}

}  // namespace

TEST(CudaAttention, AnyContext) {
    support::in_every_order([] {
        const Config config{1, 1024, 128, 1, 2};
        for (const int length : {1, 2, 31, 32, 33, 127, 128, 129, 500, 1000, 1023, 1024})
            for (const int splits : {1, 3, 8}) {
                check_few<float, 2>(config, {length}, splits);
                check_few<f16, 2>(config, {length}, splits);
            }
    });
}

TEST(CudaAttention, AnyHead) {
    support::in_every_order([] {
        for (const int heads : {1, 3, 12, 16, 20, 25})
            check_few<float, 2>({1, 256, 64 * heads, 2, heads}, {77}, 2);
        check_few<float, 1>({1, 256, 2, 2, 2}, {70}, 2);
        check_few<f16, 1>({1, 256, 40, 2, 2}, {70}, 2);
        check_few<float, 2>({1, 256, 80, 2, 2}, {70}, 2);
        check_few<f16, 4>({1, 256, 200, 2, 2}, {70}, 2);
        check_few<float, 8>({1, 256, 512, 1, 2}, {70}, 2);
    });
}

TEST(CudaAttention, SequencesOfDifferentLengths) {
    support::in_every_order([] {
        const Config config{1, 256, 48, 2, 3};
        check_few<float, 1>(config, {1, 200, 33, 64}, 4);
        check_few<f16, 1>(config, {1, 200, 33, 64}, 1);
        check_few<f16, 1>(config, {90, 7, 200, 33}, 3, 2);  // the first two are not asked
    });
}

TEST(CudaAttention, ManyRowsGatherAndLookBackOnly) {
    support::in_every_order([] {
        const Config config{1, 256, 40, 2, 2};
        for (const auto& [length, rows] : std::vector<std::pair<int, int>>{
                 {1, 1}, {9, 9}, {32, 32}, {33, 10}, {100, 37}}) {
            check_many<float, float>(config, length, rows, 1e-6);
            check_many<float, f16>(config, length, rows, 1e-6);
            check_many<f16, float>(config, length, rows, 1e-3);
            check_many<bf16, f16>(config, length, rows, 4e-3);
        }
    });
}
