// The main of the tests that run on a GPU: status 77 where there is none.

#include <gtest/gtest.h>

#include <cstdio>

#include "gpt2/cuda/device.hpp"
#include "gpt2/error.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    try {
        gpt2::cuda::require_device();
    } catch (const gpt2::Unavailable& error) {
        std::fprintf(stderr, "skipped: %s\n", error.what());
        return error.exit_status();
    }
    return RUN_ALL_TESTS();
}
