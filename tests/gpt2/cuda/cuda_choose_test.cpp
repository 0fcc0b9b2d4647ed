// The token that the device chooses is the one that Sampler chooses.

#include "device_support.hpp"
#include "gpt2/cuda/choose.hpp"

using namespace gpt2;
using namespace gpt2::cuda;

namespace {

/// One launch of `choose`, and what it left behind.
struct Chosen {
    Token token, next_token;
    int position;
};

Chosen choose_from(const std::vector<float>& logits, const SamplerOptions& options,
                   int position) {
    Stream stream;
    const auto row = support::on_device(logits);
    const auto how = support::on_device(std::vector{options});
    const auto token = support::on_device(std::vector{0});
    const auto at = support::on_device(std::vector{position});
    const Array<std::uint64_t> weights(logits.size());
    const Array<int> written(std::size_t(position) + 1);
    Batch batch{};
    batch.token = token.data();
    batch.position = at.data();
    stream.launch(choose, dim3(1), dim3(choose_threads), 0, row.data(),
                  int(logits.size()), how.data(), weights.data(), batch, written.data());
    return {written.data()[position], token.data()[0], at.data()[0]};
}

}  // namespace

TEST(CudaChoose, AgreesWithTheSampler) {
    support::in_every_order([] {
        std::mt19937 random(3);
        for (const int n_vocab : {1, 33, 600})
            for (const float temperature : {0.0f, 0.7f})
                for (const auto& [top_k, top_p] :
                     std::vector<std::pair<int, float>>{{0, 1.0f},
                                                        {1, 1.0f},
                                                        {40, 1.0f},
                                                        {0, 0.9f},
                                                        {40, 0.5f},
                                                        {7, 0.0f}}) {
                    const auto logits =
                        support::random_floats(std::size_t(n_vocab), random(), 3);
                    const SamplerOptions options{temperature, top_k, top_p, random()};
                    const int position = int(random() % 50);
                    const Token expected =
                        Sampler(options).pick(logits, 0, std::uint64_t(position) + 1);
                    const Chosen chosen = choose_from(logits, options, position);
                    EXPECT_EQ(chosen.token, expected)
                        << n_vocab << " tokens, temperature " << temperature << ", top_k "
                        << top_k << ", top_p " << top_p;
                    EXPECT_EQ(chosen.next_token, expected);
                    EXPECT_EQ(chosen.position, position + 1);
                }
    });
}

TEST(CudaChoose, TakesTheLowerOfEqualOnes) {
    std::vector<float> logits(1000, -1.0f);
    EXPECT_EQ(choose_from(logits, {}, 0).token, 0);
    logits[700] = logits[300] = 2;
    EXPECT_EQ(choose_from(logits, {}, 0).token, 300);
    logits.assign(1000, -0.0f);
    logits[5] = 0;
    EXPECT_EQ(choose_from(logits, {}, 0).token, argmax(logits));
}

TEST(CudaChoose, NeverTakesWhatHasMinusInfinity) {
    std::vector<float> logits(600, -INFINITY);
    logits[599] = -1000;
    EXPECT_EQ(choose_from(logits, {}, 3).token, 599);
    EXPECT_EQ(choose_from(logits, {.temperature = 1}, 3).token, 599);
}

TEST(CudaChoose, SaysWhenThereIsNothingToChooseFrom) {
    for (const float wrong : {NAN, -NAN, INFINITY})
        for (const float temperature : {0.0f, 1.0f}) {
            std::vector<float> logits(600, 1.0f);
            logits[77] = wrong;
            EXPECT_EQ(choose_from(logits, {.temperature = temperature}, 0).token, -1);
        }
    EXPECT_EQ(choose_from(std::vector<float>(600, -INFINITY), {}, 0).token, -1);
}
