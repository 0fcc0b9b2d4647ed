#include "ledger/odds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpt2/philox.hpp"
#include "support.hpp"

namespace {

using ledger::any_right;
using ledger::exactly_right;
using ledger::majority_right;
using ledger::samples_needed;
using ledger::Tie;
using ledger::tries_until_right;
using support::bad_input;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Sums over all 2^n outcomes of n tries, each with its probability.
struct Outcomes {
    double any = 0, tries = 0, more = 0, half = 0;

    Outcomes(double p, int n) {
        for (unsigned outcome = 0; outcome < 1u << n; ++outcome) {
            double probability = 1;
            int right = 0, first = n;
            for (int i = 0; i < n; ++i) {
                const bool is_right = outcome >> i & 1;
                probability *= is_right ? p : 1 - p;
                if (is_right && right++ == 0) first = i + 1;
            }
            any += right > 0 ? probability : 0;
            tries += probability * first;
            more += 2 * right > n ? probability : 0;
            half += 2 * right == n ? probability : 0;
        }
    }
};

/// Within five standard errors of a share seen so often: wrong once in a million.
void expect_share(double expected, int seen, int of) {
    const double error = std::sqrt(expected * (1 - expected) / of);
    EXPECT_NEAR(double(seen) / of, expected, 5 * error + 1e-12);
}

}  // namespace

TEST(Odds, TheCourseFiguresComeOut) {
    EXPECT_NEAR(majority_right(0.1, 5), 0.00856, 1e-12);
    EXPECT_NEAR(any_right(0.1, 8), 1 - 0.43046721, 1e-12);
    EXPECT_EQ(samples_needed(0.1, 0.9), 22);
    EXPECT_LT(any_right(0.1, 21), 0.9);
    EXPECT_GT(any_right(0.1, 22), 0.9);
}

TEST(Odds, AreSumsOverAllOutcomes) {
    for (const double p : {0.0, 0.001, 0.1, 0.5, 0.73, 1.0})
        for (int n = 1; n <= 12; ++n) {
            const Outcomes all(p, n);
            EXPECT_NEAR(any_right(p, n), all.any, 1e-12) << p << " " << n;
            EXPECT_NEAR(tries_until_right(p, n), all.tries, 1e-11) << p << " " << n;
            EXPECT_NEAR(majority_right(p, n), all.more, 1e-12) << p << " " << n;
            EXPECT_NEAR(majority_right(p, n, Tie::tossed), all.more + all.half / 2,
                        1e-12);
            EXPECT_NEAR(majority_right(p, n, Tie::won), all.more + all.half, 1e-12);
            double sum = 0;
            for (int k = 0; k <= n; ++k) sum += exactly_right(p, n, k);
            EXPECT_NEAR(sum, 1, 1e-12);
        }
}

TEST(Odds, AgreeWithSeededSimulation) {
    constexpr int games = 20000;
    for (const double p : {0.02, 0.1, 0.45, 0.6, 0.9})
        for (const int n : {1, 4, 5, 32}) {
            int any = 0, more = 0, half = 0, exactly = 0;
            for (int game = 0; game < games; ++game) {
                int right = 0;
                for (int i = 0; i < n; ++i) right += gpt2::uniform(7, game, i) < p;
                any += right > 0;
                more += 2 * right > n;
                half += 2 * right == n;
                exactly += right == 1;
            }
            expect_share(any_right(p, n), any, games);
            expect_share(exactly_right(p, n, 1), exactly, games);
            expect_share(majority_right(p, n), more, games);
            expect_share(majority_right(p, n, Tie::won), more + half, games);
        }
}

