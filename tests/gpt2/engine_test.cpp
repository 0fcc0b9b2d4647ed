// The CPU engine: right against the reference, and equal to itself to the last bit.

#include "gpt2/cpu/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>

#include "gpt2/reference/reference.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

// Awkward on purpose: widths that fill no vector, heads of 4 to 64 channels, one layer
// and several, vocabularies around multiples of 16.
const std::vector<Config> shapes = {
    {97, 64, 8, 2, 2},  {130, 80, 24, 1, 3},   {256, 96, 96, 2, 4},
    {61, 70, 20, 3, 1}, {321, 100, 128, 2, 2}, {17, 33, 16, 1, 4},
};

const DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::int8};

/// A group of an int8 matrix, `stride` apart, after its stay there.
void round_group(float* numbers, int count, int stride) {
    float largest = 0;
    for (int i = 0; i < count; ++i)
        largest = std::max(largest, std::abs(numbers[i * stride]));
    const float scale = largest / 127;
    for (int i = 0; i < count; ++i) {
        float& x = numbers[i * stride];
        x = scale > 0 ? std::nearbyint(x / scale) * scale : 0;
    }
}

/// The same numbers as they are after a stay in memory as that type.
class Rounded final : public Weights {
public:
    Rounded(const Weights& all, DType dtype)
        : Weights(all.config(), "rounded"), all_(all), dtype_(dtype) {}

    void read(Part part, int layer, int first_row, std::span<float> out) const override {
        const auto [rows, columns] = shape_of(part, config());
        if (rows == 1 || part == Part::position_embedding)
            return all_.read(part, layer, first_row, out);
        // All of it: a group of an int8 matrix goes over 32 rows.
        std::vector<float> whole(std::size_t(rows) * columns);
        all_.read(part, layer, 0, whole);
        if (dtype_ == DType::f16)
            for (float& x : whole) x = from_f16(to_f16(x));
        if (dtype_ == DType::bf16)
            for (float& x : whole) x = from_bf16(to_bf16(x));
        // The head sums over a token's channels, so its groups lie along them.
        if (dtype_ == DType::int8 && part == Part::token_embedding)
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; c += 32)
                    round_group(&whole[std::size_t(r) * columns + c],
                                std::min(32, columns - c), 1);
        else if (dtype_ == DType::int8)
            for (int r = 0; r < rows; r += 32)
                for (int c = 0; c < columns; ++c)
                    round_group(&whole[std::size_t(r) * columns + c],
                                std::min(32, rows - r), columns);
        std::copy_n(whole.begin() + std::ptrdiff_t(first_row) * columns, out.size(),
                    out.begin());
    }

private:
    const Weights& all_;
    DType dtype_;
};

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

/// The largest difference, in units of the largest logit.
double largest_difference(const std::vector<double>& expected, const Logits& logits) {
    double most = 0, scale = 0;
    for (int r = 0; r < logits.rows(); ++r)
        for (int v = 0; v < logits.n_vocab(); ++v) {
            const double e = expected[std::size_t(r) * logits.n_vocab() + v];
            const double d = std::abs(e - double(logits[r][v]));
            most = std::max(most, std::isnan(d) ? INFINITY : d);
            scale = std::max(scale, std::abs(e));
        }
    return most / scale;
}

using Row = std::vector<float>;

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<Row> rows_of(const Logits& logits) {
    std::vector<Row> rows;
    for (int r = 0; r < logits.rows(); ++r)
        rows.emplace_back(logits[r].begin(), logits[r].end());
    return rows;
}

}  // namespace

TEST(Engine, AgreesWithTheReference) {
    unsigned seed = 1;
    for (const Config& config : shapes) {
        const Large weights(config, ++seed);
        const auto tokens = support::random_tokens(config.n_ctx, config.n_vocab, seed);
        const auto expected = reference_logits(weights, tokens);
        const auto model = cpu::load(weights, DType::f32, DType::f32, 2);
        KvCache cache = model->new_cache();
        EXPECT_LT(largest_difference(expected, model->forward(tokens, cache, Rows::all)),
                  1e-5)
            << "n_embd " << config.n_embd;
    }
}

