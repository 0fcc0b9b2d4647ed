#include "gpt2/prefix_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

// K09 ... are cases of tests/data/cases.tsv.
namespace {

const Config config{97, 400, 24, 2, 3};
using Tokens = std::vector<Token>;

std::shared_ptr<KvPool> pool() { return std::make_shared<KvPool>(config, DType::f32); }

/// A cache that has read this many tokens.
KvCache filled(const std::shared_ptr<KvPool>& memory, int count) {
    KvCache cache(memory);
    cache.reserve(count);
    cache.advance(count);
    return cache;
}

Tokens text(int n, unsigned seed = 1) {
    return support::random_tokens(n, config.n_vocab, seed);
}

}  // namespace

TEST(PrefixCache, KnowsWholeBlocksFromTheStart) {
    const auto memory = pool();
    PrefixCache tree(memory);
    const Tokens all = text(100);
    EXPECT_EQ(tree.known(all), 0);
    EXPECT_EQ(tree.keep(all, filled(memory, 100)), 3);
    EXPECT_EQ(tree.blocks(), 3);
    EXPECT_EQ(memory->blocks_in_use(), 3);  // the part of a fourth went with its cache

    // K12: at an exact multiple of a block, one below and one above.
    for (const int n : {0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 100}) {
        KvCache cache(memory);
        EXPECT_EQ(tree.lend(std::span(all).first(n), cache), n / 32 * 32) << n;
        EXPECT_EQ(cache.size(), n / 32 * 32);
        EXPECT_EQ(tree.known(std::span(all).first(n)), n / 32);
    }
    EXPECT_EQ(memory->blocks_in_use(), 3) << "a hit copies nothing";
}

TEST(PrefixCache, OneOtherTokenSpoilsWhatLiesBehindIt) {
    // K09.
    const auto memory = pool();
    PrefixCache tree(memory);
    const Tokens all = text(160);
    tree.keep(all, filled(memory, 160));
    for (const int at : {0, 31, 32, 100, 128, 159}) {
        Tokens changed = all;
        changed[at] = (changed[at] + 1) % config.n_vocab;
        EXPECT_EQ(tree.known(changed), at / 32) << at;
    }
    // Shifted by one, all the same tokens are worth nothing.
    EXPECT_EQ(tree.known(std::span(all).subspan(1)), 0);
    // Nor does a block count behind other blocks than its own.
    Tokens swapped(all.begin() + 32, all.begin() + 64);
    swapped.insert(swapped.end(), all.begin(), all.begin() + 32);
    EXPECT_EQ(tree.known(swapped), 0);
}

TEST(PrefixCache, ComparesWholeIds) {
    // K11: ids that agree in their lowest byte, or in any hash of less than all their
    // bits.
    const auto memory = pool();
    PrefixCache tree(memory);
    tree.keep(Tokens(32, 65), filled(memory, 32));
    EXPECT_EQ(tree.known(Tokens(32, 65 + 256)), 0);
    EXPECT_EQ(tree.known(Tokens(32, 65 + 65536)), 0);
    EXPECT_EQ(tree.known(Tokens(32, 65)), 1);
}

TEST(PrefixCache, WhatIsSharedIsNeverWritten) {
    // K10.
    const auto memory = pool();
    PrefixCache tree(memory);
    const Tokens all = text(64);
    const std::size_t bytes = memory->layout().block_bytes();
    const std::byte* shared = nullptr;
    {
        const KvCache first = filled(memory, 64);
        for (int i = 0; i < 2; ++i) std::memset(first.block(i), 'a' + i, bytes);
        shared = first.block(1);
        tree.keep(all, first);
    }
    KvCache second(memory), third(memory);
    tree.lend(all, second);
    tree.lend(all, third);
    EXPECT_EQ(second.block(1), shared);
    EXPECT_EQ(third.block(1), shared);
    for (KvCache* cache : {&second, &third}) {
        cache->reserve(5);
        std::memset(cache->block(2), 'z', bytes);
        cache->advance(5);
    }
    EXPECT_NE(second.block(2), third.block(2));
    // Cut back into a shared block and go on: the copy is written, not the block.
    third.truncate(40);
    third.reserve(1);
    EXPECT_NE(third.block(1), shared);
    std::memset(third.block(1), 'z', bytes);
    EXPECT_EQ(shared[0], std::byte('b'));
    EXPECT_EQ(shared[bytes - 1], std::byte('b'));
    EXPECT_EQ(tree.known(all), 2);
}

