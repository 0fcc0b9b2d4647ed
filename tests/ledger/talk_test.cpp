#include "ledger/talk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace {

using ledger::Talk;
using Text = std::vector<int>;

const ledger::Price price{"m",          "2026-10", "s", {2'000'000'000}, {10'000'000'000},
                          {200'000'000}};

/// Holds the talk with real tokens, all different, and a cache that is a set of openings.
struct Held {
    std::int64_t read = 0, cached = 0, written = 0;
};

Held hold(const Talk& talk, bool kept) {
    Held held;
    std::set<Text> cache;
    int next = 0;
    Text record;
    const auto append = [&](int n) {
        while (n-- > 0) record.push_back(next++);
    };
    append(talk.first);
    for (int k = 0; k < talk.rounds; ++k) {
        std::size_t known = 0;
        const auto block = std::size_t(talk.block);
        while (kept && known + block < record.size() &&
               cache.contains(Text(record.begin(), record.begin() + known + block)))
            known += block;
        held.cached += std::int64_t(known);
        held.read += std::int64_t(record.size() - known);
        append(talk.write);
        held.written += talk.write;
        for (std::size_t n = block; n < record.size(); n += block)
            cache.insert(Text(record.begin(), record.begin() + n));
        if (talk.forgets) record.clear();
        append(talk.more);
    }
    return held;
}

}  // namespace

TEST(Talk, CountsWhatASetOfOpeningsCounts) {
    std::mt19937 random(11);
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    for (int trial = 0; trial < 300; ++trial) {
        Talk talk{.first = draw(1, 90),
                  .more = draw(1, 40),
                  .write = draw(1, 40),
                  .rounds = draw(1, 9),
                  .block = draw(1, 33)};
        talk.forgets = draw(0, 3) == 0;
        if (talk.forgets) talk.first = talk.more;
        for (const bool kept : {false, true}) {
            const Held held = hold(talk, kept);
            EXPECT_EQ(tokens_read(talk, kept), held.read);
            const ledger::Money all = cost(price, {.input = held.read + held.cached,
                                                   .cached = held.cached,
                                                   .output = held.written});
            EXPECT_EQ(bill(price, talk, kept), all);
        }
    }
}

TEST(Talk, TwentyRounds) {
    const Talk talk{.first = 64, .more = 20, .write = 8, .rounds = 20};
    EXPECT_EQ(talk.prompt(0), 64);
    EXPECT_EQ(talk.prompt(19), 596);
    EXPECT_EQ(talk.known(0), 0);
    EXPECT_EQ(talk.known(1), 64);  // 71 positions
    EXPECT_EQ(tokens_read(talk, false), 20 * 64 + 28 * 190);
    EXPECT_EQ(tokens_read(talk.shortened(10), false), 10 * 64 + 28 * 45);
    // 6,600 tokens at 2 dollars a million, 160 at 10.
    EXPECT_EQ(to_string(bill(price, talk, false)), "0.0148");
}

TEST(Talk, LargeCountsStayExact) {
    const Talk talk{.first = 1'000'000, .more = 1'000, .write = 1'000, .rounds = 100'000};
    EXPECT_EQ(tokens_read(talk, false), 100'000'000'000 + 2'000 * 4'999'950'000);
}

TEST(Talk, TakesWhatItsPassesTake) {
    // A machine on which only bytes count: one a second.
    const ledger::Engine engine(gpt2::preset("small"), gpt2::DType::f32, gpt2::DType::f32,
                                {1, 1e30, 1});
    const Talk talk{.first = 40, .more = 5, .write = 3, .rounds = 2};
    const auto pass = [&](int tokens, int past) {
        return engine.forward({.tokens = tokens, .past = past, .rows = 1});
    };
    const double first = pass(40, 0) + pass(1, 40) + pass(1, 41);
    EXPECT_EQ(predict(engine, talk, false),
              first + pass(48, 0) + pass(1, 48) + pass(1, 49));
    EXPECT_EQ(predict(engine, talk, true),
              first + pass(16, 32) + pass(1, 48) + pass(1, 49));
}
