#include "ledger/thinking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using ledger::Fetching;
using ledger::Stay;
using ledger::Way;

// The course's: 14 GB of weights, half a megabyte a token, 1 TB/s.
const Fetching course{14e9, 0.5e6, 1e12};

Stay there(const Way& way) {
    return stay(way, [&](int i) { return course.pass(way, i); });
}

double gigabyte_seconds(const Way& way) { return 0.5e6 * there(way).capacity / 1e9; }

}  // namespace

// Counts positions one by one, in caches that are lists of whose position it is.
TEST(Thinking, HoldsWhatCachesHold) {
    std::mt19937 random(7);
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    for (int trial = 0; trial < 200; ++trial) {
        const Way way{.prompt = draw(1, 40),
                      .answer = draw(1, 20),
                      .thinking = draw(0, 30),
                      .copies = draw(1, 9),
                      .shared = draw(0, 1) == 1};
        std::vector<int> caches(std::size_t(way.copies), 0);
        std::int64_t prompts = 0, written = 0;
        for (int i = 0; i < way.passes(); ++i) {
            int read = 0, longest = 0;
            for (const ledger::Step& step : way.batch(i)) {
                EXPECT_EQ(step.rows, 1);
                read += step.tokens;
                longest = std::max(longest, step.past);
            }
            if (i == 0) prompts = read;
            for (int& cache : caches) {
                EXPECT_EQ(longest, cache);
                cache += i == 0 ? way.prompt : 1;
                ++written;
            }
            std::int64_t all = prompts;
            for (const int cache : caches) all += cache - way.prompt;
            EXPECT_EQ(way.held(i), all);
            EXPECT_EQ(read,
                      i == 0 ? way.prompt * (way.shared ? 1 : way.copies) : way.copies);
        }
        EXPECT_EQ(way.tokens(), written);
        EXPECT_EQ(way.held(way.passes()), way.held(way.passes() - 1) + way.copies);
    }
}

TEST(Thinking, TheCoursesThreeWays) {
    const Way a{100, 200}, b{100, 200, 4000}, c{100, 200, 0, 8},
        shared{100, 200, 0, 8, true};
    EXPECT_NEAR(there(a).wait, 2.8, 0.05);
    EXPECT_NEAR(there(b).wait, 63, 0.5);
    EXPECT_NEAR(there(c).wait, 3.0, 0.05);
    EXPECT_NEAR(there(b).wait / there(a).wait, 22, 0.5);
    EXPECT_NEAR(there(c).wait / there(a).wait, 1.05, 0.005);
    EXPECT_EQ(a.tokens(), 200);
    EXPECT_EQ(b.tokens(), 4200);
    EXPECT_EQ(c.tokens(), 1600);
    EXPECT_EQ(a.held(200), 300);
    EXPECT_EQ(b.held(4200), 4300);
    EXPECT_EQ(c.held(200), 2400);
    EXPECT_EQ(shared.held(200), 1700);
    EXPECT_NEAR(gigabyte_seconds(a), 0.281, 0.0005);
    EXPECT_NEAR(gigabyte_seconds(b), 71.3, 0.05);
    EXPECT_NEAR(gigabyte_seconds(c), 2.37, 0.005);
    EXPECT_NEAR(gigabyte_seconds(shared), 1.31, 0.005);
    EXPECT_NEAR(there(b).first, 60.2, 0.05);
    EXPECT_NEAR(there({100, 200, 8000}).wait, 132, 0.5);
    EXPECT_NEAR(there({100, 200, 0, 64}).wait, 4.1, 0.05);
}

// The sums in closed form. In pass i, a + b i positions are held.
TEST(Thinking, AddsUpToTheClosedForm) {
    for (const Way& way : {Way{1, 1}, Way{100, 200, 4000}, Way{7, 3, 11, 5},
                           Way{100, 200, 0, 8, true}, Way{2000, 50'000, 50'000, 64}}) {
        const double a = double(way.held(0)), b = way.copies, n = way.passes();
        const double s1 = n * a + b * n * (n - 1) / 2;
        const double s2 =
            n * a * a + a * b * n * (n - 1) + b * b * (n - 1) * n * (2 * n - 1) / 6;
        const Stay found = there(way);
        EXPECT_NEAR(found.wait / ((n * 14e9 + 0.5e6 * s1) / 1e12), 1, 1e-9);
        EXPECT_NEAR(found.capacity / ((14e9 * s1 + 0.5e6 * s2) / 1e12), 1, 1e-9);
        EXPECT_LE(found.first, found.wait);
    }
}

// With seconds of its own a pass counts once, and the first shown token is not thought.
TEST(Thinking, TakesAnySeconds) {
    const Way way{10, 2, 1, 3};
    const Stay found = stay(way, [](int i) { return std::pow(10.0, i); });
    EXPECT_EQ(found.first, 11);
    EXPECT_EQ(found.wait, 111);
    EXPECT_EQ(found.capacity, 30 + 330 + 3600);
    const Stay at_once = stay(Way{10, 2}, [](int) { return 1.0; });
    EXPECT_EQ(at_once.first, 1);
}

TEST(Thinking, LargeCountsStayExact) {
    const Way way{1'000'000, 500'000'000, 500'000'000, 1'000};
    EXPECT_EQ(way.tokens(), 1'000'000'000'000);
    EXPECT_EQ(way.held(way.passes()), 1'001'000'000'000);
}
