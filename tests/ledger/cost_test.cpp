#include "ledger/cost.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "gpt2/error.hpp"

namespace {

using gpt2::Config;
using gpt2::DType;
using ledger::Engine;
using ledger::Operation;
using ledger::Step;

const Config small = gpt2::preset("small");
constexpr ledger::Machine slow = {
    .read_bandwidth = 10, .multiply_add_peak = 100, .threads = 1};

std::vector<Operation> pass(const Config& config, DType weights, DType kv, Step step) {
    return ledger::forward_pass(config, weights, kv, std::span(&step, 1));
}

const Operation& named(const std::vector<Operation>& operations,
                       const std::string& name) {
    for (const Operation& operation : operations)
        if (operation.name == name) return operation;
    throw std::runtime_error("no operation " + name);
}

TEST(Cost, Gpt2SmallIsWhatTheCoursePrints) {
    EXPECT_EQ(gpt2::parameters(small), 124'439'808);
    EXPECT_EQ(gpt2::body_parameters(small), 85'056'000);
    EXPECT_EQ(ledger::weight_bytes(small, DType::f32), 497'759'232);
    // 907,776 parameters are not in matrices and stay in f32.
    EXPECT_EQ(ledger::weight_bytes(small, DType::f16), 250'695'168);
    EXPECT_EQ(ledger::weight_bytes(small, DType::bf16), 250'695'168);
    EXPECT_EQ(ledger::weight_bytes(small, DType::int8), 142'604'640);
    EXPECT_EQ(ledger::kv_bytes_per_token(small, DType::f16), 36'864);
    EXPECT_EQ(ledger::kv_bytes_per_token(small, DType::f16) * 1024, 36 << 20);

    // "about 170 million FLOPs a token for the body": the matrices of twelve blocks.
    const auto one =
        pass(small, DType::f32, DType::f32, {.tokens = 1, .past = 0, .rows = 0});
    const double attention = named(one, "attention").flops;
    EXPECT_EQ(attention, 12 * 4 * 768);
    EXPECT_EQ(ledger::total_flops(one) - attention, 169'869'312);

    // "about 266 million": body 169,869,312, head 77,194,752, attention to 512.5
    // positions on average 18,892,800.
    const Engine engine(small, DType::f32, DType::f32, slow);
    EXPECT_EQ(engine.flops_per_token(1024), 265'956'864);
}

TEST(Cost, GroupedHeadsOfAnEightBillionModel) {
    const std::int64_t token = ledger::kv_bytes_per_token(32, 8, 128, DType::f16);
    EXPECT_EQ(token, 128 << 10);
    EXPECT_EQ(token * (128 << 10), std::int64_t(16) << 30);
}

// An independent count: walk over tokens, positions, layers and matrices, adding up one
// dot product at a time.
struct Counted {
    double flops = 0, bytes = 0;
};

Counted count(const Config& c, DType weights, int kv, const std::vector<Step>& batch) {
    Counted counted;
    // One column of a matrix, a number and where it is due a scale at a time.
    const auto column_bytes = [&](int rows) {
        int bytes = 0;
        for (int k = 0; k < rows; ++k)
            bytes += int(gpt2::size_of(weights)) +
                     (weights == DType::int8 && k % 32 == 0 ? 4 : 0);
        return bytes;
    };
    std::int64_t rows = 0;
    for (const Step& step : batch) {
        rows += step.rows;
        for (int i = 0; i < step.tokens; ++i) {
            counted.bytes += column_bytes(c.n_embd) + 4 * c.n_embd;  // token, position
            for (int layer = 0; layer < c.n_layer; ++layer) {
                for (int columns : {3 * c.n_embd, c.n_embd, 4 * c.n_embd})
                    for (int column = 0; column < columns; ++column)
                        counted.flops += 2 * c.n_embd;
                for (int column = 0; column < c.n_embd; ++column)
                    counted.flops += 2 * 4 * c.n_embd;
                for (int head = 0; head < c.n_head; ++head)
                    for (int seen = 0; seen <= step.past + i; ++seen)
                        counted.flops += 2 * c.head_dim() + 2 * c.head_dim();
                counted.bytes += 2 * c.n_head * c.head_dim() * kv;  // appended
            }
        }
        for (int layer = 0; layer < c.n_layer; ++layer)
            for (int position = 0; position < step.past; ++position)
                counted.bytes += 2 * c.n_head * c.head_dim() * kv;
        for (int row = 0; row < step.rows; ++row) {
            counted.flops += 2.0 * c.n_embd * c.n_vocab;
            counted.bytes += 4 * c.n_vocab;
        }
    }
    for (int layer = 0; layer < c.n_layer; ++layer) {
        for (int columns : {3 * c.n_embd, c.n_embd, 4 * c.n_embd})
            counted.bytes += columns * (column_bytes(c.n_embd) + 4);  // and a bias
        counted.bytes += c.n_embd * (column_bytes(4 * c.n_embd) + 4);
        counted.bytes += 2 * 2 * c.n_embd * 4;
    }
    counted.bytes += 2 * c.n_embd * 4;
    if (rows > 0) counted.bytes += double(c.n_vocab) * column_bytes(c.n_embd);
    return counted;
}

TEST(Cost, EqualsABruteForceCountOnRandomShapes) {
    std::mt19937 random(7);
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    for (int trial = 0; trial < 200; ++trial) {
        const int heads = draw(1, 4);
        const Config config{.n_vocab = draw(2, 90),
                            .n_ctx = 64,
                            .n_embd = heads * draw(1, 30),
                            .n_layer = draw(1, 4),
                            .n_head = heads};
        const DType weights = std::array{DType::f32, DType::f16, DType::bf16,
                                         DType::int8}[std::size_t(draw(0, 3))];
        const DType kv = draw(0, 1) ? DType::f32 : DType::bf16;
        std::vector<Step> batch;
        for (int sequences = draw(1, 5); sequences > 0; --sequences) {
            const int tokens = draw(1, 20);
            batch.push_back(
                {.tokens = tokens, .past = draw(0, 30), .rows = draw(0, tokens)});
        }
        const auto operations = ledger::forward_pass(config, weights, kv, batch);
        const Counted counted = count(config, weights, int(gpt2::size_of(kv)), batch);
        EXPECT_EQ(ledger::total_flops(operations), counted.flops);
        EXPECT_EQ(ledger::total_bytes(operations), counted.bytes);
    }
}

TEST(Cost, ReadingAtOnceAndOneByOneIsTheSameArithmetic) {
    const int n = 512;
    double one_by_one = 0;
    for (int past = 0; past < n; ++past)
        one_by_one += ledger::total_flops(
            pass(small, DType::f32, DType::f32, {.tokens = 1, .past = past, .rows = 1}));
    const Engine engine(small, DType::f32, DType::f32, slow);
    EXPECT_EQ(one_by_one / n, engine.flops_per_token(n));
    // ... but not the same bytes: 512 tokens share one trip of the weights.
    const double writing = engine.bytes_per_token({.tokens = 1});
    EXPECT_GT(writing, 100 * engine.bytes_per_token({.tokens = n, .past = 0, .rows = 1}));
}

TEST(Cost, ABatchSharesTheWeightsAndNothingElse) {
    const Step step{.tokens = 1, .past = 100, .rows = 1};
    const std::vector<Step> eight(8, step);
    const auto one = pass(small, DType::f16, DType::f32, step);
    const auto all = ledger::forward_pass(small, DType::f16, DType::f32, eight);
    EXPECT_EQ(ledger::total_flops(all), 8 * ledger::total_flops(one));
    for (const char* shared : {"norms", "attn qkv", "attn proj", "fc", "mlp proj"})
        EXPECT_EQ(named(all, shared).bytes, named(one, shared).bytes) << shared;
    for (const char* own : {"embed", "kv append", "attention"})
        EXPECT_EQ(named(all, own).bytes, 8 * named(one, own).bytes) << own;
}

TEST(Cost, ThePredictionTakesTheLongerOfTheTwo) {
    const Operation memory{"a", 1, 200, 50}, arithmetic{"b", 1, 1000, 50};
    EXPECT_EQ(ledger::predict(memory, slow), 5);
    EXPECT_EQ(ledger::predict(arithmetic, slow), 10);
    const std::vector<Operation> both{memory, arithmetic};
    EXPECT_EQ(ledger::predict(both, slow), 15);
    EXPECT_EQ(memory.intensity(), 4);
}

TEST(Cost, APassThatFitsTheCacheDoesNotWaitForMemory) {
    const ledger::Machine machine{.read_bandwidth = 1e10,
                                  .multiply_add_peak = 1e30,
                                  .threads = 1,
                                  .cache_bytes = 20e6,
                                  .cache_bandwidth = 1e11};
    const std::vector<Operation> fits{{"a", 1, 0, 15e6}, {"b", 1, 0, 5e6}};
    EXPECT_DOUBLE_EQ(ledger::predict(fits, machine), 20e6 / 1e11);
    // A byte more, and all of it comes from memory: what is read first is gone before
    // its turn comes again.
    const std::vector<Operation> larger{{"a", 1, 0, 15e6}, {"b", 1, 0, 5e6 + 1}};
    EXPECT_DOUBLE_EQ(ledger::predict(larger, machine), (20e6 + 1) / 1e10);
    // Nothing is known of a cache: nothing fits.
    const ledger::Machine plain{1e10, 1e30, 1};
    EXPECT_EQ(plain.repeating(1).read_bandwidth, 1e10);
    EXPECT_DOUBLE_EQ(ledger::predict(fits, plain), 20e6 / 1e10);
}

TEST(Cost, HalfTheBytesHalfTheTimeWhereMemorySetsThePace) {
    // Arithmetic for nothing: only the bytes count.
    const ledger::Machine machine{1e10, 1e30, 1};
    const Step step{.tokens = 1, .past = 0, .rows = 1};
    // Logits are f32; so are norms, biases and a position: 13 x 768 numbers a layer.
    const double exact = 4.0 * (50257 + 12 * 13 * 768 + 2 * 768 + 768) / 1e10;
    const double f32 = Engine(small, DType::f32, DType::f32, machine).forward(step);
    const double f16 = Engine(small, DType::f16, DType::f16, machine).forward(step);
    EXPECT_NEAR((f32 - exact) / (f16 - exact), 2, 1e-9);
    const double int8 = Engine(small, DType::int8, DType::f16, machine).forward(step);
    EXPECT_GT(f16 / int8, 1.7);
    EXPECT_LT(f16 / int8, 2 / 1.125);
}

TEST(Cost, NoRowsNoHead) {
    const auto none =
        pass(small, DType::f32, DType::f32, {.tokens = 3, .past = 0, .rows = 0});
    for (const Operation& operation : none) EXPECT_NE(operation.name, "head");
}

TEST(Cost, LargeShapesStayPositive) {
    const Config huge{1 << 20, 1 << 20, 1 << 16, 1 << 10, 1 << 10};
    const Step step{.tokens = 1 << 20, .past = 0, .rows = 1 << 20};
    for (const Operation& operation : pass(huge, DType::f32, DType::f32, step)) {
        EXPECT_GE(operation.flops, 0) << operation.name;
        EXPECT_GE(operation.bytes, 0) << operation.name;
    }
}

TEST(Cost, RefusesImpossibleSteps) {
    const Engine engine(small, DType::f32, DType::f32, slow);
    EXPECT_THROW(engine.forward({.tokens = 0, .past = 0, .rows = 0}), gpt2::BadInput);
    EXPECT_THROW(engine.forward({.tokens = 1, .past = -1, .rows = 1}), gpt2::BadInput);
    EXPECT_THROW(engine.forward({.tokens = 1, .past = 0, .rows = 2}), gpt2::BadInput);
    EXPECT_THROW(engine.forward({.tokens = 1, .past = 0, .rows = -1}), gpt2::BadInput);
    EXPECT_THROW(engine.forward(std::span<const Step>()), gpt2::BadInput);
    EXPECT_THROW(engine.flops_per_token(0), gpt2::BadInput);
    EXPECT_THROW(ledger::kv_bytes_per_token(0, 8, 128, DType::f16), gpt2::BadInput);
    EXPECT_THROW(ledger::kv_bytes_per_token(32, -8, 128, DType::f16), gpt2::BadInput);
}

}  // namespace
