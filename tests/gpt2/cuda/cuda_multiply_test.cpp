// The kernels around the matrices, for few rows and for many, against sums in double
// precision: every type, every ending, shapes that fill nothing.

#include "device_support.hpp"
#include "gpt2/cuda/gemm.hpp"
#include "gpt2/cuda/multiply.hpp"
#include "gpt2/error.hpp"

using namespace gpt2;
using namespace gpt2::cuda;
using support::on_device;
using support::on_host;

namespace {

/// A product as both ways get it, and what it must give.
template <class T>
struct Case {
    int rows, k, n;
    std::vector<float> x, gain, bias_of_norm, bias, y;
    std::vector<T> w;  // [n, padded(k)]

    Case(int r, int depth, int columns, unsigned seed) : rows(r), k(depth), n(columns) {
        x = support::random_floats(std::size_t(rows * k), seed, 2);
        gain = support::random_floats(std::size_t(k), seed + 1);
        bias_of_norm = support::random_floats(std::size_t(k), seed + 2);
        bias = support::random_floats(std::size_t(n), seed + 3);
        y = support::random_floats(std::size_t(rows * n), seed + 4);
        std::vector<float> all(std::size_t(n * padded(k)));
        const auto numbers =
            support::random_floats(std::size_t(n * k), seed + 5, 1 / std::sqrt(float(k)));
        for (int c = 0; c < n; ++c)
            for (int i = 0; i < k; ++i)
                all[std::size_t(c * padded(k) + i)] = numbers[std::size_t(c * k + i)];
        w = support::narrowed<T>(all);
    }

    /// Rows as they are multiplied, [rows, k].
    std::vector<double> input(bool norm) const {
        std::vector<double> all(x.begin(), x.end());
        for (int r = 0; norm && r < rows; ++r) {
            double* row = &all[std::size_t(r * k)];
            double mean = 0, variance = 0;
            for (int i = 0; i < k; ++i) mean += row[i] / k;
            for (int i = 0; i < k; ++i) variance += (row[i] - mean) * (row[i] - mean) / k;
            for (int i = 0; i < k; ++i)
                row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) *
                             double(gain[std::size_t(i)]) +
                         double(bias_of_norm[std::size_t(i)]);
        }
        return all;
    }

    std::vector<double> expected(bool norm, Then then) const {
        const std::vector<double> in = input(norm);
        std::vector<double> out;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < n; ++c) {
                double sum = 0;
                for (int i = 0; i < k; ++i)
                    sum += in[std::size_t(r * k + i)] *
                           double(widen(w[std::size_t(c * padded(k) + i)]));
                if (then != Then::store) sum += double(bias[std::size_t(c)]);
                if (then == Then::gelu)
                    sum *= 0.5 * (1 + std::tanh(0.7978845608028654 *
                                                (sum + 0.044715 * sum * sum * sum)));
                if (then == Then::residual) sum += double(y[std::size_t(r * n + c)]);
                out.push_back(sum);
            }
        return out;
    }

    /// By the kernels: `many` through the library.
    std::vector<float> found(bool norm, Then then, bool many) const {
        Stream stream;
        const auto dx = on_device(x), dgain = on_device(gain),
                   dnorm = on_device(bias_of_norm), dbias = on_device(bias),
                   dy = on_device(y);
        const auto dw = on_device(w);
        const Norm n_or_none = norm ? Norm{dgain.data(), dnorm.data()} : Norm{};
        const Target target{then,    dy.data(),
                            n,       dbias.data(),
                            Batch{}, CacheLayer({{1, 1, 1, 1, 1}, DType::f32}, 0)};
        if (many) {
            const Array<T> prepared(std::size_t(rows * padded(k)));
            const Array<float> sums(y.size());
            stream.launch(prepare<T>, dim3(unsigned(rows + 3) / 4), dim3(row_threads), 0,
                          dx.data(), rows, k, n_or_none, prepared.data());
            const DType dtype = std::is_same_v<T, float> ? DType::f32
                                : std::is_same_v<T, f16> ? DType::f16
                                                         : DType::bf16;
            Gemm().multiply(stream, Product{rows,
                                            n,
                                            padded(k),
                                            {prepared.data(), padded(k)},
                                            {dw.data(), padded(k)},
                                            true,
                                            {sums.data(), n},
                                            dtype});
            stream.launch(finish_rows, dim3(3), dim3(row_threads), 0, sums.data(), rows,
                          target);
        } else {
            const auto launch = [&](auto kernel, int most) {
                stream.launch(kernel, dim3(2), dim3(few_threads),
                              std::size_t(most * padded(k)) * sizeof(float), dx.data(),
                              rows, k, n_or_none, dw.data(), target);
            };
            if (rows == 1)
                launch(multiply_few<T, 1>, 1);
            else if (rows == 2)
                launch(multiply_few<T, 2>, 2);
            else if (rows <= 4)
                launch(multiply_few<T, 4>, 4);
            else
                launch(multiply_few<T, 8>, 8);
        }
        return on_host(dy);
    }
};

