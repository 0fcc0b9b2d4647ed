#pragma once

#include <algorithm>
#include <vector>

#include "given.hpp"

namespace homework {

/// Seconds of one forward pass that writes one token of every sequence in a batch.
inline double step_time(const std::vector<Part>& parts, const Machine& machine,
                        const std::vector<int>& past) {
    double seconds = 0;
    for (const Part& part : parts) {
        double flops = 0, bytes = part.shared_bytes;
        for (const int positions : past) {
            flops += part.flops + part.flops_per_position * positions;
            bytes += part.own_bytes + part.own_bytes_per_position * positions;
        }
        seconds += std::max(bytes / machine.bandwidth, flops / machine.peak);
    }
    return seconds;
}

}  // namespace homework
