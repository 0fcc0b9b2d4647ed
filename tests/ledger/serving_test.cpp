#include "ledger/serving.hpp"

#include <array>

#include "support.hpp"

namespace {

using ledger::Accelerator;
using ledger::Serving;
using ledger::Step;
using ledger::Transformer;

constexpr Transformer llama_8b{32, 4096, 32, 8, 128, 14336, 128256};
constexpr Transformer llama_70b{80, 8192, 64, 8, 128, 28672, 128256};
constexpr Accelerator big{.memory = 80e9, .bandwidth = 2e12, .flops = 1e15};

ledger::Seconds one(const Serving& serving, Step step) {
    return serving.forward(std::span(&step, 1));
}

}  // namespace

TEST(Serving, CountsParametersAsPublished) {
    EXPECT_EQ(llama_8b.parameters(), 8'030'261'248);
    EXPECT_EQ(llama_70b.parameters(), 70'553'706'496);
    EXPECT_EQ(llama_8b.kv_bytes_per_token(), 128 * 1024);
    EXPECT_EQ(llama_70b.kv_bytes_per_token(), 320 * 1024);
    EXPECT_EQ(llama_8b.body(), 8'030'261'248 - 2 * 4096LL * 128256);
}

TEST(Serving, WritingWaitsForTheBytes) {
    const Serving serving(llama_8b, big, 1);
    const double head = 4096.0 * 128256;
    EXPECT_DOUBLE_EQ(
        one(serving, {.tokens = 1, .past = 999, .rows = 1}),
        (2 * (double(llama_8b.body()) + head + 128256) + 1000 * 131072.0) / 2e12);
    // Without a row the head is not needed.
    EXPECT_DOUBLE_EQ(one(serving, {.tokens = 1, .past = 0, .rows = 0}),
                     (2 * double(llama_8b.body()) + 131072.0) / 2e12);
}

TEST(Serving, ReadingWaitsForTheArithmetic) {
    const Serving serving(llama_8b, big, 1);
    const double n = 8192, body = double(llama_8b.body()), head = 4096.0 * 128256;
    EXPECT_DOUBLE_EQ(one(serving, {.tokens = 8192, .past = 0, .rows = 1}),
                     2 * body * n / 1e15 + 4 * 32 * 4096.0 * (n * (n + 1) / 2) / 1e15 +
                         2 * (head + 128256) / 2e12);
}

TEST(Serving, ABatchSharesOneTripOfTheWeights) {
    const Serving serving(llama_8b, big, 1);
    const std::array<Step, 4> batch{{{1, 10, 1}, {1, 20, 1}, {1, 30, 1}, {5, 0, 0}}};
    const double head = 4096.0 * 128256;
    EXPECT_DOUBLE_EQ(
        serving.forward(batch),
        (2 * (double(llama_8b.body()) + head + 3 * 128256) + 68 * 131072.0) / 2e12);
}

TEST(Serving, DevicesShareTheWorkAndTheWeights) {
    const Serving one_device(llama_8b, big, 1), four(llama_8b, big, 4);
    for (const Step step : {Step{1, 500, 1}, Step{4000, 0, 1}})
        EXPECT_NEAR(one(one_device, step) / one(four, step), 4, 1e-9);
    EXPECT_EQ(one_device.kv_room(), std::int64_t((72e9 - 16060522496.0) / 131072));
    EXPECT_EQ(four.kv_room(), std::int64_t((288e9 - 16060522496.0) / 131072));
}

TEST(Serving, RefusesWhatCannotBe) {
    EXPECT_EQ(support::bad_input([] { Serving(llama_70b, big, 1); }),
              "ledger: 1 accelerators: the weights of 141107412992 bytes leave no room "
              "for a cache");
    support::bad_input([] { Serving(llama_8b, big, 0); });
    support::bad_input([] { Serving(llama_8b, big, -1); });
    support::bad_input([] { Serving(llama_8b, big, 1).forward({}); });
}