template <class T>
void few_and_many(double tolerance_of_many) {
    support::in_every_order([&] {
        unsigned seed = 1;
        for (const auto& [k, n] : std::vector<std::pair<int, int>>{
                 {1, 1}, {8, 3}, {20, 9}, {31, 17}, {64, 33}, {250, 5}, {768, 4}})
            for (const int rows : {1, 2, 3, 5, 8}) {
                const Case<T> c(rows, k, n, seed += 10);
                for (const bool norm : {false, true})
                    for (const Then then : {Then::store, Then::gelu, Then::residual}) {
                        const auto expected = c.expected(norm, then);
                        const auto what = testing::Message()
                                          << rows << " rows, k " << k << ", n " << n
                                          << ", norm " << norm << ", then " << int(then);
                        EXPECT_LT(support::largest_difference(c.found(norm, then, false),
                                                              expected),
                                  1e-5)
                            << what;
                        EXPECT_LT(support::largest_difference(c.found(norm, then, true),
                                                              expected),
                                  tolerance_of_many)
                            << what;
                    }
            }
    });
}

}  // namespace

TEST(CudaMultiply, FloatsAgreeWithDoubles) { few_and_many<float>(1e-5); }

// For many rows the rows too are rounded to the type: 11 and 8 significant bits.
TEST(CudaMultiply, HalvesAgreeWithDoubles) { few_and_many<f16>(1e-2); }
TEST(CudaMultiply, BfloatsAgreeWithDoubles) { few_and_many<bf16>(8e-2); }

TEST(CudaMultiply, KeysAndValuesGoWhereTheLayoutSays) {
    support::in_every_order([] {
        for (const DType kv : {DType::f32, DType::f16}) {
            const Config config{1, 96, 24, 2, 3};  // heads of 8: values padded to 16
            const KvLayout layout(config, kv);
            const int rows = 3, d = config.n_embd, layer = 1;
            const Case<float> c(rows, d, 3 * d, 5);
            const auto expected = c.expected(false, Then::gelu);  // replaced below
            const std::vector<int> positions = {0, 33, 95};

            Stream stream;
            std::vector<Array<std::byte>> blocks;
            std::vector<std::byte*> table;
            for (int i = 0; i < 2 * 3; ++i) {
                blocks.emplace_back(layout.block_bytes());
                table.push_back(blocks.back().data());
            }
            const auto dposition = on_device(positions);
            const auto dsequence = on_device(std::vector{1, 0, 1});
            const auto dtable = on_device(table);
            const auto dx = on_device(c.x), dw = on_device(c.w),
                       dbias = on_device(c.bias);
            const Array<float> q(std::size_t(rows * d));
            Batch batch{nullptr, dposition.data(), dsequence.data(), dtable.data(), 3};
            const Target target{Then::remember, q.data(), 3 * d,
                                dbias.data(),   batch,    CacheLayer(layout, layer)};
            stream.launch(multiply_few<float, 4>, dim3(5), dim3(few_threads),
                          std::size_t(4 * padded(d)) * sizeof(float), dx.data(), rows, d,
                          Norm{}, dw.data(), target);

            for (int r = 0; r < rows; ++r)
                for (int i = 0; i < 3 * d; ++i) {
                    double sum = double(c.bias[std::size_t(i)]);
                    for (int j = 0; j < d; ++j)
                        sum += double(c.x[std::size_t(r * d + j)]) *
                               double(c.w[std::size_t(i * padded(d) + j)]);
                    const int head = i % d / 8, channel = i % 8;
                    const int at = positions[std::size_t(r)];
                    const int sequence = r == 1 ? 0 : 1;
                    const std::byte* block = table[std::size_t(sequence * 3 + at / 32)];
                    const std::size_t element =
                        i < 2 * d
                            ? layout.keys(layer, head) +
                                  std::size_t(channel * 32 + at % 32)
                            : layout.values(layer, head) +
                                  std::size_t(at % 32 * layout.head_stride + channel);
                    float value = 0;
                    if (i < d)
                        value = q.data()[r * d + i];
                    else if (kv == DType::f32)
                        value = reinterpret_cast<const float*>(block)[element];
                    else
                        value = widen(reinterpret_cast<const f16*>(block)[element]);
                    ASSERT_NEAR(value, sum, kv == DType::f16 && i >= d ? 1e-2 : 1e-5)
                        << "row " << r << ", column " << i;
                }
        }
    });
}