// Rounding the weights is the only difference that a narrower type of weights makes ...
TEST(Engine, AgreesWithTheReferenceOfTheRoundedWeights) {
    unsigned seed = 50;
    for (const Config& config : shapes) {
        const Large weights(config, ++seed);
        const auto tokens = support::random_tokens(config.n_ctx, config.n_vocab, seed);
        const auto exact = reference_logits(weights, tokens);
        for (const DType dtype : {DType::f16, DType::bf16, DType::int8}) {
            const auto expected = reference_logits(Rounded(weights, dtype), tokens);
            const auto model = cpu::load(weights, dtype, DType::f32, 2);
            KvCache cache = model->new_cache();
            const Logits logits = model->forward(tokens, cache, Rows::all);
            EXPECT_LT(largest_difference(expected, logits), 1e-5) << name_of(dtype);

            const double cost = largest_difference(exact, logits);
            EXPECT_GT(cost, 1e-5) << name_of(dtype);
            EXPECT_LT(cost, dtype == DType::f16 ? 1e-2 : 0.3) << name_of(dtype);

            // ... and a half-precision cache rounds once more.
            const auto half = cpu::load(weights, dtype, DType::f16, 2);
            KvCache half_cache = half->new_cache();
            const double difference = largest_difference(
                expected, half->forward(tokens, half_cache, Rows::all));
            EXPECT_LT(difference, 2e-2);
            EXPECT_GT(difference, 0);
        }
    }
}

// Memory of logits is used again, but not while somebody still looks at them.
TEST(Engine, LogitsStayWhatTheyAre) {
    const Config config{321, 100, 96, 2, 4};
    const auto model = cpu::load(Large(config, 3), DType::f32, DType::f32, 2);
    const auto tokens = support::random_tokens(20, config.n_vocab, 3);
    const auto read = [&](int n) {
        KvCache cache = model->new_cache();
        return model->forward(std::span(tokens).first(std::size_t(n)), cache, Rows::all);
    };
    std::vector<Logits> held;
    std::vector<std::vector<std::vector<float>>> copies;
    for (const int n : {3, 20, 1, 20, 7}) {
        held.push_back(read(n));
        copies.push_back(rows_of(held.back()));
        read(20);
    }
    for (std::size_t i = 0; i < held.size(); ++i)
        for (int r = 0; r < held[i].rows(); ++r)
            EXPECT_TRUE(same_bits(held[i][r], copies[i][std::size_t(r)])) << i;
    held.clear();
    const float* before = read(20)[0].data();
    EXPECT_EQ(read(20)[0].data(), before);
}

