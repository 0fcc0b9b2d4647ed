#include "lab/ceilings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/machine_info.hpp"

namespace {

TEST(Ceilings, ArePositiveAndFinite) {
    for (int threads : {1, 2, 3}) {
        const ledger::Machine machine = lab::measure_ceilings(threads);
        EXPECT_GT(machine.read_bandwidth, 0);
        EXPECT_TRUE(std::isfinite(machine.read_bandwidth));
        EXPECT_GT(machine.multiply_add_peak, 0);
        EXPECT_TRUE(std::isfinite(machine.multiply_add_peak));
        EXPECT_EQ(machine.threads, threads);
        EXPECT_EQ(machine.cache_bytes > 0, machine.cache_bandwidth > 0);
        EXPECT_GE(machine.cache_bytes, 0);
        if (machine.cache_bytes > 0) {
            EXPECT_GT(machine.cache_bandwidth, machine.read_bandwidth);
        }
    }
}

TEST(MachineInfo, SlugsNameAFolder) {
    EXPECT_EQ(lab::machine_slug("AMD EPYC", 2), "amd-epyc-2-cores");
    EXPECT_EQ(lab::machine_slug("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", 8),
              "intel-core-i7-8650u-8-cores");
    EXPECT_EQ(lab::machine_slug("Apple M2", 1), "apple-m2-1-core");
    EXPECT_EQ(lab::machine_slug("../../etc $(x)\n", 4), "etc-x-4-cores");
    EXPECT_EQ(lab::machine_slug("", 4), "4-cores");
}

TEST(MachineInfo, KnowsThisMachine) {
    EXPECT_FALSE(lab::cpu_name().empty());
    EXPECT_GT(lab::memory_bytes(), 0);
}

}  // namespace
