#include "lab/measured.hpp"

#include <gtest/gtest.h>

#include "gpt2/error.hpp"
#include "lab/format.hpp"

namespace {

using lab::Budget;
using lab::Measured;

TEST(Measured, MedianOfOddAndEvenCounts) {
    const Measured odd = lab::summarize({3, 1, 2});
    EXPECT_EQ(odd.min, 1);
    EXPECT_EQ(odd.median, 2);
    EXPECT_EQ(odd.max, 3);
    EXPECT_EQ(odd.runs, 3);
    EXPECT_EQ(lab::summarize({4, 1, 2, 8}).median, 3);
    EXPECT_EQ(lab::summarize({5}).median, 5);
}

TEST(Measured, TheSlowestRunGivesTheLowestRate) {
    const Measured rate = 512 / Measured{2, 4, 8, 3};
    EXPECT_EQ(rate.min, 64);
    EXPECT_EQ(rate.median, 128);
    EXPECT_EQ(rate.max, 256);
    EXPECT_EQ(rate.runs, 3);
}

TEST(Measured, ARatioTakesTheWidestRange) {
    const Measured ratio = Measured{8, 12, 16, 5} / Measured{2, 3, 4, 3};
    EXPECT_EQ(ratio.min, 2);
    EXPECT_EQ(ratio.median, 4);
    EXPECT_EQ(ratio.max, 8);
    EXPECT_EQ(ratio.runs, 3);
}

TEST(Plan, SpendsTheBudget) {
    const Budget budget{10, 3, 60};
    EXPECT_EQ(lab::plan(budget, 2).runs, 5);
    EXPECT_TRUE(lab::plan(budget, 2).warm_up);
    EXPECT_EQ(lab::plan(budget, 2).all_runs(), 6);
    EXPECT_EQ(lab::plan(budget, 9).runs, 3);         // the least
    EXPECT_EQ(lab::plan(budget, 0).runs, 50);        // the most
    EXPECT_EQ(lab::plan(budget, 20).all_runs(), 3);  // the first one counts
    EXPECT_EQ(lab::plan(budget, 61).all_runs(), 1);
    for (const Budget& each : {lab::full_budget, lab::quick_budget})
        EXPECT_GE(lab::plan(each, each.no_repeat).runs, 2);
}

TEST(Measure, RunsAsPlannedAndReportsEachFurtherRun) {
    int runs = 0, reports = 0;
    const Measured measured = lab::measure([&] { ++runs; }, {0, 4, 1e9},
                                           [&](int done, int all, lab::Seconds) {
                                               ++reports;
                                               EXPECT_EQ(done, reports);
                                               EXPECT_EQ(all, 4);
                                           });
    EXPECT_EQ(runs, 4);
    EXPECT_EQ(reports, 3);
    EXPECT_EQ(measured.runs, 4);
    EXPECT_LE(measured.min, measured.median);
    EXPECT_LE(measured.median, measured.max);
}

TEST(Format, Numbers) {
    EXPECT_EQ(lab::number(124439808), "124,439,808");
    EXPECT_EQ(lab::number(5946.7), "5,950");
    EXPECT_EQ(lab::number(60.6123), "60.6");
    EXPECT_EQ(lab::number(999.7), "1,000");
    EXPECT_EQ(lab::number(0.012345), "0.0123");
    EXPECT_EQ(lab::number(-1234567), "-1,234,567");
    EXPECT_EQ(lab::number(0), "0");
    EXPECT_EQ(lab::number(100), "100");
    EXPECT_EQ(lab::number(1e300), "1e+300");
}

TEST(Format, Quantities) {
    EXPECT_EQ(lab::quantity(36864, "bytes"), "36 KiB");
    EXPECT_EQ(lab::quantity(17179869184.0, "bytes"), "16 GiB");
    EXPECT_EQ(lab::quantity(512, "bytes"), "512 bytes");
    EXPECT_EQ(lab::quantity(497759232, "bytes"), "475 MiB");
    EXPECT_EQ(lab::quantity(0.0862, "s"), "86.2 ms");
    EXPECT_EQ(lab::quantity(46.83, "s"), "46.8 s");
    EXPECT_EQ(lab::quantity(300, "s"), "5 min");
    EXPECT_EQ(lab::quantity(18.23e9, "bytes/s"), "18.2 GB/s");
    EXPECT_EQ(lab::quantity(229.4e9, "FLOP/s"), "229 GFLOP/s");
    EXPECT_EQ(lab::quantity(60.61, "times"), "60.6 times");
    EXPECT_EQ(lab::quantity(1023, ""), "1,023");
    EXPECT_EQ(lab::off_by(90, 100), "-10%");
    EXPECT_EQ(lab::off_by(130, 100), "+30%");
}

TEST(Error, StandsOnOneLine) {
    EXPECT_EQ(gpt2::one_line("a\nb\r\n"), "a b");
    EXPECT_STREQ(gpt2::BadInput("found '3\n'").what(), "found '3 '");
}

}  // namespace