// Promise 2: cached or not, cut anyhow, in any company, on any number of threads. So one
// prompt and what is written behind it stand at one position after another (K01), and a
// token never sees what comes later, cache or not (K02, both of tests/data/cases.tsv).
TEST(Engine, GivesTheSameBitsHoweverASequenceIsRun) {
    std::mt19937 random(7);
    for (const Config& config : shapes)
        for (const DType dtype : dtypes)
            for (const DType kv : {DType::f32, DType::f16}) {
                const Large weights(config, random());
                const auto tokens =
                    support::random_tokens(config.n_ctx, config.n_vocab, random());
                const auto alone = cpu::load(weights, dtype, kv, 1);
                KvCache at_once = alone->new_cache();
                const auto expected = rows_of(alone->forward(tokens, at_once, Rows::all));

                for (int threads = 1; threads <= 4; ++threads) {
                    const auto model = cpu::load(weights, dtype, kv, threads);

                    KvCache one_by_one = model->new_cache();
                    for (int t = 0; t < config.n_ctx; ++t) {
                        const Logits row =
                            model->forward(std::span(tokens).subspan(t, 1), one_by_one);
                        ASSERT_TRUE(same_bits(row[0], expected[t])) << "position " << t;
                    }

                    // Five sequences with one beginning, each cut differently, some
                    // joining late, in one batch after another.
                    std::deque<KvCache> caches;
                    std::vector<std::size_t> done(5, 0);
                    for (int s = 0; s < 5; ++s) caches.push_back(model->new_cache());
                    for (std::size_t finished = 0; finished < 5;) {
                        std::vector<Step> batch;
                        std::vector<std::size_t> owner;
                        for (std::size_t s = 0; s < 5; ++s) {
                            if (random() % 3 == 0) continue;
                            const std::size_t left = tokens.size() - done[s];
                            const std::size_t n =
                                std::min(left, std::size_t(1 + random() % 19));
                            if (n == 0) continue;
                            batch.push_back(Step{std::span(tokens).subspan(done[s], n),
                                                 caches[s], Rows::all});
                            owner.push_back(s);
                        }
                        const Logits logits = model->forward(batch);
                        int row = 0;
                        for (std::size_t i = 0; i < batch.size(); ++i)
                            for (std::size_t n = 0; n < batch[i].tokens.size();
                                 ++n, ++row)
                                ASSERT_TRUE(
                                    same_bits(logits[row], expected[done[owner[i]]++]))
                                    << threads << " threads, n_embd " << config.n_embd;
                        finished = std::size_t(std::ranges::count(done, tokens.size()));
                    }
                }
            }
}

TEST(Engine, GivesRowsInTheOrderAskedFor) {
    const Config& config = shapes[2];
    const Large weights(config, 3);
    const auto model = cpu::load(weights, DType::f32, DType::f32, 2);
    const auto a = support::random_tokens(9, config.n_vocab, 1);
    const auto b = support::random_tokens(5, config.n_vocab, 2);
    const auto c = support::random_tokens(7, config.n_vocab, 3);
    KvCache ca = model->new_cache(), cb = model->new_cache(), cc = model->new_cache();
    const Step batch[] = {{a, ca, Rows::last}, {b, cb, Rows::none}, {c, cc, Rows::all}};
    const Logits logits = model->forward(batch);
    ASSERT_EQ(logits.rows(), 8);
    KvCache fresh = model->new_cache(), fresh_c = model->new_cache();
    EXPECT_TRUE(same_bits(logits[0], model->forward(a, fresh)[0]));
    EXPECT_TRUE(same_bits(logits[7], model->forward(c, fresh_c)[0]));
    EXPECT_EQ(cb.size(), 5);
    // The one that asked for no row was read all the same.
    KvCache fresh_b = model->new_cache();
    model->forward(b, fresh_b);
    const std::vector<Token> next = {4};
    EXPECT_TRUE(same_bits(model->forward(next, cb)[0], model->forward(next, fresh_b)[0]));
    EXPECT_EQ(model->forward(std::span<const Step>{}).rows(), 0);
}

TEST(Engine, ForksAndTruncationsLeaveNoTrace) {
    const Config config{97, 200, 32, 2, 2};
    const Large weights(config, 9);
    std::mt19937 random(5);
    const auto model = cpu::load(weights, DType::f32, DType::f16, 2);
    for (int round = 0; round < 40; ++round) {
        const int shared = 1 + int(random() % 70), more = 1 + int(random() % 60);
        const auto opening = support::random_tokens(shared, config.n_vocab, random());
        const auto left = support::random_tokens(more, config.n_vocab, random());
        const auto right = support::random_tokens(more, config.n_vocab, random());
        KvCache trunk = model->new_cache();
        model->forward(opening, trunk);
        KvCache branch = trunk.fork();
        model->forward(left, trunk);
        const Logits forked = model->forward(right, branch);

        auto whole = opening;
        whole.insert(whole.end(), right.begin(), right.end());
        KvCache cold = model->new_cache();
        ASSERT_TRUE(same_bits(forked[0], model->forward(whole, cold)[0]));

        // Back to the fork in the other one, and down the same road.
        trunk.truncate(shared);
        ASSERT_TRUE(same_bits(model->forward(right, trunk)[0], forked[0]));
    }
}

