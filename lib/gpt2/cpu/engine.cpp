#include "gpt2/cpu/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

#include "gpt2/cpu/attention.hpp"
#include "gpt2/cpu/matmul.hpp"
#include "gpt2/cpu/rows.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/error.hpp"

namespace gpt2::cpu {

namespace {

/// A bias or a gain, f32, followed by zeros up to a whole vector.
using Vector = Buffer<float>;

struct Norm {
    Vector gain, bias;
};

struct Matrix {
    Packed weight;
    Vector bias;
};

struct Layer {
    Norm ln_1;
    Matrix attn, attn_proj;
    Norm ln_2;
    Matrix fc, mlp_proj;
};

// Loading
// -------
// Weights come row by row, are packed at once and forgotten: there is never a second
// copy.

/// Runs work(first row, rows) over all rows of a tensor, a stretch at a time, on all
/// threads. A stretch is whole groups of rows that share a scale, and so whole panels.
/// Throws what the first failing one threw.
template <class F>
void over_rows(int threads, int rows, int columns, F work) {
    constexpr int group = rows_per_scale;
    const int stretch = std::max(group, (1 << 16) / columns / group * group);
    const int stretches = (rows + stretch - 1) / stretch;
    std::mutex mutex;
    std::exception_ptr failure;
    together(std::min(threads, stretches), [&](const Worker& worker) {
        const auto [begin, end] = worker.share(stretches);
        try {
            for (int i = begin; i < end; ++i)
                work(i * stretch, std::min(stretch, rows - i * stretch));
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    });
    if (failure) std::rethrow_exception(failure);
}

class Loader {
public:
    Loader(const Weights& weights, DType dtype, int threads)
        : weights_(weights), dtype_(dtype), threads_(threads) {}

    Vector vector(Part part, int layer) const {
        const int n = shape_of(part, weights_.config()).columns;
        Vector all(whole(n));
        std::fill_n(all.data(), all.size(), 0.0f);
        weights_.read(part, layer, 0, {all.data(), std::size_t(n)});
        return all;
    }

    /// [k, n] as it is stored.
    Packed packed(Part part, int layer) const {
        const auto [rows, columns] = shape_of(part, weights_.config());
        Packed all(rows, columns, dtype_);
        over_rows(threads_, rows, columns, [&](int begin, int count) {
            const Buffer<float> some(std::size_t(count) * columns);
            weights_.read(part, layer, begin, {some.data(), some.size()});
            all.put_rows(begin, count, some.data());
        });
        return all;
    }

    /// The token embedding [n_vocab, n_embd] becomes the head [n_embd, n_vocab].
    Packed head() const {
        const auto [n_vocab, n_embd] = shape_of(Part::token_embedding, weights_.config());
        Packed all(n_embd, n_vocab, dtype_);
        over_rows(threads_, n_vocab, n_embd, [&](int begin, int count) {
            const Buffer<float> some(std::size_t(count) * n_embd);
            weights_.read(Part::token_embedding, 0, begin, {some.data(), some.size()});
            for (int r = 0; r < count; r += 16)
                all.put_panel((begin + r) / 16, std::min(16, count - r),
                              some.data() + std::size_t(r) * n_embd);
        });
        return all;
    }

    Buffer<float> positions() const {
        const auto [n_ctx, n_embd] =
            shape_of(Part::position_embedding, weights_.config());
        Buffer<float> all(std::size_t(n_ctx) * n_embd);
        weights_.read(Part::position_embedding, 0, 0, {all.data(), all.size()});
        return all;
    }

    Layer layer(int i) const {
        return {{vector(Part::ln_1_gain, i), vector(Part::ln_1_bias, i)},
                {packed(Part::attn_weight, i), vector(Part::attn_bias, i)},
                {packed(Part::attn_proj_weight, i), vector(Part::attn_proj_bias, i)},
                {vector(Part::ln_2_gain, i), vector(Part::ln_2_bias, i)},
                {packed(Part::fc_weight, i), vector(Part::fc_bias, i)},
                {packed(Part::mlp_proj_weight, i), vector(Part::mlp_proj_bias, i)}};
    }

private:
    const Weights& weights_;
    DType dtype_;
    int threads_;
};

// Running
// -------

/// One row of the pass: one token at one position of one sequence.
struct Row {
    const KvCache* cache;
    int position;
    Token token;
};

/// Up to `queries_at_a_time` consecutive positions of one sequence, in one head.
struct Group {
    int head, first_row, count;
};

class Engine final : public Model {
public:
    Engine(const Weights& weights, DType dtype, DType kv, int threads)
        : Model(weights.config(), std::make_shared<KvPool>(weights.config(), kv)),
          threads_(threads) {
        const Loader loader(weights, dtype, threads);
        head_ = loader.head();
        positions_ = loader.positions();
        for (int i = 0; i < config().n_layer; ++i) layers_.push_back(loader.layer(i));
        ln_f_ = {loader.vector(Part::ln_f_gain, 0), loader.vector(Part::ln_f_bias, 0)};
    }

    std::size_t weight_bytes() const override {
        std::size_t bytes = head_.bytes() + positions_.size() * sizeof(float);
        const auto norm = [](const Norm& n) {
            return (n.gain.size() + n.bias.size()) * sizeof(float);
        };
        const auto matrix = [](const Matrix& m) {
            return m.weight.bytes() + m.bias.size() * sizeof(float);
        };
        for (const Layer& l : layers_)
            bytes += norm(l.ln_1) + matrix(l.attn) + matrix(l.attn_proj) + norm(l.ln_2) +
                     matrix(l.fc) + matrix(l.mlp_proj);
        return bytes + norm(ln_f_);
    }

private:
    void run(std::span<const Step> batch, Logits& logits) override {
        plan(batch);
        together(threads_, [&](const Worker& worker) { pass(worker, logits); });
    }

    /// Lays the batch out as rows. From here on nothing but attention knows that there
    /// are several sequences.
    void plan(std::span<const Step> batch) {
        rows_.clear();
        groups_.clear();
        wanted_.clear();
        for (const Step& step : batch) {
            const int first = int(rows_.size()), n = int(step.tokens.size());
            for (int i = 0; i < n; ++i)
                rows_.push_back({&step.cache, step.cache.size() + i, step.tokens[i]});
            // Head by head, so that what one has looked at is still near for the next.
            for (int head = 0; head < config().n_head; ++head)
                for (int i = 0; i < n; i += queries_at_a_time)
                    groups_.push_back(
                        {head, first + i, std::min(queries_at_a_time, n - i)});
            if (step.rows == Rows::all)
                for (int i = 0; i < n; ++i) wanted_.push_back(first + i);
            if (step.rows == Rows::last) wanted_.push_back(first + n - 1);
        }
        const int rows = int(rows_.size());
        if (rows > capacity_) {
            const int d = config().n_embd;
            stream_ = Activations(rows, d);
            normed_ = Activations(rows, d);
            qkv_ = Activations(rows, 3 * d);
            attended_ = Activations(rows, d);
            hidden_ = Activations(rows, 4 * d);
            capacity_ = rows;
        }
        scratch_stride_ = attention_scratch(layout(), config().n_ctx);
        if (scratch_.size() == 0) scratch_ = Buffer<float>(threads_ * scratch_stride_);
    }

    /// The forward pass, as one worker sees it. All workers run this; each does its share
    /// of every step and waits for the others before the next.
    void pass(const Worker& w, Logits& logits) const {
        const int rows = int(rows_.size());
        embed(w);
        w.wait();
        for (int i = 0; i < int(layers_.size()); ++i) {
            const Layer& layer = layers_[i];

            // [layer]
            normalise(w, layer.ln_1);
            w.wait();
            multiply(w, layer.attn, normed_, rows, qkv_, Then::add_bias);
            w.wait();
            remember(w, i);
            w.wait();
            look_back(w, i);
            w.wait();
            multiply(w, layer.attn_proj, attended_, rows, stream_, Then::residual);
            // [layer]

            w.wait();
            normalise(w, layer.ln_2);
            w.wait();
            multiply(w, layer.fc, normed_, rows, hidden_, Then::gelu);
            w.wait();
            multiply(w, layer.mlp_proj, hidden_, rows, stream_, Then::residual);
            w.wait();
        }
        if (wanted_.empty()) return;
        const auto [begin, end] = w.share(int(wanted_.size()));
        for (int i = begin; i < end; ++i)
            norm_row(stream_.row(wanted_[i]), ln_f_, normed_.row(i));
        w.wait();
        matmul(w, head_, normed_.row(0), normed_.stride, int(wanted_.size()),
               logits[0].data(), std::size_t(config().n_vocab), Then::store, nullptr);
    }

    void embed(const Worker& w) const {
        const int d = config().n_embd;
        const auto [begin, end] = w.share(int(rows_.size()));
        for (int r = begin; r < end; ++r) {
            float* x = stream_.row(r);
            head_.get_column(rows_[r].token, x);
            const float* p = positions_.data() + std::size_t(rows_[r].position) * d;
            for (int c = 0; c < d; ++c) x[c] += p[c];
        }
    }

    void normalise(const Worker& w, const Norm& norm) const {
        const auto [begin, end] = w.share(int(rows_.size()));
        for (int r = begin; r < end; ++r) norm_row(stream_.row(r), norm, normed_.row(r));
    }

    void norm_row(const float* x, const Norm& norm, float* y) const {
        layer_norm(x, config().n_embd, norm.gain.data(), norm.bias.data(), y);
    }

    void multiply(const Worker& w, const Matrix& m, const Activations& x, int rows,
                  const Activations& y, Then then) const {
        matmul(w, m.weight, x.row(0), x.stride, rows, y.row(0), y.stride, then,
               m.bias.data());
    }

    /// Keys and values of all rows go into their caches. Shared out by heads: two workers
    /// never write into one line of memory.
    void remember(const Worker& w, int layer) const {
        const int d = config().n_embd, dim = config().head_dim();
        const auto [begin, end] = w.share(config().n_head);
        for (int r = 0; r < int(rows_.size()); ++r)
            for (int head = begin; head < end; ++head) {
                const float* key = qkv_.row(r) + d + head * dim;
                append(*rows_[r].cache, layer, head, rows_[r].position, key, key + d);
            }
    }

    /// Attention, group by group.
    void look_back(const Worker& w, int layer) const {
        const int dim = config().head_dim();
        float* scratch = scratch_.data() + w.index * scratch_stride_;
        // Dealt out like cards: later groups have more to look back at.
        for (int i = w.index; i < int(groups_.size()); i += w.count) {
            const auto [head, first, count] = groups_[i];
            attend(*rows_[first].cache, layer, head, rows_[first].position, count,
                   qkv_.row(first) + head * dim, qkv_.stride,
                   attended_.row(first) + head * dim, attended_.stride, scratch);
        }
    }

    const KvLayout& layout() const { return rows_.front().cache->pool()->layout(); }

    int threads_;
    Packed head_;  // [n_embd, n_vocab]: the token embedding too, column by column
    Buffer<float> positions_;
    std::vector<Layer> layers_;
    Norm ln_f_;

    // One pass at a time: what it works on stays allocated for the next.
    std::vector<Row> rows_;
    std::vector<Group> groups_;
    std::vector<int> wanted_;  // rows that get logits
    int capacity_ = 0;         // rows that fit into the following
    Activations stream_;       // [rows, n_embd]: the residual stream
    Activations normed_;       // [rows, n_embd]
    Activations qkv_;          // [rows, 3 n_embd]
    Activations attended_;     // [rows, n_embd]
    Activations hidden_;       // [rows, 4 n_embd]
    Buffer<float> scratch_;    // attention_scratch() a worker
    std::size_t scratch_stride_ = 0;
};

}  // namespace

std::unique_ptr<Model> load(const Weights& weights, DType dtype, DType kv, int threads) {
    if (kv != DType::f32 && kv != DType::f16)
        throw BadInput(
            fmt::format("KV cache: expected f32 or f16, found {}", name_of(kv)));
    return std::make_unique<Engine>(weights, dtype, kv, threads);
}

}  // namespace gpt2::cpu
