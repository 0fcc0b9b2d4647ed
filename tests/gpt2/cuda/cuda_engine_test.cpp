// The whole CUDA engine: right against the reference, equal to the CPU engine but for
// rounding, and all that forward and write promise. Here on the kernels' CPU machine; in
// tests/gpu the same text on a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/cuda/engine.hpp"
#include "gpt2/cuda/simt.hpp"
#include "gpt2/generate.hpp"
#include "gpt2/load.hpp"
#include "gpt2/reference/reference.hpp"
#include "gpt2/sampler.hpp"
#include "gpt2/speculative.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const Config small{130, 96, 48, 2, 3};

/// Random weights large enough that every nonlinearity matters.
class Large final : public Weights {
public:
    Large(const Config& config, unsigned seed)
        : Weights(config, "large"), small_(random_weights(config, seed)) {}
    void read(Part part, int layer, int first_row, std::span<float> out) const override {
        small_->read(part, layer, first_row, out);
        const bool gain = out[0] > 0.5f;  // gains are around 1, all else around 0
        for (float& x : out) x *= gain ? 1 : 8;
    }

private:
    std::unique_ptr<Weights> small_;
};

std::unique_ptr<Model> emulated(const Weights& weights, DType dtype = DType::f32,
                                DType kv = DType::f32) {
#ifdef __CUDACC__
    return gpt2::cuda::load(weights, dtype, kv);
#else
    return cuda::load_emulated(weights, dtype, kv);
#endif
}

/// In units of the largest logit expected.
template <class Row>
double largest_difference(const Row& expected, std::span<const float> found) {
    double most = 0, scale = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double d = std::abs(double(expected[i]) - double(found[i]));
        most = std::max(most, std::isnan(d) ? INFINITY : d);
        scale = std::max(scale, std::abs(double(expected[i])));
    }
    return most / scale;
}

/// The rows of a whole sequence, by the CPU engine of that type.
Logits all_rows(const Weights& weights, DType dtype, DType kv,
                std::span<const Token> tokens) {
    const auto model = cpu::load(weights, dtype, kv, 1);
    KvCache cache = model->new_cache();
    return model->forward(tokens, cache, Rows::all);
}

std::vector<Token> written(Model& model, KvCache& cache, Token next, int count,
                           const Sampler& sampler) {
    std::vector<Token> tokens;
    model.write(cache, next, count, sampler, [&](Token token) {
        tokens.push_back(token);
        return true;
    });
    return tokens;
}

/// What write stands for: the loop over forward.
std::vector<Token> written_by_loop(Model& model, KvCache& cache, Token next, int count,
                                   const Sampler& sampler) {
    std::vector<Token> tokens = {next};
    for (int i = 1; i < count; ++i) {
        const Logits logits = model.forward(std::span(&tokens.back(), 1), cache);
        tokens.push_back(sampler.pick(logits[0], 0, std::uint64_t(cache.size())));
    }
    return tokens;
}

}  // namespace

TEST(CudaEngine, AgreesWithTheReference) {
    unsigned seed = 1;
    for (const Config& config : {small, Config{97, 64, 8, 2, 2}, Config{61, 70, 20, 3, 1},
                                 Config{33, 40, 200, 1, 1}}) {
        const Large weights(config, ++seed);
        const auto tokens = support::random_tokens(40, config.n_vocab, seed);
        const auto expected = reference_logits(weights, tokens);
        const auto model = emulated(weights);
        KvCache at_once = model->new_cache(), one_by_one = model->new_cache();
        const Logits logits = model->forward(tokens, at_once, Rows::all);
        for (int t = 0; t < 40; ++t) {
            const double* row = &expected[std::size_t(t) * config.n_vocab];
            EXPECT_LT(largest_difference(row, logits[t]), 1e-5) << "position " << t;
            const Logits one =
                model->forward(std::span(tokens).subspan(std::size_t(t), 1), one_by_one);
            EXPECT_LT(largest_difference(row, one[0]), 1e-5) << "position " << t;
        }
    }
}