TEST(Engine, RefusesAndChangesNothing) {
    const Config& config = shapes[0];
    const Large weights(config, 1), others(config, 2);
    const auto model = cpu::load(weights, DType::f32, DType::f32, 1);
    const auto other = cpu::load(others, DType::f32, DType::f32, 1);
    KvCache cache = model->new_cache(), second = model->new_cache(),
            foreign = other->new_cache();
    const auto fine = support::random_tokens(10, config.n_vocab, 1);
    model->forward(fine, cache);
    const auto refused = [&](std::vector<Step> batch) {
        const std::string what = support::bad_input([&] { model->forward(batch); });
        EXPECT_EQ(cache.size(), 10);
        EXPECT_EQ(second.size(), 0);
        return what;
    };
    const std::vector<Token> high = {0, config.n_vocab}, negative = {-1}, none;
    const auto full = support::random_tokens(config.n_ctx - 9, config.n_vocab, 2);
    EXPECT_THAT(refused({{fine, second}, {high, cache}}),
                HasSubstr("token 1: expected an id below 97, found 97"));
    EXPECT_THAT(refused({{negative, cache}}), HasSubstr("found -1"));
    EXPECT_THAT(refused({{none, cache}}), HasSubstr("without tokens"));
    EXPECT_THAT(refused({{fine, second}, {full, cache}}), HasSubstr("context of 64"));
    EXPECT_THAT(refused({{fine, second}, {fine, foreign}}), HasSubstr("another model"));
    EXPECT_THAT(refused({{fine, second}, {fine, cache}, {fine, second}}),
                HasSubstr("one cache in two steps"));

    // Right up to the limit is fine.
    model->forward(std::span(full).first(full.size() - 1), cache);
    EXPECT_EQ(cache.size(), config.n_ctx);
    EXPECT_THAT(support::bad_input([&] { model->forward(fine, cache); }),
                HasSubstr("context"));
}

TEST(Engine, TheCacheIsFloatsOrHalves) {
    const Large weights(shapes[0], 1);
    for (const DType kv : {DType::bf16, DType::int8})
        EXPECT_THAT(support::bad_input([&] { cpu::load(weights, DType::f32, kv, 1); }),
                    HasSubstr("expected f32 or f16, found " + std::string(name_of(kv))));
}

// These bits were the same with g++ and clang, with AVX2 and with AVX-512. A change of
// them is no error in itself, but it must be meant.
TEST(Engine, GivesTheSameBitsOnEveryProcessor) {
    const Config config{321, 100, 96, 2, 4};
    const Large weights(config, 11);
    const auto tokens = support::random_tokens(100, config.n_vocab, 11);
    const auto hash = [&](DType dtype, DType kv) {
        const auto model = cpu::load(weights, dtype, kv, 2);
        KvCache cache = model->new_cache();
        const Logits logits = model->forward(tokens, cache, Rows::all);
        std::uint64_t h = 14695981039346656037u;  // FNV-1a
        for (int r = 0; r < logits.rows(); ++r)
            for (const std::byte b : std::as_bytes(logits[r]))
                h = (h ^ std::uint64_t(b)) * 1099511628211u;
        return h;
    };
    EXPECT_EQ(hash(DType::f32, DType::f32), 799493987693688176u);
    EXPECT_EQ(hash(DType::f16, DType::f16), 2145017527747427883u);
    EXPECT_EQ(hash(DType::bf16, DType::f32), 14575421342445428354u);
    EXPECT_EQ(hash(DType::int8, DType::f32), 2209462893628196677u);
}
