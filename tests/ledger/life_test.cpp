#include "ledger/life.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support.hpp"

namespace {

using ledger::break_even;
using ledger::Life;

/// Uses until the small one has caught up, spent one at a time.
int spend(const Life& small, const Life& large) {
    double a = small.once, b = large.once;
    int uses = 0;
    for (; a > b; ++uses) {
        a += small.use;
        b += large.use;
    }
    return uses;
}

}  // namespace

TEST(Life, AddsTrainingAndUses) {
    const Life life{100, 2};
    EXPECT_EQ(life.after(0), 100);
    EXPECT_EQ(life.after(1), 102);
    EXPECT_EQ(life.after(50), 200);
}

TEST(Life, TheCoursesModelsMeet) {
    const Life large{100, 2}, small{150, 1}, dearer{300, 1};
    EXPECT_EQ(break_even(small, large), 50);
    EXPECT_EQ(small.after(50), 200);
    EXPECT_EQ(large.after(50), 200);
    EXPECT_EQ(break_even(dearer, large), 200);
    EXPECT_EQ(dearer.after(200), large.after(200));
}

TEST(Life, OneThatIsCheaperThroughoutWinsAtOnce) {
    EXPECT_EQ(break_even({90, 1}, {100, 2}), 0);
    EXPECT_EQ(break_even({100, 1}, {100, 2}), 0);
    EXPECT_EQ(break_even({90, 2}, {100, 2}), 0);
    EXPECT_EQ(break_even({100, 2}, {100, 2}), 0);
    EXPECT_EQ(break_even({0, 0}, {0, 0}), 0);
}

TEST(Life, OneWhoseUseIsDearerNeverWinsForGood) {
    EXPECT_FALSE(break_even({150, 2}, {100, 2}));
    EXPECT_FALSE(break_even({150, 3}, {100, 2}));
    EXPECT_FALSE(break_even({50, 3}, {100, 2}));  // cheaper at first, but not for good
}

TEST(Life, SpendingUseByUseFindsTheSame) {
    std::mt19937 random(13);
    const auto draw = [&](int least, int most) {
        return double(std::uniform_int_distribution(least, most)(random));
    };
    for (int i = 0; i < 1000; ++i) {
        const Life small{draw(0, 500), draw(0, 20)};
        const Life large{draw(0, 500), small.use + draw(1, 20)};
        const std::optional<double> even = break_even(small, large);
        ASSERT_TRUE(even);
        EXPECT_EQ(spend(small, large), std::ceil(*even))
            << small.once << " " << large.once;
        EXPECT_LE(small.after(*even + 1e-6), large.after(*even + 1e-6));
        if (*even > 0) {
            EXPECT_NEAR(small.after(*even), large.after(*even), 1e-9);
            EXPECT_GT(small.after(*even - 1e-3), large.after(*even - 1e-3));
        }
    }
}

TEST(Life, CountsFlops) {
    // Chinchilla: 6 x 70e9 x 1.4e12 and 2 x 70e9.
    const Life chinchilla = ledger::flops_of_life(70e9, 1.4e12);
    EXPECT_DOUBLE_EQ(chinchilla.once, 5.88e23);
    EXPECT_DOUBLE_EQ(chinchilla.use, 1.4e11);
    // A token used costs a third of a token trained on.
    const Life tiny = ledger::flops_of_life(1000, 1);
    EXPECT_EQ(tiny.once, 3 * tiny.use);
}

TEST(Life, RefusesWhatIsNoCost) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(support::bad_input([] {
                  break_even({-1, 1}, {1, 1});
              }),
              "life: expected a cost of 0 or more, found -1");
    for (const double bad : {-0.5, inf, nan}) {
        EXPECT_NE(support::bad_input([&] { break_even({bad, 1}, {1, 1}); }), "");
        EXPECT_NE(support::bad_input([&] { break_even({1, bad}, {1, 1}); }), "");
        EXPECT_NE(support::bad_input([&] { break_even({1, 1}, {bad, 1}); }), "");
        EXPECT_NE(support::bad_input([&] { break_even({1, 1}, {1, bad}); }), "");
        EXPECT_NE(support::bad_input([&] { ledger::flops_of_life(bad, 1); }), "");
        EXPECT_NE(support::bad_input([&] { ledger::flops_of_life(1, bad); }), "");
    }
    EXPECT_EQ(support::bad_input([] { ledger::flops_of_life(0, 1); }),
              "life: expected parameters and tokens above 0, found 0");
}