// The CPU engine rounds weights and cache alike. Read at once, this one also rounds what
// is multiplied with them.
TEST(CudaEngine, AgreesWithTheCpuEngineInEveryType) {
    const Large weights(small, 5);
    const auto tokens = support::random_tokens(40, small.n_vocab, 5);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const DType kv : {DType::f32, DType::f16}) {
            SCOPED_TRACE(std::string(name_of(dtype)) + ", cache " +
                         std::string(name_of(kv)));
            const Logits expected = all_rows(weights, dtype, kv, tokens);
            const auto model = emulated(weights, dtype, kv);
            KvCache at_once = model->new_cache(), one_by_one = model->new_cache();
            const Logits logits = model->forward(tokens, at_once, Rows::all);
            const double of_many = dtype == DType::f32   ? 1e-5
                                   : dtype == DType::f16 ? 5e-3
                                                         : 4e-2;
            // Near a limit of f16 a key may round the other way.
            const double of_few = kv == DType::f16 ? 2e-3 : 1e-5;
            for (int t = 0; t < 40; ++t) {
                EXPECT_LT(largest_difference(expected[t], logits[t]),
                          std::max(of_many, of_few));
                const Logits one = model->forward(
                    std::span(tokens).subspan(std::size_t(t), 1), one_by_one);
                EXPECT_LT(largest_difference(expected[t], one[0]), of_few);
            }
        }
}

TEST(CudaEngine, AnySequenceInAnyBatch) {
    const Large weights(small, 6);
    const auto tokens = support::random_tokens(small.n_ctx, small.n_vocab, 6);
    const Logits expected = all_rows(weights, DType::f32, DType::f32, tokens);
    const auto model = emulated(weights);
    std::mt19937 random(8);
    std::deque<KvCache> caches;
    std::vector<std::size_t> done(4, 0);
    for (int s = 0; s < 4; ++s) caches.push_back(model->new_cache());
    for (std::size_t finished = 0; finished < 4;) {
        std::vector<Step> batch;
        std::vector<int> rows;  // the positions that logits are expected of
        for (std::size_t s = 0; s < 4; ++s) {
            const std::size_t n =
                std::min(tokens.size() - done[s], std::size_t(random() % 24));
            if (n == 0 || random() % 3 == 0) continue;
            const Rows wanted = Rows(random() % 3);
            batch.push_back(
                Step{std::span(tokens).subspan(done[s], n), caches[s], wanted});
            for (std::size_t i = 0; i < n; ++i)
                if (wanted == Rows::all || (wanted == Rows::last && i == n - 1))
                    rows.push_back(int(done[s] + i));
            done[s] += n;
        }
        const Logits logits = model->forward(batch);
        ASSERT_EQ(logits.rows(), int(rows.size()));
        for (int r = 0; r < logits.rows(); ++r)
            ASSERT_LT(largest_difference(expected[rows[std::size_t(r)]], logits[r]),
                      1e-5);
        finished = std::size_t(std::ranges::count(done, tokens.size()));
    }
}

TEST(CudaEngine, ForksAndTruncationsLeaveNoTrace) {
    const Large weights(small, 9);
    const auto tokens = support::random_tokens(90, small.n_vocab, 9);
    const auto model = emulated(weights, DType::f32, DType::f32);
    const std::span all(tokens);
    for (const std::size_t shared : {1u, 31u, 32u, 40u}) {
        const auto opening = all.first(shared), left = all.subspan(50, 20),
                   right = all.subspan(70, 20);
        KvCache trunk = model->new_cache();
        model->forward(opening, trunk);
        KvCache branch = trunk.fork();
        model->forward(left, trunk);
        const Logits forked = model->forward(right, branch);

        std::vector<Token> whole(opening.begin(), opening.end());
        whole.insert(whole.end(), right.begin(), right.end());
        const Logits expected = all_rows(weights, DType::f32, DType::f32, whole);
        EXPECT_LT(largest_difference(expected[int(whole.size()) - 1], forked[0]), 1e-5);
        trunk.truncate(int(shared));
        EXPECT_LT(largest_difference(forked[0], model->forward(right, trunk)[0]), 1e-5);
    }
}

