#pragma once

#include <algorithm>
#include <optional>

#include "given.hpp"

namespace homework {

/// The number of uses from which on `small` has cost no more than `large`, for good.
inline std::optional<double> break_even(const Life& small, const Life& large) {
    const double dearer = small.once - large.once;
    const double saved = large.use - small.use;
    if (saved > 0) return std::max(0.0, dearer / saved);
    if (saved == 0 && dearer <= 0) return 0.0;
    return {};
}

}  // namespace homework
