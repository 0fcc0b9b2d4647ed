#include "lab/ceilings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpt2/error.hpp"
#include "lab/gpu_ceilings.hpp"
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

TEST(GpuCeilings, NarrowWeightsGoThroughTheMatrixUnits) {
    const lab::GpuCeilings gpu{.name = "one",
                               .multiprocessors = 100,
                               .read_bandwidth = 4e12,
                               .copy_bandwidth = 3e12,
                               .multiply_add_f32 = 5e13,
                               .matrix_bf16 = 8e14};
    EXPECT_EQ(gpu.machine(gpt2::DType::f32).read_bandwidth, 4e12);
    EXPECT_EQ(gpu.machine(gpt2::DType::f32).multiply_add_peak, 5e13);
    EXPECT_EQ(gpu.machine(gpt2::DType::f16).multiply_add_peak, 8e14);
    EXPECT_EQ(gpu.machine(gpt2::DType::bf16).multiply_add_peak, 8e14);
}

// In a build without CUDA, or on a machine without a GPU.
TEST(GpuCeilings, AreAbsentOrPositive) {
    try {
        const lab::GpuCeilings gpu = lab::measure_gpu_ceilings();
        for (const double value :
             {gpu.read_bandwidth, gpu.copy_bandwidth, gpu.multiply_add_f32,
              gpu.matrix_bf16, gpu.graph_node, gpu.grid_barrier}) {
            EXPECT_GT(value, 0);
            EXPECT_TRUE(std::isfinite(value));
        }
        EXPECT_GT(gpu.matrix_bf16, gpu.multiply_add_f32);
    } catch (const gpt2::Unavailable& error) {
        EXPECT_EQ(std::string(error.what()).rfind("device cuda: ", 0), 0u);
    }
}

TEST(MachineInfo, SlugsNameAFolder) {
    EXPECT_EQ(lab::machine_slug("AMD EPYC", 2), "amd-epyc-2-cores");
    EXPECT_EQ(lab::machine_slug("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", 8),
              "intel-core-i7-8650u-8-cores");
    EXPECT_EQ(lab::machine_slug("Apple M2", 1), "apple-m2-1-core");
    EXPECT_EQ(lab::machine_slug("../../etc $(x)\n", 4), "etc-x-4-cores");
    EXPECT_EQ(lab::machine_slug("", 4), "4-cores");
    EXPECT_EQ(lab::machine_slug("NVIDIA H200 (x)"), "nvidia-h200-x");
}

TEST(MachineInfo, KnowsThisMachine) {
    EXPECT_FALSE(lab::cpu_name().empty());
    EXPECT_GT(lab::memory_bytes(), 0);
}

}  // namespace
