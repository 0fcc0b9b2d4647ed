#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpt2/error.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

namespace {

// How a wide model computes a narrow one's function
// -------------------------------------------------
// Write x for the narrow residual stream, of width d, and let the wide one be x beside
// itself, r times: [x x x]. Then each part has a simple duty.
//
//   A layer norm sees the same mean and variance, so its gain and bias are repeated.
//   A matrix that reads the stream gets r copies of the same input: its rows are repeated
//   and divided by r. A matrix that writes it must write r copies: its columns are
//   repeated. Heads and hidden units come out r times, in whole blocks, and the next
//   matrix reads them like any repeated input. New layers add nothing: both of their
//   projections are zero. The output head sums over r copies and would give r times the
//   logits: the last norm's gain and bias are divided by r.
//
// New tokens must never be chosen, though the head has no bias to silence them with. Take
// a unit vector e. The last norm's bias gets +c e in the first copy and -c e in the
// second; a real token's row [w w w] sees c (w.e) - c (w.e) = 0. A new token's row is M
// [-e e 0], and its logit M (-e.(y + c e) + e.(y - c e)) = -2 M c, whatever y is. With M
// c = 50 that is -100.

constexpr float c = 1.0f, M = 50.0f;

class WideWeights final : public Weights {
public:
    WideWeights(const Weights& narrow, const Config& wide,
                std::unique_ptr<Weights> filler)
        : Weights(wide, fmt::format("{}, widened", narrow.origin())),
          narrow_(narrow.config()),
          repeats_(wide.n_embd / narrow_.n_embd),
          filler_(std::move(filler)) {
        for (const Part part : all_parts())
            for (int layer = 0; layer < (is_per_layer(part) ? narrow_.n_layer : 1);
                 ++layer) {
                const Shape shape = shape_of(part, narrow_);
                tensors_.emplace_back(std::size_t(shape.rows) * shape.columns);
                narrow.read(part, layer, 0, tensors_.back());
            }
    }

    void read(Part part, int layer, int first_row, std::span<float> out) const override {
        const std::size_t columns = shape_of(part, config()).columns;
        if (is_per_layer(part) && layer >= narrow_.n_layer)
            return read_new_layer(part, layer, first_row, out);
        for (int row = first_row; !out.empty(); ++row, out = out.subspan(columns))
            read_row(part, layer, row, out.first(columns));
    }

private:
    void read_new_layer(Part part, int layer, int first_row, std::span<float> out) const {
        const bool adds = part == Part::attn_proj_weight ||
                          part == Part::attn_proj_bias || part == Part::mlp_proj_weight ||
                          part == Part::mlp_proj_bias;
        if (adds)
            std::ranges::fill(out, 0.0f);
        else
            filler_->read(part, layer, first_row, out);
    }

    void read_row(Part part, int layer, int row, std::span<float> out) const {
        const float r = float(repeats_);
        switch (part) {
            case Part::token_embedding:
                return read_token(row, out);
            case Part::attn_weight:
            case Part::attn_proj_weight:
            case Part::fc_weight:
            case Part::mlp_proj_weight:
                return repeat(part, layer, row, r, out);
            case Part::ln_f_gain:
                return repeat(part, layer, row, r, out);
            case Part::ln_f_bias:
                repeat(part, layer, row, r, out);
                for (int i = 0; i < narrow_.n_embd; ++i) {
                    out[i] += c * e();
                    out[narrow_.n_embd + i] -= c * e();
                }
                return;
            default:
                return repeat(part, layer, row, 1.0f, out);
        }
    }

    // [repeat]
    /// A row of the narrow tensor, repeated and divided. Queries, keys and values stand
    /// side by side in one row, and each of the three is repeated by itself.
    void repeat(Part part, int layer, int row, float divisor,
                std::span<float> out) const {
        const std::span<const float> from = narrow_row(part, layer, row);
        const bool three = part == Part::attn_weight || part == Part::attn_bias;
        const std::size_t kinds = three ? 3 : 1, width = from.size() / kinds;
        for (std::size_t kind = 0; kind < kinds; ++kind)
            for (std::size_t i = 0; i < width * repeats_; ++i)
                out[kind * width * repeats_ + i] =
                    from[kind * width + i % width] / divisor;
    }
    // [repeat]

    void read_token(int row, std::span<float> out) const {
        const int last = narrow_.n_vocab - 1;  // "<|endoftext|>"
        if (row < last) return repeat(Part::token_embedding, 0, row, 1.0f, out);
        if (row == config().n_vocab - 1)
            return repeat(Part::token_embedding, 0, last, 1.0f, out);
        std::ranges::fill(out, 0.0f);
        for (int i = 0; i < narrow_.n_embd; ++i) {
            out[i] = -M * e();
            out[narrow_.n_embd + i] = M * e();
        }
    }

    /// Each element of e: all are equal, which makes a unit vector like any other.
    float e() const { return 1.0f / std::sqrt(float(narrow_.n_embd)); }

    std::span<const float> narrow_row(Part part, int layer, int row) const {
        const Shape shape = shape_of(part, narrow_);
        std::size_t index = 0;
        for (const Part p : all_parts()) {
            if (p == part) break;
            index += is_per_layer(p) ? narrow_.n_layer : 1;
        }
        const std::vector<float>& tensor =
            tensors_[index + (is_per_layer(part) ? layer : 0)];
        return std::span(tensor).subspan(std::size_t(row % shape.rows) * shape.columns,
                                         shape.columns);
    }

    Config narrow_;
    int repeats_;
    std::unique_ptr<Weights> filler_;
    std::vector<std::vector<float>> tensors_;  // the narrow model, part by part
};

}  // namespace

std::unique_ptr<Weights> widen(std::unique_ptr<Weights> narrow, const Config& wide,
                               std::uint64_t seed) {
    const Config& from = narrow->config();
    if (from == wide) return narrow;
    const auto refuse = [&](const char* what, int expected, int found) {
        throw BadInput(fmt::format("{}: cannot be widened: {}: expected {}, found {}",
                                   narrow->origin(), what, expected, found));
    };
    check(wide, "widened shape");
    if (wide.n_embd % from.n_embd != 0 || wide.n_embd < 2 * from.n_embd)
        throw BadInput(
            fmt::format("{}: cannot be widened: n_embd: expected a multiple of {}, at "
                        "least twice, found {}",
                        narrow->origin(), from.n_embd, wide.n_embd));
    if (wide.head_dim() != from.head_dim())
        refuse("channels of a head", from.head_dim(), wide.head_dim());
    if (wide.n_ctx != from.n_ctx) refuse("n_ctx", from.n_ctx, wide.n_ctx);
    if (wide.n_layer < from.n_layer)
        refuse("n_layer, at least", from.n_layer, wide.n_layer);
    if (wide.n_vocab < from.n_vocab)
        refuse("n_vocab, at least", from.n_vocab, wide.n_vocab);
    return std::make_unique<WideWeights>(*narrow, wide, random_weights(wide, seed));
}

}  // namespace gpt2
