#include "gpt2/cuda/engine.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gpt2/cuda/attention.hpp"
#include "gpt2/cuda/choose.hpp"
#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/gemm.hpp"
#include "gpt2/cuda/multiply.hpp"
#include "gpt2/cuda/parameters.hpp"
#include "gpt2/error.hpp"

namespace gpt2::cuda {
inline namespace SIMT_MACHINE {

namespace {

/// Rows that multiply_few takes at most: with more, each weight is used often enough that
/// a library's tiles pay.
constexpr int few = 8;

/// Queries of one sequence that `attend_many` takes at a time: its scores are
/// [heads, queries, positions].
constexpr int queries_at_a_time = 1024;

/// Blocks of KV caches, in the device's memory.
class DevicePool final : public KvPool {
public:
    DevicePool(const Config& config, DType dtype, std::shared_ptr<Stream> stream)
        : KvPool(config, dtype), stream_(std::move(stream)) {}

    void copy(std::byte* to, const std::byte* from) const override {
        stream_->copy(to, from, layout().block_bytes());
    }

private:
    std::shared_ptr<std::byte> allocate(std::size_t bytes) const override {
        return cuda::allocate(bytes);
    }
    void clear(std::byte* block) const override {
        stream_->clear(block, layout().block_bytes());
    }

    std::shared_ptr<Stream> stream_;
};

/// Consecutive rows of a pass that attend by the same kernels.
struct Span {
    int first, count, position;
    bool many;  ///< of one sequence, `position` the first row's
};

template <class T>
class Engine final : public Model {
public:
    Engine(const Weights& weights, DType dtype, DType kv, std::shared_ptr<Stream> stream)
        : Model(weights.config(),
                std::make_shared<DevicePool>(weights.config(), kv, stream)),
          layout_(weights.config(), kv),
          dtype_(dtype),
          stream_(std::move(stream)),
          written_(std::size_t(weights.config().n_ctx), Place::both),
          weights_of_choice_(std::size_t(weights.config().n_vocab)) {
        const Loader<T> loader(weights, *stream_);
        head_ = loader.head();
        positions_ = loader.floats(Part::position_embedding);
        for (int i = 0; i < config().n_layer; ++i) layers_.push_back(loader.layer(i));
        ln_f_ = loader.norm(Part::ln_f_gain, Part::ln_f_bias);
        batch_.table_width = KvLayout::blocks_for(config().n_ctx);
    }

    std::size_t weight_bytes() const override {
        std::size_t bytes = head_.bytes() + positions_.bytes() + ln_f_.bytes();
        for (const Layer<T>& layer : layers_) bytes += layer.bytes();
        return bytes;
    }

    void write(KvCache& cache, Token next, int count, const Sampler& sampler,
               const std::function<bool(Token)>& on_token) override;

private:
    void run(std::span<const Step> batch, Logits& logits) override {
        plan(batch);
        pass(int(rows_.token.size()), int(rows_.wanted.size()));
        if (!rows_.wanted.empty())
            stream_->copy(logits[0].data(), logits_.data(),
                          rows_.wanted.size() * config().n_vocab * sizeof(float));
        stream_->wait();
    }

    Token run_ahead(KvCache& cache, Token next, int steps, const Sampler& sampler,
                    const std::function<bool(Token)>& on_token);

    void plan(std::span<const Step> batch, int ahead = 0);
    void add_span(const Step& step, int first);
    void make_room(int rows, int sequences, int wanted);
    void upload();

    // [pass]
    /// The forward pass: five kernels a layer where rows are few.
    void pass(int rows, int wanted) {
        stream_->launch(embed<T>, dim3(rows), dim3(row_threads), 0, batch_,
                        head_.weight.data(), positions_.data(), config().n_embd,
                        x_.data());
        for (int i = 0; i < config().n_layer; ++i) {
            const Layer<T>& l = layers_[i];
            multiply(x_, rows, l.ln_1.norm(), l.attn, Then::remember, q_, i);
            attend_all(i);
            multiply(attended_, rows, {}, l.attn_proj, Then::residual, x_, i);
            multiply(x_, rows, l.ln_2.norm(), l.fc, Then::gelu, hidden_, i);
            multiply(hidden_, rows, {}, l.mlp_proj, Then::residual, x_, i);
        }
        if (wanted == 0) return;
        const bool all = wanted == rows;  // they are in order
        if (!all)
            stream_->launch(take_rows, dim3(wanted), dim3(row_threads), 0, x_.data(),
                            wanted_.data(), config().n_embd, attended_.data());
        multiply(all ? x_ : attended_, wanted, ln_f_.norm(), head_, Then::store, logits_,
                 0);
    }
    // [pass]

    // Products
    // --------

    /// y = f(norm(x) W + b), one way or the other (see multiply.hpp).
    void multiply(const Array<float>& x, int rows, Norm norm, const Matrix<T>& m,
                  Then then, const Array<float>& y, int layer) {
        const Target target{then,          y.data(), m.n,
                            m.bias.data(), batch_,   CacheLayer(layout_, layer)};
        if (rows <= 1 && fits<1>(m.k)) return multiply_as<1>(x, rows, norm, m, target);
        if (rows <= 2 && fits<2>(m.k)) return multiply_as<2>(x, rows, norm, m, target);
        if (rows <= 4 && fits<4>(m.k)) return multiply_as<4>(x, rows, norm, m, target);
        if (rows <= few && fits<few>(m.k))
            return multiply_as<few>(x, rows, norm, m, target);

        stream_->launch(prepare<T>, dim3((rows + 3) / 4), dim3(row_threads), 0, x.data(),
                        rows, m.k, norm, prepared_.data());
        const bool store = then == Then::store;
        float* sums = store ? y.data() : sums_.data();
        gemm_.multiply(*stream_, Product{rows,
                                         m.n,
                                         padded(m.k),
                                         {prepared_.data(), padded(m.k)},
                                         {m.weight.data(), padded(m.k)},
                                         true,
                                         {sums, m.n},
                                         dtype_});
        if (store) return;
        const std::size_t blocks =
            (std::size_t(rows) * m.n + row_threads - 1) / row_threads;
        stream_->launch(finish_rows, dim3(unsigned(std::min<std::size_t>(blocks, 8192))),
                        dim3(row_threads), 0, sums, rows, target);
    }

    template <int max_rows>
    static std::size_t shared_for(int k) {
        return max_rows * std::size_t(padded(k)) * sizeof(float);
    }
    template <int max_rows>
    static bool fits(int k) {
        return shared_for<max_rows>(k) <= max_shared_bytes;
    }

    template <int max_rows>
    void multiply_as(const Array<float>& x, int rows, Norm norm, const Matrix<T>& m,
                     const Target& target) {
        constexpr int warps = few_threads / simt::warp_size;
        const int blocks = std::min((m.n + warps - 1) / warps, 16 * multiprocessors_);
        stream_->launch(multiply_few<T, max_rows>, dim3(unsigned(blocks)),
                        dim3(few_threads), shared_for<max_rows>(m.k), x.data(), rows, m.k,
                        norm, m.weight.data(), target);
    }

    // Attention
    // ---------

    void attend_all(int layer) {
        for (const Span& span : spans_)
            if (layout_.dtype == DType::f16)
                span.many ? attend_many<f16>(span, layer) : attend_few<f16>(span, layer);
            else
                span.many ? attend_many<float>(span, layer)
                          : attend_few<float>(span, layer);
    }

    template <class C>
    void attend_few(const Span& span, int layer) {
        const int dim = layout_.head_dim;
        if (dim <= 32) return attend_as<C, 1>(span, layer);
        if (dim <= 64) return attend_as<C, 2>(span, layer);
        if (dim <= 128) return attend_as<C, 4>(span, layer);
        attend_as<C, 8>(span, layer);
    }

    template <class C, int spread>
    void attend_as(const Span& span, int layer) {
        stream_->launch(attend<C, spread>,
                        dim3(unsigned(layout_.n_head), unsigned(span.count),
                             unsigned(splits_for(span.count))),
                        dim3(attend_threads), 0, q_.data(), batch_, span.first,
                        CacheLayer(layout_, layer),
                        Partial{found_.data(), arrived_.data()}, attended_.data());
    }

    /// As many as keep the device busy, but not more than there are blocks to share.
    int splits_for(int rows) const {
        const int most = std::max(1, batch_.table_width / attend_warps);
        return std::clamp(4 * multiprocessors_ / (layout_.n_head * rows), 1,
                          std::min(most, 16));
    }

    template <class C>
    void attend_many(const Span& span, int layer);

    const KvLayout layout_;
    const DType dtype_;
    const std::shared_ptr<Stream> stream_;
    const Gemm gemm_;
    const int multiprocessors_ = multiprocessors();

    Matrix<T> head_;  // [n_vocab, n_embd]: the token embedding too
    Array<float> positions_;
    std::vector<Layer<T>> layers_;
    NormParameters ln_f_;

    // What the pass works on, as the host lays it out ...
    struct {
        std::vector<int> token, position, sequence, wanted;
        std::vector<std::byte*> table;
    } rows_;
    std::vector<Span> spans_;

    // ... and on the device. All stay allocated for the next pass.
    Batch batch_{};
    int row_room_ = 0, sequence_room_ = 0, wanted_room_ = 0, few_room_ = 0;
    Array<int> token_, position_, sequence_, wanted_;
    Array<std::byte*> table_;
    Array<float> x_;         // [rows, n_embd]: the residual stream
    Array<float> q_;         // [rows, n_embd]
    Array<float> attended_;  // [rows, n_embd]; for the head, the rows wanted
    Array<float> hidden_;    // [rows, 4 n_embd]
    Array<float> logits_;    // [wanted, n_vocab]
    Array<float> found_;     // of attend (see Partial)
    Array<unsigned> arrived_;
    Array<T> prepared_;  // [rows, padded(4 n_embd)]: what the library multiplies
    Array<float> sums_;  // [rows, 4 n_embd]: what it gives back
    Array<T> keys_, values_, weights_;  // of attend_many
    Array<float> scores_;

    // For write: one step, recorded.
    std::optional<Graph> graph_;
    Event passed_[2];
    Array<SamplerOptions> options_{1};
    Array<int> written_;  // [n_ctx]: the token chosen behind each position
    Array<std::uint64_t> weights_of_choice_;
};

// Laying a batch out
// ------------------

/// @param ahead  positions behind each step that the table should cover too
template <class T>
void Engine<T>::plan(std::span<const Step> batch, int ahead) {
    rows_ = {};
    spans_.clear();
    for (std::size_t s = 0; s < batch.size(); ++s) {
        const Step& step = batch[s];
        const int first = int(rows_.token.size()), n = int(step.tokens.size());
        for (int i = 0; i < n; ++i) {
            rows_.token.push_back(step.tokens[std::size_t(i)]);
            rows_.position.push_back(step.cache.size() + i);
            rows_.sequence.push_back(int(s));
            if (step.rows == Rows::all || (step.rows == Rows::last && i == n - 1))
                rows_.wanted.push_back(first + i);
        }
        rows_.table.resize((s + 1) * std::size_t(batch_.table_width));
        for (int b = 0; b < KvLayout::blocks_for(step.cache.size() + n + ahead); ++b)
            rows_.table[s * std::size_t(batch_.table_width) + std::size_t(b)] =
                step.cache.block(b);
        add_span(step, first);
    }
    make_room(int(rows_.token.size()), int(batch.size()), int(rows_.wanted.size()));
    upload();
}

/// Short steps go together, whosever they are; a long one goes alone, in pieces.
template <class T>
void Engine<T>::add_span(const Step& step, int first) {
    const int n = int(step.tokens.size());
    if (n > few) {
        for (int i = 0; i < n; i += queries_at_a_time)
            spans_.push_back({first + i, std::min(queries_at_a_time, n - i),
                              step.cache.size() + i, true});
    } else if (!spans_.empty() && !spans_.back().many &&
               spans_.back().count < queries_at_a_time) {
        spans_.back().count += n;
    } else {
        spans_.push_back({first, n, 0, false});
    }
}

/// The recorded graph knows all this memory by its address: where any of it moves, the
/// graph goes.
template <class T>
void Engine<T>::make_room(int rows, int sequences, int wanted) {
    const std::size_t d = std::size_t(config().n_embd);
    if (rows > row_room_) {
        row_room_ = 0;  // until all of it is there
        const std::size_t n = std::size_t(rows);
        token_ = position_ = sequence_ = wanted_ = {};
        token_ = Array<int>(n);
        position_ = Array<int>(n);
        sequence_ = Array<int>(n);
        wanted_ = Array<int>(n);
        x_ = Array<float>(n * d);
        q_ = Array<float>(n * d);
        attended_ = Array<float>(n * d);
        hidden_ = Array<float>(n * 4 * d);
        prepared_ = Array<T>(n * std::size_t(padded(int(4 * d))));
        sums_ = Array<float>(n * 4 * d);
        row_room_ = rows;
        graph_.reset();
    }
    if (sequences > sequence_room_) {
        table_ = Array<std::byte*>(std::size_t(sequences) * batch_.table_width);
        sequence_room_ = sequences;
        graph_.reset();
    }
    if (wanted > wanted_room_) {
        logits_ = Array<float>(std::size_t(wanted) * config().n_vocab);
        wanted_room_ = wanted;
        graph_.reset();
    }
    for (const Span& span : spans_)
        if (!span.many && span.count > few_room_) {
            const std::size_t heads = std::size_t(span.count) * layout_.n_head;
            found_ = Array<float>(heads * 16 * std::size_t(layout_.head_dim + 2));
            arrived_ = Array<unsigned>(heads);
            stream_->clear(arrived_.data(), arrived_.bytes());
            few_room_ = span.count;
            graph_.reset();
        }
    batch_.token = token_.data();
    batch_.position = position_.data();
    batch_.sequence = sequence_.data();
    batch_.table = table_.data();
}

template <class T>
void Engine<T>::upload() {
    const auto put = [&](const auto& array, const auto& from) {
        stream_->copy(array.data(), from.data(), from.size() * sizeof(from[0]));
    };
    put(token_, rows_.token);
    put(position_, rows_.position);
    put(sequence_, rows_.sequence);
    put(wanted_, rows_.wanted);
    put(table_, rows_.table);
}

/// scores = q k^T, softmax, out = weights v: each product is one of all heads.
template <class T>
template <class C>
void Engine<T>::attend_many(const Span& span, int layer) {
    const int heads = layout_.n_head, dim = layout_.head_dim, d = config().n_embd;
    const int n = span.count, length = span.position + n;
    const int blocks = KvLayout::blocks_for(length), reach = blocks * KvLayout::positions;
    const std::size_t held = std::size_t(heads) * dim * reach;
    const std::size_t looks = std::size_t(heads) * n * reach;
    if (held > keys_.size()) keys_ = Array<T>(held), values_ = Array<T>(held);
    if (looks > scores_.size()) {
        scores_ = Array<float>(looks);
        weights_ = Array<T>(looks);
    }

    const float* q = q_.data() + std::size_t(span.first) * d;
    stream_->launch(prepare<T>, dim3(unsigned(n + 3) / 4), dim3(row_threads), 0, q, n, d,
                    Norm{}, prepared_.data());
    stream_->launch(gather<T, C>, dim3(unsigned(heads), unsigned(blocks)), dim3(128), 0,
                    batch_, span.first, length, CacheLayer(layout_, layer), keys_.data(),
                    values_.data());
    const std::ptrdiff_t head = std::ptrdiff_t(dim) * reach;
    const std::ptrdiff_t head_scores = std::ptrdiff_t(n) * reach;
    gemm_.multiply(*stream_, Product{n,
                                     reach,
                                     dim,
                                     {prepared_.data(), padded(d), dim},
                                     {keys_.data(), reach, head},
                                     false,
                                     {scores_.data(), reach, head_scores},
                                     dtype_,
                                     heads,
                                     1 / std::sqrt(float(dim))});
    stream_->launch(causal_softmax<T>, dim3(unsigned(n + 3) / 4, unsigned(heads)),
                    dim3(128), 0, scores_.data(), n, span.position, reach,
                    weights_.data());
    gemm_.multiply(*stream_,
                   Product{n,
                           dim,
                           reach,
                           {weights_.data(), reach, head_scores},
                           {values_.data(), dim, head},
                           false,
                           {attended_.data() + std::size_t(span.first) * d, d, dim},
                           dtype_,
                           heads});
}

// Writing
// -------

/// The first step goes through forward, which checks all that there is to check. Then one
/// step is recorded as a graph that leaves its token where the next one looks for it, and
/// is launched over and over. The host stays a step behind: while it looks at a token,
/// the device is at work on the next.
template <class T>
void Engine<T>::write(KvCache& cache, Token next, int count, const Sampler& sampler,
                      const std::function<bool(Token)>& on_token) {
    if (count < 3 || !fits<1>(config().n_inner()))
        return Model::write(cache, next, count, sampler, on_token);
    if (!on_token(next)) return;
    const Logits logits = forward(std::span(&next, 1), cache);
    next = sampler.pick(logits[0], 0, std::uint64_t(cache.size()));
    if (!on_token(next)) return;

    const int steps = std::min(count - 2, config().n_ctx - cache.size());
    next = run_ahead(cache, next, steps, sampler, on_token);
    if (next >= 0 && steps < count - 2) forward(std::span(&next, 1), cache);  // throws
}

/// @return the last token, or -1 if on_token has stopped it
template <class T>
Token Engine<T>::run_ahead(KvCache& cache, Token next, int steps, const Sampler& sampler,
                           const std::function<bool(Token)>& on_token) {
    const struct GiveBack {  // however it ends: what was reserved and not written
        KvCache& cache;
        Stream& stream;
        ~GiveBack() {
            try {
                stream.wait();
            } catch (const Error&) {
                // A device that has failed says so again whenever it is asked.
            }
            cache.truncate(cache.size());
        }
    } give_back{cache, *stream_};

    cache.reserve(steps);
    const Step step{std::span(&next, 1), cache};
    plan(std::span(&step, 1), steps - 1);
    stream_->copy(options_.data(), &sampler.options(), sizeof(SamplerOptions));
    // [graph]
    if (!graph_)
        graph_.emplace(*stream_, [&] {
            pass(1, 1);
            stream_->launch(choose, dim3(1), dim3(choose_threads), 0, logits_.data(),
                            config().n_vocab, options_.data(), weights_of_choice_.data(),
                            batch_, written_.data());
        });
    int launched = 0;
    for (int done = 0; done < steps; ++done) {
        for (; launched < std::min(steps, done + 2); ++launched) {
            graph_->launch(*stream_);
            passed_[launched % 2].record(*stream_);
        }
        passed_[done % 2].wait();
        next = written_.data()[cache.size()];
        if (next < 0) throw Error("non-finite logits: nothing can be chosen from them");
        cache.advance(1);
        if (!on_token(next)) return -1;
    }
    // [graph]
    return next;
}

template <class T>
std::unique_ptr<Model> make(const Weights& weights, DType dtype, DType kv) {
    return std::make_unique<Engine<T>>(weights, dtype, kv, std::make_shared<Stream>());
}

std::unique_ptr<Model> load_here(const Weights& weights, DType dtype, DType kv) {
    require_device();
    const int dim = weights.config().head_dim();
    if (kv != DType::f32 && kv != DType::f16)
        throw BadInput("KV cache: expected f32 or f16, found " +
                       std::string(name_of(kv)));
    if (dim > 256)
        throw BadInput("device cuda: expected heads of at most 256 channels, found " +
                       std::to_string(dim));
    if (dtype == DType::f32) return make<float>(weights, dtype, kv);
    if (dtype == DType::f16) return make<f16>(weights, dtype, kv);
    if (dtype == DType::bf16) return make<bf16>(weights, dtype, kv);
    throw BadInput("device cuda: expected f32, f16 or bf16, found " +
                   std::string(name_of(dtype)));
}

}  // namespace
}  // namespace SIMT_MACHINE

#ifdef __CUDACC__
std::unique_ptr<Model> load(const Weights& weights, DType dtype, DType kv) {
    return load_here(weights, dtype, kv);
}
#else
std::unique_ptr<Model> load_emulated(const Weights& weights, DType dtype, DType kv) {
    return load_here(weights, dtype, kv);
}
#endif

}  // namespace gpt2::cuda
