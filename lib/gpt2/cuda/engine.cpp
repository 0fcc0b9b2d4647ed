#include "gpt2/cuda/engine.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gpt2/cuda/attention.hpp"
#include "gpt2/cuda/choose.hpp"
#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/gemm.hpp"
#include "gpt2/cuda/multiply.hpp"
#include "gpt2/cuda/parameters.hpp"
#include "gpt2/cuda/persistent.hpp"
#include "gpt2/cuda/plan.hpp"
#include "gpt2/error.hpp"

namespace gpt2::cuda {
inline namespace SIMT_MACHINE {

namespace {

/// What `written_` holds where nothing has been chosen yet.
constexpr int not_yet = -2;
/// Tokens that one launch of `decode` makes: a longer one would go on for nothing when
/// somebody says stop.
constexpr int steps_together = 8;

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

template <class T>
class Engine final : public Model {
public:
    Engine(const Weights& weights, DType dtype, DType kv, Decode decode,
           std::shared_ptr<Stream> stream)
        : Model(weights.config(),
                std::make_shared<DevicePool>(weights.config(), kv, stream)),
          layout_(weights.config(), kv),
          dtype_(dtype),
          stream_(std::move(stream)),
          plan_(weights.config().n_ctx),
          written_(std::size_t(weights.config().n_ctx), Place::both),
          weights_of_choice_(std::size_t(weights.config().n_vocab)) {
        const Loader<T> loader(weights, *stream_);
        head_ = loader.head();
        positions_ = loader.floats(Part::position_embedding);
        for (int i = 0; i < config().n_layer; ++i) layers_.push_back(loader.layer(i));
        ln_f_ = loader.norm(Part::ln_f_gain, Part::ln_f_bias);
        if (decode == Decode::persistent) blocks_ = blocks_that_stay();
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
        lay_out(batch);
        pass(plan_.rows(), plan_.wanted());
        if (plan_.wanted() > 0)
            stream_->copy(logits[0].data(), logits_.data(),
                          std::size_t(plan_.wanted()) * config().n_vocab * sizeof(float));
        stream_->wait();
    }

    Token run_ahead(KvCache& cache, Token next, int steps, const Sampler& sampler,
                    const std::function<bool(Token)>& on_token);
    void make_ready();
    void give(int steps);
    Token chosen_behind(int position);

    void lay_out(std::span<const Step> batch, int ahead = 0);

    // [pass]
    /// The forward pass: five kernels a layer where rows are few.
    void pass(int rows, int wanted) {
        stream_->launch(embed<T>, dim3(rows), dim3(row_threads), 0, plan_.batch(),
                        head_.weight.data(), positions_.data(), config().n_embd,
                        x_.data());
        for (int i = 0; i < config().n_layer; ++i) {
            for (const Linear<T>& product : products_of(i)) {
                multiply(product, rows);
                if (product.target.then == Then::remember) attend_all(i);
            }
        }
        if (wanted == 0) return;
        const bool all = wanted == rows;  // they are in order
        if (!all)
            stream_->launch(take_rows, dim3(wanted), dim3(row_threads), 0, x_.data(),
                            plan_.wanted_rows(), config().n_embd, attended_.data());
        multiply(head_of(all ? x_ : attended_), wanted);
    }

    /// The products of a layer, in their order.
    std::array<Linear<T>, 4> products_of(int i) const {
        const Layer<T>& l = layers_[std::size_t(i)];
        return {linear(x_, l.ln_1.norm(), l.attn, Then::remember, q_, i),
                linear(attended_, {}, l.attn_proj, Then::residual, x_, i),
                linear(x_, l.ln_2.norm(), l.fc, Then::gelu, hidden_, i),
                linear(hidden_, {}, l.mlp_proj, Then::residual, x_, i)};
    }
    // [pass]

    Linear<T> head_of(const Array<float>& x) const {
        return linear(x, ln_f_.norm(), head_, Then::store, logits_, 0);
    }

    // Products
    // --------

    Linear<T> linear(const Array<float>& x, Norm norm, const Matrix<T>& m, Then then,
                     const Array<float>& y, int layer) const {
        return {x.data(),
                m.k,
                norm,
                m.weight.data(),
                {then, y.data(), m.n, m.bias.data(), plan_.batch(),
                 CacheLayer(layout_, layer)}};
    }

    /// One way or the other (see multiply.hpp).
    void multiply(const Linear<T>& p, int rows) {
        const int n = p.target.n, k = p.k;
        if (rows <= 1 && fits<1>(k)) return multiply_as<1>(p, rows);
        if (rows <= 2 && fits<2>(k)) return multiply_as<2>(p, rows);
        if (rows <= 4 && fits<4>(k)) return multiply_as<4>(p, rows);
        if (rows <= few && fits<few>(k)) return multiply_as<few>(p, rows);

        stream_->launch(prepare<T>, dim3((rows + 3) / 4), dim3(row_threads), 0, p.x, rows,
                        k, p.norm, prepared_.data());
        const bool store = p.target.then == Then::store;
        float* sums = store ? p.target.y : sums_.data();
        gemm_.multiply(*stream_, Product{rows,
                                         n,
                                         padded(k),
                                         {prepared_.data(), padded(k)},
                                         {p.w, padded(k)},
                                         true,
                                         {sums, n},
                                         dtype_});
        if (store) return;
        const std::size_t blocks =
            (std::size_t(rows) * n + row_threads - 1) / row_threads;
        stream_->launch(finish_rows, dim3(unsigned(std::min<std::size_t>(blocks, 8192))),
                        dim3(row_threads), 0, sums, rows, p.target);
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
    void multiply_as(const Linear<T>& p, int rows) {
        constexpr int warps = few_threads / simt::warp_size;
        const int blocks =
            std::min((p.target.n + warps - 1) / warps, 16 * multiprocessors_);
        stream_->launch(multiply_few<T, max_rows>, dim3(unsigned(blocks)),
                        dim3(few_threads), shared_for<max_rows>(p.k), p.x, rows, p.k,
                        p.norm, p.w, p.target);
    }

    // Attention
    // ---------

    void attend_all(int layer) {
        for (const Span& span : plan_.spans())
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
        const int splits = splits_for(multiprocessors_, layout_.n_head, span.count,
                                      plan_.batch().table_width);
        stream_->launch(
            attend<C, spread>,
            dim3(unsigned(layout_.n_head), unsigned(span.count), unsigned(splits)),
            dim3(attend_threads), 0, q_.data(), plan_.batch(), span.first,
            CacheLayer(layout_, layer), Partial{found_.data(), arrived_.data()},
            attended_.data());
    }

    template <class C>
    void attend_many(const Span& span, int layer);

    // The kernel that stays
    // ---------------------

    auto decode_kernel() const {
        return layout_.dtype == DType::f16 ? decode<T, f16> : decode<T, float>;
    }

    /// One for each multiprocessor, or 0 where it cannot be.
    int blocks_that_stay() const {
        const int widest = config().n_inner();
        if (layout_.head_dim > decode_head_dim || !fits<1>(widest)) return 0;
        return std::min(multiprocessors_,
                        resident(decode_kernel(), decode_threads, shared_for<1>(widest)));
    }

    Decoding<T> decoding() const {
        return {products_.data(),
                int(products_.size()),
                plan_.batch(),
                head_.weight.data(),
                positions_.data(),
                x_.data(),
                config().n_embd,
                layout_.n_head,
                {found_.data(), arrived_.data()},
                attended_.data(),
                logits_.data(),
                config().n_vocab,
                options_.data(),
                weights_of_choice_.data(),
                written_.data()};
    }

    const KvLayout layout_;
    const DType dtype_;
    const std::shared_ptr<Stream> stream_;
    const Gemm gemm_;
    const int multiprocessors_ = multiprocessors();

    Matrix<T> head_;  // [n_vocab, n_embd]: the token embedding too
    Array<float> positions_;
    std::vector<Layer<T>> layers_;
    NormParameters ln_f_;

    // One pass at a time: what it works on stays allocated for the next.
    Plan plan_;
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

    // For write: one step, recorded, or the products of one step for the blocks that
    // stay.
    std::unique_ptr<Graph> graph_;
    int blocks_ = 0;
    Array<Linear<T>> products_{std::size_t(4 * config().n_layer + 1)};
    Array<SamplerOptions> options_{1};
    Array<int> written_;  // [n_ctx]: the token chosen behind each position
    Array<std::uint64_t> weights_of_choice_;
};

/// Lays the batch out and makes room for what the pass computes. The recorded graph knows
/// all this memory by its address: it is kept only if nothing has moved.
template <class T>
void Engine<T>::lay_out(std::span<const Step> batch, int ahead) {
    std::unique_ptr<Graph> graph = std::move(graph_);
    bool moved = plan_.lay_out(batch, ahead, *stream_);
    const std::size_t n = std::size_t(plan_.rows()), d = std::size_t(config().n_embd);
    moved |= grow(x_, n * d);
    moved |= grow(q_, n * d);
    moved |= grow(attended_, n * d);
    moved |= grow(hidden_, n * 4 * d);
    moved |= grow(prepared_, n * std::size_t(padded(int(4 * d))));
    moved |= grow(sums_, n * 4 * d);
    moved |= grow(logits_, std::size_t(plan_.wanted()) * config().n_vocab);
    for (const Span& span : plan_.spans()) {
        if (span.many) continue;
        const std::size_t heads = std::size_t(span.count) * layout_.n_head;
        moved |= grow(found_, heads * most_splits * std::size_t(layout_.head_dim + 2));
        if (grow(arrived_, heads)) {
            stream_->clear(arrived_.data(), arrived_.bytes());
            moved = true;
        }
    }
    if (!moved) graph_ = std::move(graph);
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
    grow(keys_, held);
    grow(values_, held);
    grow(scores_, looks);
    grow(weights_, looks);

    const float* q = q_.data() + std::size_t(span.first) * d;
    stream_->launch(prepare<T>, dim3(unsigned(n + 3) / 4), dim3(row_threads), 0, q, n, d,
                    Norm{}, prepared_.data());
    stream_->launch(gather<T, C>, dim3(unsigned(heads), unsigned(blocks)), dim3(128), 0,
                    plan_.batch(), span.first, length, CacheLayer(layout_, layer),
                    keys_.data(), values_.data());
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
/// is launched over and over; or one kernel makes several steps. The host stays behind:
/// while it looks at a token, the device is at work on the next.
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
    lay_out(std::span(&step, 1), steps - 1);
    stream_->copy(options_.data(), &sampler.options(), sizeof(SamplerOptions));
    std::fill_n(written_.data() + cache.size(), steps, not_yet);
    make_ready();
    const int at_once = blocks_ > 0 ? steps_together : 1;
    int given = 0;
    for (int done = 0; done < steps; ++done) {
        for (; given < steps && given <= done + at_once; given += at_once)
            give(std::min(at_once, steps - given));
        next = chosen_behind(cache.size());
        if (next < 0) throw Error("non-finite logits: nothing can be chosen from them");
        cache.advance(1);
        if (!on_token(next)) return -1;
    }
    return next;
}

// [graph]
template <class T>
void Engine<T>::make_ready() {
    if (blocks_ > 0) {
        std::vector<Linear<T>> products;
        for (int i = 0; i < config().n_layer; ++i)
            for (const Linear<T>& product : products_of(i)) products.push_back(product);
        products.push_back(head_of(x_));
        stream_->copy(products_.data(), products.data(), products_.bytes());
        stream_->wait();  // they go with this function
    } else if (!graph_) {
        graph_ = std::make_unique<Graph>(*stream_, [&] {
            pass(1, 1);
            stream_->launch(choose, dim3(1), dim3(choose_threads), 0, logits_.data(),
                            config().n_vocab, options_.data(), weights_of_choice_.data(),
                            plan_.batch(), written_.data());
        });
    }
}

/// Gives the device steps to do: with a graph, one.
template <class T>
void Engine<T>::give(int steps) {
    if (blocks_ > 0)
        stream_->launch_together(decode_kernel(), dim3(unsigned(blocks_)),
                                 dim3(decode_threads), shared_for<1>(config().n_inner()),
                                 decoding(), steps);
    else
        graph_->launch(*stream_);
}
// [graph]

/// Waits for it: the device may be at work on later ones already.
template <class T>
Token Engine<T>::chosen_behind(int position) {
    const std::atomic_ref<int> written(written_.data()[position]);
    for (bool idle = false;; idle = stream_->idle()) {
        const Token token = written.load(std::memory_order_acquire);
        if (token != not_yet) return token;
        if (idle) throw Error("CUDA: the device has stopped without a token");
    }
}

template <class T>
std::unique_ptr<Model> make(const Weights& weights, DType dtype, DType kv,
                            Decode decode) {
    return std::make_unique<Engine<T>>(weights, dtype, kv, decode,
                                       std::make_shared<Stream>());
}

std::unique_ptr<Model> load_here(const Weights& weights, DType dtype, DType kv,
                                 Decode decode) {
    require_device();
    const int dim = weights.config().head_dim();
    if (kv != DType::f32 && kv != DType::f16)
        throw BadInput("KV cache: expected f32 or f16, found " +
                       std::string(name_of(kv)));
    if (dim > 256)
        throw BadInput("device cuda: expected heads of at most 256 channels, found " +
                       std::to_string(dim));
    if (dtype == DType::f32) return make<float>(weights, dtype, kv, decode);
    if (dtype == DType::f16) return make<f16>(weights, dtype, kv, decode);
    if (dtype == DType::bf16) return make<bf16>(weights, dtype, kv, decode);
    throw BadInput("device cuda: expected f32, f16 or bf16, found " +
                   std::string(name_of(dtype)));
}

}  // namespace
}  // namespace SIMT_MACHINE

#ifdef __CUDACC__
std::unique_ptr<Model> load(const Weights& weights, DType dtype, DType kv,
                            Decode decode) {
    return load_here(weights, dtype, kv, decode);
}
#else
std::unique_ptr<Model> load_emulated(const Weights& weights, DType dtype, DType kv,
                                     Decode decode) {
    return load_here(weights, dtype, kv, decode);
}
#endif

}  // namespace gpt2::cuda