TEST(CudaEngine, WritesWhatTheLoopWrites) {
    const Large weights(small, 12);
    const auto prompt = support::random_tokens(7, small.n_vocab, 12);
    const auto model = emulated(weights);
    SamplerOptions warm;
    warm.temperature = 0.8f;
    warm.top_k = 50;
    warm.top_p = 0.9f;
    for (const SamplerOptions& options : {SamplerOptions{}, warm})
        for (const int count : {1, 2, 3, 20}) {
            const Sampler sampler(options);
            KvCache a = model->new_cache(), b = model->new_cache();
            model->forward(prompt, a);
            model->forward(prompt, b);
            EXPECT_EQ(written(*model, a, 3, count, sampler),
                      written_by_loop(*model, b, 3, count, sampler));
            EXPECT_EQ(a.size(), b.size());
            // ... and what it left in the cache is the same too.
            const std::vector<Token> next = {4};
            const Logits expected = model->forward(next, b);
            EXPECT_LT(largest_difference(expected[0], model->forward(next, a)[0]), 1e-6);
        }
}

TEST(CudaEngine, WritingStopsWhereItIsTold) {
    const Large weights(small, 13);
    const auto model = emulated(weights);
    for (const int until : {1, 2, 3, 9}) {
        KvCache cache = model->new_cache();
        const int blocks = cache.pool()->blocks_in_use();
        int seen = 0;
        model->write(cache, 5, 60, Sampler{}, [&](Token) { return ++seen < until; });
        EXPECT_EQ(seen, until);
        EXPECT_EQ(cache.size(), until - 1);
        EXPECT_EQ(cache.pool()->blocks_in_use() - blocks, until > 1 ? 1 : 0)
            << "blocks reserved and not written went back";
    }
    KvCache cache = model->new_cache();
    EXPECT_THROW(model->write(cache, 5, 60, Sampler{},
                              [&](Token) {
                                  if (cache.size() == 9) throw std::runtime_error("");
                                  return true;
                              }),
                 std::runtime_error);
    EXPECT_EQ(cache.size(), 9);
}

TEST(CudaEngine, WritingEndsWithTheContext) {
    const Large weights(small, 14);
    const auto model = emulated(weights);
    KvCache cache = model->new_cache();
    const auto prompt = support::random_tokens(small.n_ctx - 5, small.n_vocab, 14);
    model->forward(prompt, cache);
    int seen = 0;
    const std::string what = support::bad_input([&] {
        model->write(cache, 5, 60, Sampler{}, [&](Token) { return ++seen > 0; });
    });
    EXPECT_THAT(what, HasSubstr("context of 96"));
    EXPECT_EQ(cache.size(), small.n_ctx);
    EXPECT_EQ(seen, 6);
}

TEST(CudaEngine, RefusesAndChangesNothing) {
    const Large weights(small, 1);
    const auto model = emulated(weights), other = emulated(weights);
    KvCache cache = model->new_cache(), foreign = other->new_cache();
    const std::vector<Token> high = {0, small.n_vocab}, fine = {1, 2, 3};
    model->forward(fine, cache);
    EXPECT_THAT(support::bad_input([&] { model->forward(high, cache); }),
                HasSubstr("expected an id below 130, found 130"));
    EXPECT_THAT(support::bad_input([&] { model->forward(fine, foreign); }),
                HasSubstr("another model"));
    EXPECT_THAT(support::bad_input(
                    [&] { model->write(cache, -1, 9, {}, [](Token) { return true; }); }),
                HasSubstr("found -1"));
    EXPECT_EQ(cache.size(), 3);
    EXPECT_EQ(model->forward(std::span<const Step>{}).rows(), 0);

    EXPECT_THAT(support::bad_input([&] { emulated(weights, DType::int8); }),
                HasSubstr("expected f32, f16 or bf16, found int8"));
    EXPECT_THAT(support::bad_input([&] { emulated(weights, DType::f32, DType::bf16); }),
                HasSubstr("KV cache: expected f32 or f16, found bf16"));
    const Large wide({10, 10, 300, 1, 1}, 1);
    EXPECT_THAT(support::bad_input([&] { emulated(wide); }),
                HasSubstr("at most 256 channels, found 300"));
}

