#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/multiply.hpp"
#include "gpt2/weights.hpp"

/// A model's numbers, on the device.
namespace gpt2::cuda::inline SIMT_MACHINE {

/// A matrix of weights and its bias.
template <class T>
struct Matrix {
    int k;              ///< what one output sums over
    int n;              ///< outputs
    Array<T> weight;    ///< [n, padded(k)]
    Array<float> bias;  ///< [n]; none for the head

    /// Of both.
    std::size_t bytes() const { return weight.bytes() + bias.bytes(); }
};

/// A layer norm's parameters.
struct NormParameters {
    Array<float> gain;  ///< [k]
    Array<float> bias;  ///< [k]

    /// As a kernel takes them.
    Norm norm() const { return {gain.data(), bias.data()}; }
    /// Of both.
    std::size_t bytes() const { return gain.bytes() + bias.bytes(); }
};

/// One layer, named as in Part.
template <class T>
struct Layer {
    NormParameters ln_1;  ///< before attention
    Matrix<T> attn;       ///< queries, keys and values side by side
    Matrix<T> attn_proj;  ///< what the heads found, back into the stream
    NormParameters ln_2;  ///< before the MLP
    Matrix<T> fc;         ///< into the hidden layer
    Matrix<T> mlp_proj;   ///< and back

    /// Of all.
    std::size_t bytes() const {
        return ln_1.bytes() + attn.bytes() + attn_proj.bytes() + ln_2.bytes() +
               fc.bytes() + mlp_proj.bytes();
    }
};

/// Reads tensors a stretch of rows at a time and puts them where kernels want them.
template <class T>
class Loader {
public:
    /// Both must outlive it.
    Loader(const Weights& weights, Stream& stream) : weights_(weights), stream_(stream) {}

    /// A vector, or any tensor as it stands.
    Array<float> floats(Part part, int layer = 0) const {
        const auto [rows, columns] = shape_of(part, weights_.config());
        std::vector<float> all(std::size_t(rows) * columns);
        weights_.read(part, layer, 0, all);
        return on_device(all);
    }

    /// Two vectors.
    NormParameters norm(Part gain, Part bias, int layer = 0) const {
        return {floats(gain, layer), floats(bias, layer)};
    }

    /// [k, n] in the file becomes [n, padded(k)].
    Matrix<T> matrix(Part part, Part bias, int layer) const {
        const auto [k, n] = shape_of(part, weights_.config());
        std::vector<T> all(std::size_t(n) * padded(k));
        by_rows(part, layer, [&](int row, const float* x) {
            for (int c = 0; c < n; ++c)
                all[std::size_t(c) * padded(k) + row] = narrow<T>(x[c]);
        });
        return {k, n, on_device(all), floats(bias, layer)};
    }

    /// The token embedding [n_vocab, padded(n_embd)]: the head as it stands.
    Matrix<T> head() const {
        const auto [n, k] = shape_of(Part::token_embedding, weights_.config());
        std::vector<T> all(std::size_t(n) * padded(k));
        by_rows(Part::token_embedding, 0, [&](int row, const float* x) {
            T* to = &all[std::size_t(row) * padded(k)];
            for (int c = 0; c < k; ++c) to[c] = narrow<T>(x[c]);
        });
        return {k, n, on_device(all), {}};
    }

    /// Layer i, whole.
    Layer<T> layer(int i) const {
        return {norm(Part::ln_1_gain, Part::ln_1_bias, i),
                matrix(Part::attn_weight, Part::attn_bias, i),
                matrix(Part::attn_proj_weight, Part::attn_proj_bias, i),
                norm(Part::ln_2_gain, Part::ln_2_bias, i),
                matrix(Part::fc_weight, Part::fc_bias, i),
                matrix(Part::mlp_proj_weight, Part::mlp_proj_bias, i)};
    }

private:
    /// Calls use(row, its numbers) for each row of a tensor.
    template <class F>
    void by_rows(Part part, int layer, F use) const {
        const auto [rows, columns] = shape_of(part, weights_.config());
        const int stretch = std::clamp((1 << 20) / columns, 1, rows);
        std::vector<float> some(std::size_t(stretch) * columns);
        for (int first = 0; first < rows; first += stretch) {
            const int count = std::min(stretch, rows - first);
            weights_.read(part, layer, first,
                          std::span(some).first(std::size_t(count) * columns));
            for (int r = 0; r < count; ++r)
                use(first + r, &some[std::size_t(r) * columns]);
        }
    }

    template <class U>
    Array<U> on_device(const std::vector<U>& all) const {
        Array<U> array(all.size());
        stream_.copy(array.data(), all.data(), array.bytes());
        stream_.wait();
        return array;
    }

    const Weights& weights_;
    Stream& stream_;
};

}  // namespace gpt2::cuda::inline SIMT_MACHINE
