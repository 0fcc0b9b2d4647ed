#include "lab/share.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ledger/odds.hpp"

namespace {

using lab::chance_error;
using lab::Share;

}  // namespace

TEST(Share, Counts) {
    Share share;
    EXPECT_EQ(share.value(), 0);
    EXPECT_FALSE(share.may_come_of(0, 1));
    for (const bool is_right : {true, false, false, true, false}) share.count(is_right);
    EXPECT_EQ(share.value(), 0.4);
    EXPECT_EQ(share.percent().median, 40);
    share += Share{3, 5};
    EXPECT_EQ(share.right, 5);
    EXPECT_EQ(share.of, 10);
}

// The binomial distribution itself says how often a share is further off.
TEST(Share, ChanceGoesFurtherOnlyOnceIn130000Times) {
    for (const double p : {0.0, 0.0001, 0.01, 0.1, 0.5, 0.85, 1.0})
        for (const int n : {1, 8, 64, 500, 2048}) {
            double missed = 0;
            for (int k = 0; k <= n; ++k)
                if (!Share{double(k), double(n)}.may_come_of(p))
                    missed += ledger::exactly_right(p, n, k);
            EXPECT_LT(missed, 1 / 130'000.0) << p << " " << n;
        }
}

// It is no blank cheque: with many tries it comes near five standard errors.
TEST(Share, RefusesWhatIsTooFarOff) {
    EXPECT_NEAR(chance_error(0.5, 1e6) / std::sqrt(0.25 / 1e6), 5, 0.05);
    EXPECT_TRUE((Share{510, 1000}.may_come_of(0.5)));
    EXPECT_FALSE((Share{600, 1000}.may_come_of(0.5)));
    EXPECT_FALSE((Share{20, 1000}.may_come_of(0)));
    EXPECT_FALSE((Share{900, 1000}.may_come_of(0.95, 1)));
    EXPECT_TRUE((Share{900, 1000}.may_come_of(0.8, 0.89)));
    EXPECT_FALSE((Share{900, 1000}.may_come_of(0.7, 0.8)));
}
