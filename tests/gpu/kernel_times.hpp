#pragma once

// The engine's kernels, each alone, and what only the device itself can say.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gpt2/config.hpp"
#include "gpt2/dtype.hpp"
#include "ledger/cost.hpp"

namespace gpu_check {

/// One kernel of a decode step.
struct KernelTime {
    std::string name;         ///< the ledger's, where it is an operation there
    int times;                ///< in one step
    double bytes;             ///< that one of them moves at least
    ledger::Seconds seconds;  ///< that one of them takes
};

/// The kernels of a step behind `context` positions, as the engine launches them: each in
/// a graph of its own, which goes from layer to layer, so that weights and cache come
/// from memory.
/// @param looks  at the clock, of which the median counts
std::vector<KernelTime> kernel_times(const gpt2::Config& config, gpt2::DType weights,
                                     gpt2::DType kv, int context, int looks = 9);

/// Seconds of one layer's attention behind `context` positions, shared by that many
/// blocks a head.
ledger::Seconds attention_time(const gpt2::Config& config, gpt2::DType kv, int context,
                               int splits, int looks = 9);

/// What the driver says about the device: names and values.
std::vector<std::pair<std::string, std::string>> device_properties();

/// Bytes of the device's memory that are taken.
std::size_t memory_in_use();

}  // namespace gpu_check