TEST(CudaEngine, VerifiesADraft) {
    const Large weights(small, 15);
    const auto model = emulated(weights);
    std::vector<Token> prompt = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2};
    SpeculateOptions options;
    options.generate.max_tokens = 25;
    KvCache a = model->new_cache(), b = model->new_cache();
    PromptLookup lookup(1);
    const Speculation found = speculate(*model, a, prompt, lookup, options);
    EXPECT_EQ(found.generation.tokens,
              generate(*model, b, prompt, options.generate).tokens);
    int guessed = 0;
    for (const Trip& trip : found.trips) guessed += trip.guessed;
    EXPECT_GT(guessed, 0);
    EXPECT_EQ(a.size(), b.size());
}

// Logits that are not numbers come to light, though no host looks at them.
TEST(CudaEngine, DoesNotWriteNonsense) {
    class Broken final : public Weights {
    public:
        Broken() : Weights(small, "broken"), all_(small, 1) {}
        void read(Part part, int layer, int row, std::span<float> out) const override {
            all_.read(part, layer, row, out);
            // Position 3 poisons all that look back at it.
            if (part == Part::position_embedding) out[3 * 48] = INFINITY;
        }
        Large all_;
    };
    const auto model = emulated(Broken());
    KvCache cache = model->new_cache();
    EXPECT_THROW(model->write(cache, 1, 20, {}, [](Token) { return true; }), Error);
    EXPECT_EQ(cache.size(), 3);
}

// What was written before a model went stays: the pool lives as long as its caches.
TEST(CudaEngine, ACacheMayOutliveItsModel) {
    const Large weights(small, 2);
    auto model = emulated(weights);
    KvCache cache = model->new_cache();
    model->forward(support::random_tokens(40, small.n_vocab, 2), cache);
    model.reset();
    KvCache fork = cache.fork();
    fork.truncate(5);
    fork.reserve(1);
    EXPECT_EQ(fork.size(), 5);
}

TEST(CudaEngine, TheShippedModelWritesTheSameWords) {
    const auto directory = data_directory() / "models/story";
    const auto weights = load_weights(directory);
    const auto prompt = load_tokenizer(directory).encode(
        "Once upon a time there was a little girl who lived in a house with a");
    const auto cpu_model = cpu::load(*weights, DType::f32, DType::f32, 2);
    const auto model = emulated(*weights);
    EXPECT_EQ(model->weight_bytes(), cpu_model->weight_bytes());

    GenerateOptions options;
    options.max_tokens = 12;
    KvCache a = cpu_model->new_cache(), b = model->new_cache();
    EXPECT_EQ(generate(*model, b, prompt, options).tokens,
              generate(*cpu_model, a, prompt, options).tokens);

    KvCache c = cpu_model->new_cache(), d = model->new_cache();
    const Logits expected = cpu_model->forward(prompt, c, Rows::all);
    const Logits found = model->forward(prompt, d, Rows::all);
    for (int r = 0; r < found.rows(); ++r)
        EXPECT_LT(largest_difference(expected[r], found[r]), 1e-5);
}

#ifndef __CUDACC__  // a GPU's threads take their turns as they please
TEST(CudaEngine, TheWholePassInEveryOrder) {
    const Large weights(small, 21);
    const auto tokens = support::random_tokens(40, small.n_vocab, 21);
    const Logits expected = all_rows(weights, DType::f32, DType::f32, tokens);
    for (const simt::Order order :
         {simt::Order::forward, simt::Order::reverse, simt::Order::shuffled}) {
        simt::set_order(order, 3);
        const auto model = emulated(weights);
        KvCache cache = model->new_cache();
        const std::span all(tokens);
        EXPECT_LT(
            largest_difference(expected[34], model->forward(all.first(35), cache)[0]),
            1e-5);
        EXPECT_LT(
            largest_difference(expected[39], model->forward(all.subspan(35), cache)[0]),
            1e-5);
    }
    simt::set_order(simt::Order::forward);
}

#endif

TEST(CudaEngine, IsNotHereWithoutAGpu) {
    LoadOptions options;
    options.device = "cuda";
    try {
        load_model(data_directory() / "models/story-draft", options);
    } catch (const Unavailable& error) {
        EXPECT_EQ(error.exit_status(), 77);
        EXPECT_THAT(error.what(), HasSubstr("device cuda: "));
    }
}
