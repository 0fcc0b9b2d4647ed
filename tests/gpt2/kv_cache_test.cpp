#include "gpt2/kv_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support.hpp"

using namespace gpt2;

namespace {

const Config config{97, 200, 24, 2, 3};

std::shared_ptr<KvPool> pool(DType dtype = DType::f32) {
    return std::make_shared<KvPool>(config, dtype);
}

void grow(KvCache& cache, int count) {
    cache.reserve(count);
    cache.advance(count);
}

}  // namespace

TEST(KvCache, CountsTheBytesThatTheCoursePrints) {
    const Config small = preset("small");
    EXPECT_EQ(KvLayout(small, DType::f16).bytes_per_token(), 36864u);
    EXPECT_EQ(KvLayout(small, DType::f32).bytes_per_token(), 73728u);
    EXPECT_EQ(KvLayout(small, DType::f16).bytes_per_token() * 1024, 36u << 20);
    // Heads of 64 channels fill whole vectors, so blocks waste nothing.
    EXPECT_EQ(KvLayout(small, DType::f16).block_bytes(), 32u * 36864u);
}

TEST(KvCache, TakesBlocksAsItGrowsAndGivesThemBack) {
    const auto memory = pool();
    {
        KvCache cache(memory);
        EXPECT_EQ(memory->blocks_in_use(), 0);
        grow(cache, 32);
        EXPECT_EQ(memory->blocks_in_use(), 1);
        grow(cache, 1);
        EXPECT_EQ(memory->blocks_in_use(), 2);
        grow(cache, 60);
        EXPECT_EQ(memory->blocks_in_use(), 3);
        EXPECT_EQ(cache.bytes(), 93 * memory->layout().bytes_per_token());
        cache.truncate(64);
        EXPECT_EQ(memory->blocks_in_use(), 2);
        cache.truncate(0);
        EXPECT_EQ(memory->blocks_in_use(), 0);
        grow(cache, 40);
    }
    EXPECT_EQ(memory->blocks_in_use(), 0);
}

TEST(KvCache, ForksShareBlocksUntilOneWrites) {
    const auto memory = pool();
    KvCache a(memory);
    grow(a, 40);
    std::memset(a.block(0), 1, memory->layout().block_bytes());
    std::memset(a.block(1), 2, memory->layout().block_bytes());
    KvCache b = a.fork();
    EXPECT_EQ(memory->blocks_in_use(), 2);
    EXPECT_EQ(a.block(1), b.block(1));

    grow(b, 3);
    EXPECT_EQ(memory->blocks_in_use(), 3);
    EXPECT_EQ(a.block(0), b.block(0));
    ASSERT_NE(a.block(1), b.block(1));
    EXPECT_EQ(std::memcmp(a.block(1), b.block(1), memory->layout().block_bytes()), 0);

    // The other one is now alone with its block and keeps it.
    const std::byte* kept = a.block(1);
    grow(a, 1);
    EXPECT_EQ(a.block(1), kept);
    EXPECT_EQ(memory->blocks_in_use(), 3);
}

TEST(KvCache, AForkAtABlocksEndCopiesNothing) {
    const auto memory = pool();
    KvCache a(memory);
    grow(a, 64);
    KvCache b = a.fork();
    grow(b, 1);
    EXPECT_EQ(memory->blocks_in_use(), 3);
    EXPECT_EQ(a.block(1), b.block(1));
}

TEST(KvCache, TruncatedIntoASharedBlockItCopiesBeforeWriting) {
    const auto memory = pool();
    KvCache a(memory);
    grow(a, 64);
    KvCache b = a.fork();
    b.truncate(10);
    grow(b, 1);
    EXPECT_NE(a.block(0), b.block(0));
}

TEST(KvCache, ReservingIsNotGrowing) {
    const auto memory = pool();
    KvCache cache(memory);
    cache.reserve(100);
    EXPECT_EQ(cache.size(), 0);
    EXPECT_EQ(cache.bytes(), 0u);
    EXPECT_EQ(cache.fork().size(), 0);
}

TEST(KvCache, OutlivesItsModel) {
    auto memory = pool();
    KvCache cache(memory);
    grow(cache, 33);
    memory.reset();
    grow(cache, 33);
    cache.truncate(1);
    SUCCEED();
}

TEST(KvCache, RefusesToTruncateBeyondItsSize) {
    KvCache cache(pool());
    grow(cache, 5);
    EXPECT_THAT(support::bad_input([&] { cache.truncate(6); }),
                testing::HasSubstr("0 to 5"));
    EXPECT_THAT(support::bad_input([&] { cache.truncate(-1); }),
                testing::HasSubstr("found -1"));
    EXPECT_EQ(cache.size(), 5);
}
