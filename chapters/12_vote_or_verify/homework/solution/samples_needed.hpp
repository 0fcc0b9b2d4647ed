#pragma once

#include <optional>

namespace homework {

/// The fewest samples of which one is right with probability `wanted` or more.
inline std::optional<int> samples_needed(double p, double wanted) {
    if ((p == 0 && wanted > 0) || (p < 1 && wanted == 1)) return {};
    int n = 0;
    for (double all_wrong = 1; 1 - all_wrong < wanted; all_wrong *= 1 - p) ++n;
    return n;
}

}  // namespace homework