TEST(PrefixCache, DropsWhatWasUsedLeastRecentlyAndNothingInUse) {
    const auto memory = pool();
    PrefixCache tree(memory);
    const Tokens a = text(96, 1), b = text(64, 2);
    Tokens c(a.begin(), a.begin() + 32);  // begins as a does
    const Tokens tail = text(32, 3);
    c.insert(c.end(), tail.begin(), tail.end());
    tree.keep(a, filled(memory, 96));
    tree.keep(b, filled(memory, 64));
    tree.keep(c, filled(memory, 64));
    EXPECT_EQ(tree.blocks(), 6);  // three, two, and one behind what a and c share

    // From the tip of what lay untouched the longest.
    EXPECT_EQ(tree.drop(1), 1);
    EXPECT_EQ(tree.known(a), 2);
    KvCache reader(memory);
    tree.lend(b, reader);
    EXPECT_EQ(tree.drop(1), 1);
    EXPECT_EQ(tree.known(a), 1);

    // b is in use. All else may go; the opening that a and c share goes after its tips.
    EXPECT_EQ(tree.drop(1), 1);
    EXPECT_EQ(tree.known(c), 1);
    EXPECT_EQ(tree.drop(100), 1);
    EXPECT_EQ(tree.known(b), 2);
    EXPECT_EQ(tree.drop(100), 0);
    reader.truncate(0);
    EXPECT_EQ(tree.drop(100), 2);
    EXPECT_EQ(tree.blocks(), 0);
    EXPECT_EQ(memory->blocks_in_use(), 0);

    // A block that served another text before does not answer for it.
    tree.keep(c, filled(memory, 64));
    EXPECT_EQ(tree.known(a), 1);
    EXPECT_EQ(tree.known(b), 0);
}

TEST(PrefixCache, RefusesCachesThatDoNotFit) {
    // K13.
    const auto memory = pool(), other = pool();
    PrefixCache tree(memory);
    const Tokens all = text(64);
    KvCache foreign(other), used = filled(memory, 3);
    EXPECT_THAT(support::bad_input([&] { tree.lend(all, foreign); }),
                HasSubstr("another model"));
    EXPECT_THAT(support::bad_input([&] { tree.keep(all, filled(other, 64)); }),
                HasSubstr("another model"));
    EXPECT_THAT(support::bad_input([&] { tree.lend(all, used); }),
                HasSubstr("expected an empty cache, found 3"));
    EXPECT_THAT(support::bad_input([&] { tree.keep(all, used); }),
                HasSubstr("expected a cache of 64 positions, found 3"));
}

TEST(PrefixCache, AgreesWithAListOfOpenings) {
    // The same as a plain set of all openings in whole blocks, under random traffic.
    const auto memory = pool();
    std::mt19937 random(7);
    {
        PrefixCache tree(memory);
        std::set<Tokens> openings;
        std::vector<KvCache> readers;
        for (int round = 0; round < 2000; ++round) {
            Tokens wanted(random() % 200);  // of two ids, so that many begin alike
            for (std::size_t i = 0; i < wanted.size(); ++i)
                wanted[i] = i % 32 ? 5 : Token(random() % 2);
            int expected = 0;
            while (openings.contains(Tokens(
                       wanted.begin(),
                       wanted.begin() + std::min<std::ptrdiff_t>((expected + 1) * 32,
                                                                 wanted.size()))) &&
                   std::size_t(expected + 1) * 32 <= wanted.size())
                ++expected;
            ASSERT_EQ(tree.known(wanted), expected);
            KvCache cache(memory);
            ASSERT_EQ(tree.lend(wanted, cache), expected * 32);
            const int rest = int(wanted.size()) - cache.size();
            cache.reserve(rest);
            cache.advance(rest);
            const int whole = int(wanted.size()) / 32;
            ASSERT_EQ(tree.keep(wanted, cache), whole - expected);
            for (int i = 1; i <= whole; ++i)
                openings.insert(Tokens(wanted.begin(), wanted.begin() + i * 32));
            if (random() % 3 == 0) readers.push_back(std::move(cache));
            if (random() % 4 == 0) readers.clear();
            if (random() % 8 == 0) {
                const int before = tree.blocks();
                const int dropped = tree.drop(int(random() % 6));
                ASSERT_EQ(tree.blocks(), before - dropped);
                std::erase_if(openings, [&](const Tokens& opening) {
                    return tree.known(opening) * 32 < int(opening.size());
                });
            }
            ASSERT_EQ(tree.blocks(), int(openings.size()));
            ASSERT_GE(memory->blocks_in_use(), tree.blocks());
        }
    }
    EXPECT_EQ(memory->blocks_in_use(), 0);
}
