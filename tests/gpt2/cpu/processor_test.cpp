#include "gpt2/cpu/processor.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace {

using gpt2::cpu::processor_error;

TEST(Processor, AcceptsWhatItWasBuiltFor) {
    EXPECT_EQ(processor_error(0b0100, 0b0110), nullptr);
    EXPECT_EQ(processor_error(0b0100, 0b0100), nullptr);
}

TEST(Processor, RefusesAnotherInOneLine) {
    const char* const error = processor_error(0b0100, 0b1011);
    ASSERT_NE(error, nullptr);
    const std::string line = error;
    EXPECT_NE(line.find("built for another processor"), std::string::npos);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Processor, ThisOneIsFine) {
    EXPECT_NE(gpt2::cpu::built_for, 0);
    gpt2::cpu::require_processor();
}

// What an older processor would see.
TEST(ProcessorDeathTest, EndsWithStatusTwo) {
    EXPECT_EXIT(
        {
            hwy::SetSupportedTargetsForTest(HWY_SCALAR);
            gpt2::cpu::require_processor();
        },
        testing::ExitedWithCode(2), "built for another processor");
}

}  // namespace