TEST(Odds, ManyVotesAmplifyWhoIsAhead) {
    EXPECT_LT(majority_right(0.4, 501), 1e-5);
    EXPECT_GT(majority_right(0.6, 501), 1 - 1e-5);
    for (const int n : {1, 3, 99, 100'001})
        EXPECT_NEAR(majority_right(0.5, n), 0.5, 1e-6) << n;
    // An evenly split coin decides nothing: two votes are as good as one.
    EXPECT_NEAR(majority_right(0.3, 2, Tie::tossed), 0.3, 1e-12);
    EXPECT_NEAR(majority_right(0.3, 2), 0.09, 1e-12);
}

TEST(Odds, KeepTheDigitsOfSmallProbabilities) {
    EXPECT_NEAR(any_right(1e-15, 10) / 1e-14, 1, 1e-9);
    EXPECT_NEAR(tries_until_right(1e-15, 10), 10, 1e-9);
    EXPECT_EQ(any_right(0.3, 0), 0);
    EXPECT_EQ(any_right(1, 3), 1);
    EXPECT_EQ(tries_until_right(0, 7), 7);
    EXPECT_EQ(tries_until_right(1, 7), 1);
    EXPECT_EQ(tries_until_right(0.5, 0), 0);
}

TEST(Odds, SamplesNeededIsTheFewest) {
    for (const double p : {0.001, 0.1, 0.25, 0.5, 0.875, 0.999})
        for (const double wanted : {0.001, 0.1, 0.5, 0.75, 0.9, 0.99, 0.999999}) {
            const int n = samples_needed(p, wanted);
            EXPECT_GE(any_right(p, n), wanted) << p << " " << wanted;
            EXPECT_LT(any_right(p, n - 1), wanted) << p << " " << wanted;
        }
    EXPECT_EQ(samples_needed(0.5, 0.75), 2);  // exactly
    EXPECT_EQ(samples_needed(1, 1), 1);
    EXPECT_EQ(samples_needed(1, 0.5), 1);
    EXPECT_EQ(samples_needed(0.1, 0), 0);
    EXPECT_EQ(samples_needed(0, 0), 0);
    bad_input([] { samples_needed(0, 0.1); });
    bad_input([] { samples_needed(0.5, 1); });
    EXPECT_EQ(bad_input([] { samples_needed(1e-9, 0.9); }),
              "odds: 1000000 tries are not enough for 0.9 with p = 1e-09");
}

TEST(Odds, RoutingIsAWeightedMean) {
    // The course's questions: 98% and 99%, 10% and 70%, for 200 and 4,200 tokens.
    const ledger::Kind easy{{0.98, 200}, {0.99, 4200}}, hard{{0.1, 200}, {0.7, 4200}};
    const auto expect = [&](double share, const ledger::Judge& judge, double right,
                            double cost) {
        const ledger::Answering routed = ledger::route(share, easy, hard, judge);
        EXPECT_NEAR(routed.right, right, 1e-12);
        EXPECT_NEAR(routed.cost, cost, 1e-9);
    };
    expect(0.2, {0, 0}, 0.8 * 0.98 + 0.2 * 0.7, 0.8 * 200 + 0.2 * 4200);
    expect(0.2, {0, 1}, 0.8 * 0.98 + 0.2 * 0.1, 200);
    expect(0.2, {1, 0}, 0.8 * 0.99 + 0.2 * 0.7, 4200);
    expect(0.2, {1, 1}, 0.8 * 0.99 + 0.2 * 0.1, 0.8 * 4200 + 0.2 * 200);
    expect(0, {0.25, 0.5}, 0.9825, 1200);
    expect(1, {0.25, 0.5}, 0.4, 2200);
}

TEST(Odds, RoutingAgreesWithSeededSimulation) {
    const ledger::Kind easy{{0.9, 1}, {0.97, 8}}, hard{{0.2, 2}, {0.6, 16}};
    const ledger::Judge judge{0.3, 0.1};
    const ledger::Answering routed = ledger::route(0.4, easy, hard, judge);
    constexpr int questions = 50000;
    int right = 0;
    double cost = 0;
    for (int i = 0; i < questions; ++i) {
        const auto happens = [&](double p, int what) {
            return gpt2::uniform(3, i, what) < p;
        };
        const bool is_hard = happens(0.4, 0);
        const bool mistaken =
            happens(is_hard ? judge.hard_taken_for_easy : judge.easy_taken_for_hard, 1);
        const ledger::Kind& kind = is_hard ? hard : easy;
        const ledger::Answering& chosen = is_hard != mistaken ? kind.careful : kind.brief;
        right += happens(chosen.right, 2);
        cost += chosen.cost;
    }
    expect_share(routed.right, right, questions);
    // A question costs 1 to 16, so the standard deviation is below 7.5.
    EXPECT_NEAR(cost / questions, routed.cost, 5 * 7.5 / std::sqrt(questions));
}

TEST(Odds, RefuseWhatIsNoProbability) {
    for (const double p : {-0.1, 1.1, no_number, infinite, -infinite}) {
        bad_input([&] { any_right(p, 1); });
        bad_input([&] { tries_until_right(p, 1); });
        bad_input([&] { exactly_right(p, 1, 1); });
        bad_input([&] { majority_right(p, 1); });
        bad_input([&] { samples_needed(p, 0.5); });
        bad_input([&] { samples_needed(0.5, p); });
        const ledger::Kind good{{0.5, 1}, {0.5, 1}}, bad{{0.5, 1}, {p, 1}};
        bad_input([&] { ledger::route(p, good, good, {0, 0}); });
        bad_input([&] { ledger::route(0.5, bad, good, {0, 0}); });
        bad_input([&] { ledger::route(0.5, good, bad, {0, 0}); });
        bad_input([&] { ledger::route(0.5, good, good, {p, 0}); });
        bad_input([&] { ledger::route(0.5, good, good, {0, p}); });
    }
    EXPECT_EQ(bad_input([] { any_right(1.5, 1); }),
              "odds: p: expected 0 to 1, found 1.5");
    EXPECT_EQ(bad_input([] { majority_right(0.5, 0); }),
              "odds: tries: expected 1 to 1000000, found 0");
    EXPECT_EQ(bad_input([] { any_right(0.5, 1'000'001); }),
              "odds: tries: expected 0 to 1000000, found 1000001");
    bad_input([] { any_right(0.5, -1); });
    bad_input([] { exactly_right(0.5, 3, 4); });
    bad_input([] { exactly_right(0.5, 3, -1); });
    for (const double cost : {-1.0, no_number, infinite})
        bad_input([&] {
            ledger::route(0.5, {{0.5, cost}, {0.5, 1}}, {{0.5, 1}, {0.5, 1}}, {0, 0});
        });
}