TEST(CudaMultiply, EmbedsATokenAtItsPosition) {
    support::in_every_order([] {
        const int n_vocab = 11, n_ctx = 7, k = 37;
        const auto tokens = support::random_floats(std::size_t(n_vocab * padded(k)), 1);
        const auto places = support::random_floats(std::size_t(n_ctx * k), 2);
        const auto narrow_tokens = support::narrowed<bf16>(tokens);
        const std::vector<int> token = {10, 0, 3}, position = {6, 0, 5}, wanted = {2, 0};
        const auto dtoken = on_device(token), dposition = on_device(position),
                   dwanted = on_device(wanted);
        const auto dtokens = on_device(narrow_tokens);
        const auto dplaces = on_device(places);
        const Array<float> x(3 * k), some(2 * k);
        Stream stream;
        Batch batch{dtoken.data(), dposition.data(), nullptr, nullptr, 0};
        stream.launch(embed<bf16>, dim3(3), dim3(row_threads), 0, batch, dtokens.data(),
                      dplaces.data(), k, x.data());
        stream.launch(take_rows, dim3(2), dim3(row_threads), 0, x.data(), dwanted.data(),
                      k, some.data());
        for (std::size_t r = 0; r < 3; ++r)
            for (int c = 0; c < k; ++c)
                EXPECT_EQ(x.data()[int(r) * k + c],
                          widen(narrow_tokens[std::size_t(token[r] * padded(k) + c)]) +
                              places[std::size_t(position[r] * k + c)]);
        for (std::size_t r = 0; r < 2; ++r)
            for (int c = 0; c < k; ++c)
                EXPECT_EQ(some.data()[int(r) * k + c], x.data()[wanted[r] * k + c]);
    });
}

// m, n, k and all strides differ: no swapped argument can pass.
TEST(CudaGemm, MultipliesRowMajorMatrices) {
    const int m = 5, n = 12, k = 7, count = 3, xs = 9, ws = 14, ys = 13;
    const auto x = support::random_floats(std::size_t(count * m * xs), 1);
    const auto w = support::random_floats(std::size_t(count * 14 * 16), 2);
    const auto dx = on_device(x), dw = on_device(w);
    Stream stream;
    for (const bool transposed : {false, true}) {
        const auto dy = on_device(std::vector<float>(std::size_t(count * m * ys), NAN));
        Gemm().multiply(stream, Product{m,
                                        n,
                                        k,
                                        {dx.data(), xs, m * xs},
                                        {dw.data(), ws, 14 * 15},
                                        transposed,
                                        {dy.data(), ys, m * ys},
                                        DType::f32,
                                        count,
                                        0.5f});
        const std::vector<float> y = on_host(dy);
        for (int b = 0; b < count; ++b)
            for (int i = 0; i < m; ++i)
                for (int j = 0; j < ys; ++j) {
                    const float found = y[std::size_t((b * m + i) * ys + j)];
                    if (j >= n) {
                        EXPECT_TRUE(std::isnan(found));
                        continue;
                    }
                    double sum = 0;
                    for (int l = 0; l < k; ++l)
                        sum +=
                            double(x[std::size_t((b * m + i) * xs + l)]) *
                            double(w[std::size_t(
                                b * 14 * 15 + (transposed ? j * ws + l : l * ws + j))]);
                    EXPECT_NEAR(found, 0.5 * sum, 1e-5);
                }
    }
}

TEST(CudaGemm, SaysWhatCublasRefuses) {
    Stream stream;
    float x[4] = {};
    const Product wrong{2, 2, 2, {x, 1}, {x, 2}, true, {x, 2}, DType::f32};
    EXPECT_THROW(Gemm().multiply(stream, wrong), Error);
}
