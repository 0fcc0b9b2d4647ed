#include "gpt2/reference/reference.hpp"

#include <fmt/format.h>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "gpt2/error.hpp"

// GPT-2, read from top to bottom (Radford et al. 2019; Vaswani et al. 2017 for attention)
//
//     x = wte[tokens] + wpe[0, 1, 2 ...]                     [tokens, n_embd]
//     for each layer:
//         x = x + attention(layer_norm(x))
//         x = x + mlp(layer_norm(x))
//     logits = layer_norm(x) wte^T                           [tokens, n_vocab]

namespace gpt2 {

namespace {

using Matrix = xt::xtensor<double, 2>;
using Vector = xt::xtensor<double, 1>;

Matrix matmul(const Matrix& a, const Matrix& b) {
    Matrix c = xt::zeros<double>({a.shape(0), b.shape(1)});
    for (std::size_t i = 0; i < a.shape(0); ++i)
        for (std::size_t k = 0; k < a.shape(1); ++k)
            for (std::size_t j = 0; j < b.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
    return c;
}

Matrix gelu(const Matrix& x) {
    const double root = 0.7978845608028654;  // sqrt(2 / pi)
    return 0.5 * x * (1 + xt::tanh(root * (x + 0.044715 * x * x * x)));
}

// A row's sum, mean or maximum, [rows, 1]. Each is a matrix of its own: a lazy reduction
// within a larger expression reads past its end in xtensor 0.24 (seen with the address
// sanitizer).
Matrix row_sums(const Matrix& x) { return xt::sum(x, {1}, xt::keep_dims); }
Matrix row_means(const Matrix& x) { return row_sums(x) / double(x.shape(1)); }
Matrix row_maxima(const Matrix& x) { return xt::amax(x, {1}, xt::keep_dims); }

Matrix softmax(const Matrix& scores) {
    const Matrix e = xt::exp(scores - row_maxima(scores));
    return e / row_sums(e);
}

class Reference {
public:
    explicit Reference(const Weights& weights) : weights_(weights) {}

    /// @param looks  where given, every head's weights are appended to it
    Matrix logits(std::span<const Token> tokens,
                  std::vector<double>* looks = nullptr) const {
        const Config& c = weights_.config();
        const Matrix wte = matrix(Part::token_embedding);
        const Matrix wpe = matrix(Part::position_embedding);

        Matrix x = xt::empty<double>({tokens.size(), std::size_t(c.n_embd)});
        for (std::size_t t = 0; t < tokens.size(); ++t)
            xt::view(x, t) = xt::view(wte, tokens[t]) + xt::view(wpe, t);

        for (int i = 0; i < c.n_layer; ++i) {
            x += attention(layer_norm(x, Part::ln_1_gain, Part::ln_1_bias, i), i, looks);
            x += mlp(layer_norm(x, Part::ln_2_gain, Part::ln_2_bias, i), i);
        }
        return matmul(layer_norm(x, Part::ln_f_gain, Part::ln_f_bias, 0),
                      xt::transpose(wte));
    }

private:
    Matrix layer_norm(const Matrix& x, Part gain, Part bias, int layer) const {
        const Matrix centred = x - row_means(x);
        const Matrix variance = row_means(centred * centred);
        return centred / xt::sqrt(variance + 1e-5) * vector(gain, layer) +
               vector(bias, layer);
    }

    /// Each position looks back at itself and all before it.
    Matrix attention(const Matrix& x, int layer, std::vector<double>* looks) const {
        const std::size_t n = x.shape(0), d = x.shape(1);
        const std::size_t heads = weights_.config().n_head, dim = d / heads;

        // [attention]
        const Matrix qkv = linear(x, Part::attn_weight, Part::attn_bias, layer);

        // 0 where the column is at or before the row, minus infinity where it lies ahead.
        Matrix mask = xt::zeros<double>({n, n});
        for (std::size_t t = 0; t < n; ++t)
            xt::view(mask, t, xt::range(t + 1, n)) =
                -std::numeric_limits<double>::infinity();

        Matrix out = xt::empty<double>({n, d});
        for (std::size_t h = 0; h < heads; ++h) {
            const auto part = [&](std::size_t kind) -> Matrix {
                const std::size_t first = kind * d + h * dim;
                return xt::view(qkv, xt::all(), xt::range(first, first + dim));
            };
            const Matrix q = part(0), k = part(1), v = part(2);
            const Matrix scores = matmul(q, xt::transpose(k)) / std::sqrt(double(dim));
            const Matrix weights = softmax(scores + mask);
            if (looks) looks->insert(looks->end(), weights.begin(), weights.end());
            xt::view(out, xt::all(), xt::range(h * dim, (h + 1) * dim)) =
                matmul(weights, v);
        }
        // [attention]
        return linear(out, Part::attn_proj_weight, Part::attn_proj_bias, layer);
    }

    Matrix mlp(const Matrix& x, int layer) const {
        const Matrix hidden = gelu(linear(x, Part::fc_weight, Part::fc_bias, layer));
        return linear(hidden, Part::mlp_proj_weight, Part::mlp_proj_bias, layer);
    }

    Matrix linear(const Matrix& x, Part weight, Part bias, int layer) const {
        return matmul(x, matrix(weight, layer)) + vector(bias, layer);
    }

    Matrix matrix(Part part, int layer = 0) const {
        const Shape shape = shape_of(part, weights_.config());
        std::vector<float> numbers(std::size_t(shape.rows) * shape.columns);
        weights_.read(part, layer, 0, numbers);
        Matrix m =
            xt::empty<double>({std::size_t(shape.rows), std::size_t(shape.columns)});
        std::copy(numbers.begin(), numbers.end(), m.begin());
        return m;
    }

    Vector vector(Part part, int layer) const { return xt::view(matrix(part, layer), 0); }

    const Weights& weights_;
};

void check(std::span<const Token> tokens, const Config& config) {
    if (tokens.empty() || tokens.size() > std::size_t(config.n_ctx))
        throw BadInput(fmt::format("reference: expected 1 to {} tokens, found {}",
                                   config.n_ctx, tokens.size()));
    for (const Token token : tokens)
        if (token < 0 || token >= config.n_vocab)
            throw BadInput(fmt::format("reference: expected an id below {}, found {}",
                                       config.n_vocab, token));
}

}  // namespace

std::vector<double> reference_logits(const Weights& weights,
                                     std::span<const Token> tokens) {
    check(tokens, weights.config());
    const Matrix logits = Reference(weights).logits(tokens);
    return {logits.begin(), logits.end()};
}

std::vector<double> reference_attention(const Weights& weights,
                                        std::span<const Token> tokens) {
    check(tokens, weights.config());
    std::vector<double> looks;
    Reference(weights).logits(tokens, &looks);
    return looks;
}

}  // namespace gpt2
