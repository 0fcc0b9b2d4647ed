// What scripts/gpu_check checks and times, on the kernels' CPU machine: right answers for
// a right engine, and for a wrong one the check does not hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../gpu/checks.hpp"
#include "../../gpu/kernel_times.cpp"
#include "gpt2/cpu/engine.hpp"
#include "gpt2/cuda/engine.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const Config tiny{70, 96, 32, 2, 2};

std::unique_ptr<Model> emulated(unsigned seed, DType dtype = DType::f32) {
    return cuda::load_emulated(*random_weights(tiny, seed), dtype, DType::f32);
}

std::unique_ptr<Model> on_cpu(unsigned seed) {
    return cpu::load(*random_weights(tiny, seed), DType::f32, DType::f32, 1);
}

}  // namespace

TEST(GpuCheck, TheSameModelPasses) {
    const auto text = support::random_tokens(40, tiny.n_vocab, 1);
    const auto golden = on_cpu(1), found = emulated(1), narrow = emulated(1, DType::bf16);
    const Logits expected = gpu_check::read(*golden, text);
    const Logits logits = gpu_check::read(*found, text);
    EXPECT_TRUE(gpu_check::logits_agree(expected, logits, 1e-4).holds);
    EXPECT_TRUE(gpu_check::top_1_agrees(expected, logits, 1).holds);
    EXPECT_FALSE(
        gpu_check::logits_agree(expected, gpu_check::read(*narrow, text), 1e-4).holds);
    const std::span prompt = std::span(text).first(9);
    const auto same = gpu_check::same_text(*golden, *found, prompt, 20, 1e-4);
    EXPECT_TRUE(same.holds) << same.detail;
    const auto graph = gpu_check::writes_as_the_loop(*found, prompt, 20);
    EXPECT_TRUE(graph.holds) << graph.detail;
    EXPECT_THAT(graph.detail, HasSubstr("0 of 70 logits differ"));
}

TEST(GpuCheck, AnotherModelDoesNot) {
    const auto text = support::random_tokens(40, tiny.n_vocab, 1);
    const auto golden = on_cpu(1), found = emulated(2);
    const Logits expected = gpu_check::read(*golden, text);
    const Logits logits = gpu_check::read(*found, text);
    EXPECT_FALSE(gpu_check::logits_agree(expected, logits, 1e-1).holds);
    EXPECT_FALSE(gpu_check::top_1_agrees(expected, logits, 0.5).holds);
    const auto text_differs =
        gpu_check::same_text(*golden, *found, std::span(text).first(9), 20, 1e-4);
    EXPECT_FALSE(text_differs.holds);
    EXPECT_THAT(text_differs.detail, HasSubstr("they part at token"));
}

TEST(GpuCheck, NoNumberIsNotNear) {
    Logits expected(1, 3), found(1, 3);
    for (int i = 0; i < 3; ++i)
        expected[0][std::size_t(i)] = found[0][std::size_t(i)] = 1;
    EXPECT_TRUE(gpu_check::logits_agree(expected, found, 0).holds);
    found[0][1] = NAN;
    EXPECT_FALSE(gpu_check::logits_agree(expected, found, 1e9).holds);
    EXPECT_FALSE(gpu_check::logits_agree(expected, Logits(0, 3), 1e9).holds);
}

// A model that counts, whose write may slip at its last token.
TEST(GpuCheck, AWriterOfItsOwnIsFoundOut) {
    class Counting final : public Model {
    public:
        explicit Counting(Token slip)
            : Model(tiny, std::make_shared<KvPool>(tiny, DType::f32)), slip_(slip) {}
        std::size_t weight_bytes() const override { return 0; }
        void write(KvCache& cache, Token next, int count, const Sampler& sampler,
                   const std::function<bool(Token)>& on_token) override {
            int i = 0;
            Model::write(cache, next, count, sampler, [&](Token token) {
                return on_token(++i == count ? (token + slip_) % 70 : token);
            });
        }

    private:
        void run(std::span<const Step> batch, Logits& logits) override {
            std::ranges::fill(logits[0], 0.0f);
            logits[0][std::size_t(batch[0].tokens.back() + 1) % 70] = 1;
        }
        Token slip_;
    };
    Counting right(0), wrong(1);
    const std::vector<Token> prompt = {1, 2, 3};
    EXPECT_TRUE(gpu_check::writes_as_the_loop(right, prompt, 9).holds);
    const auto found = gpu_check::writes_as_the_loop(wrong, prompt, 9);
    EXPECT_FALSE(found.holds);
    EXPECT_EQ(found.detail, "the tokens differ");
}

TEST(GpuCheck, MemoryThatGrowsIsFoundOut) {
    const auto model = emulated(1);
    std::size_t bytes = 100;
    EXPECT_TRUE(gpu_check::memory_stays(*model, 9, [&] { return bytes; }).holds);
    EXPECT_FALSE(gpu_check::memory_stays(*model, 9, [&] { return ++bytes; }).holds);
}

TEST(GpuCheck, ABeatLeavesTheCacheAsItWas) {
    const auto model = emulated(1);
    KvCache cache = model->new_cache();
    model->forward(support::random_tokens(7, tiny.n_vocab, 1), cache);
    EXPECT_GT(gpu_check::beat(*model, cache, 7, 9), 0);
    EXPECT_EQ(cache.size(), 7);
}

TEST(GpuCheck, ProgramsSucceedOrNot) {
    const support::TempDir dir;
    EXPECT_TRUE(gpu_check::succeeds("echo fine", dir / "log").holds);
    EXPECT_EQ(support::slurp(dir / "log"), "fine\n");
    EXPECT_FALSE(gpu_check::succeeds("echo bad >&2; exit 3", dir / "log").holds);
    EXPECT_EQ(support::slurp(dir / "log"), "bad\n");
    EXPECT_FALSE(gpu_check::succeeds("timeout 0.1 sleep 5", dir / "log").holds);
}

TEST(GpuCheck, EveryKernelIsTimedAlone) {
    for (const DType weights : {DType::f32, DType::f16, DType::bf16})
        for (const DType kv : {DType::f32, DType::f16}) {
            const int context = weights == DType::f32 ? 95 : 1;
            const ledger::Step step{.tokens = 1, .past = context, .rows = 1};
            double bytes = 0;
            std::vector<std::string> names;
            for (const auto& k : gpu_check::kernel_times(tiny, weights, kv, context, 1)) {
                names.push_back(k.name);
                EXPECT_GT(k.seconds, 0) << k.name;
                EXPECT_GT(k.bytes, 0) << k.name;
                EXPECT_EQ(k.times,
                          k.name == "embed" || k.name == "head" || k.name == "choose"
                              ? 1
                              : tiny.n_layer);
                bytes += k.times * k.bytes;
            }
            EXPECT_EQ(names, (std::vector<std::string>{"embed", "attn qkv", "attention",
                                                       "attn proj", "fc", "mlp proj",
                                                       "head", "choose"}));
            // All that the ledger counts but norms and what is appended; and the logits.
            const auto all = ledger::forward_pass(tiny, weights, kv, {&step, 1});
            EXPECT_LT(bytes, ledger::total_bytes(all) + 70 * 4);
            EXPECT_GT(bytes, 0.9 * ledger::total_bytes(all));
        }
    for (const int splits : {1, 3, 16})
        EXPECT_GT(gpu_check::attention_time(tiny, DType::f16, 50, splits, 1), 0);
}
