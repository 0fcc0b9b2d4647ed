#include "ledger/drafting.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "support.hpp"

using namespace ledger;
using testing::HasSubstr;

TEST(Drafting, TokensOfATripAreTheClosedForm) {
    for (const double a : {0.0, 0.1, 0.5, 0.8, 0.999})
        for (int k = 0; k <= 16; ++k)
            EXPECT_NEAR(tokens_per_trip(a, k), (1 - std::pow(a, k + 1)) / (1 - a), 1e-12);
    for (int k = 0; k <= 16; ++k) EXPECT_EQ(tokens_per_trip(1, k), k + 1);
    EXPECT_DOUBLE_EQ(tokens_per_trip(0.8, 4), 3.3616);
}

TEST(Drafting, TokensOfATripAreWhatGuessingGives) {
    std::mt19937 random(3);
    std::bernoulli_distribution right(0.7);
    constexpr int trips = 200000;
    double tokens = 0, squares = 0;
    for (int i = 0; i < trips; ++i) {
        int kept = 0;
        while (kept < 5 && right(random)) ++kept;
        tokens += kept + 1;
        squares += (kept + 1) * (kept + 1);
    }
    const double mean = tokens / trips;
    const double error = std::sqrt((squares / trips - mean * mean) / trips);
    EXPECT_NEAR(mean, tokens_per_trip(0.7, 5), 4 * error);
}

TEST(Drafting, ATripReadsTheGuessesAndTheTokenBefore) {
    const Engine target(
        gpt2::preset("small"), gpt2::DType::f32, gpt2::DType::f32,
        {.read_bandwidth = 30e9, .multiply_add_peak = 200e9, .threads = 2});
    const TripCost cost = trip_cost(target, 100, 1e-3);
    EXPECT_EQ(cost(0), target.forward({.tokens = 1, .past = 100, .rows = 1}));
    EXPECT_EQ(cost(6), 6e-3 + target.forward({.tokens = 7, .past = 100, .rows = 7}));
    EXPECT_EQ(speed_up(0.5, 1, cost), 1.5 * cost(0) / cost(1));
    EXPECT_EQ(speed_up(0.5, 0, cost), 1);
    EXPECT_GT(speed_up(1, 4, cost), 3);
    EXPECT_LT(speed_up(0, 16, cost), 1);
}

TEST(Drafting, TheBestIsTheFastestAndTheLeastOfThose) {
    // A pass costs 1 up to 8 rows, then an eighth a row; a guess costs 0.05.
    const TripCost cost = [](int k) { return std::max(1.0, (k + 1) / 8.0) + 0.05 * k; };
    for (const double a : {0.0, 0.02, 0.3, 0.6, 0.9, 0.97, 1.0}) {
        const int best = best_guesses(a, 16, cost);
        for (int k = 0; k <= 16; ++k) {
            if (k < best) {
                EXPECT_GT(speed_up(a, best, cost), speed_up(a, k, cost)) << a;
            }
            EXPECT_GE(speed_up(a, best, cost), speed_up(a, k, cost)) << a;
        }
    }
    EXPECT_EQ(best_guesses(0, 16, cost), 0);
    EXPECT_EQ(best_guesses(0.04, 16, cost), 0) << "it costs more than it brings";
    EXPECT_EQ(best_guesses(1, 3, cost), 3);
    // Where guesses are free and right, any number is as fast as none: none it is.
    EXPECT_EQ(best_guesses(1, 16, [](int k) { return k + 1.0; }), 0);
}

TEST(Drafting, RefusesWhatIsNoChance) {
    for (const double a : {-0.1, 1.1, std::nan("")})
        EXPECT_THAT(support::bad_input([&] { tokens_per_trip(a, 1); }),
                    HasSubstr("expected an acceptance from 0 to 1"));
    EXPECT_THAT(support::bad_input([] { tokens_per_trip(0.5, -1); }),
                HasSubstr("found 0.500000 and -1"));
}
