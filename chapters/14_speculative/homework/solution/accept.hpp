#pragma once

#include <algorithm>
#include <vector>

#include "given.hpp"

namespace homework {

/// Accepts or rejects a guess that was drawn.
inline Verdict accept(const std::vector<double>& target,
                      const std::vector<double>& draft, int guess, double keep,
                      double draw) {
    if (keep < target[guess] / draft[guess]) return {true, guess};
    const auto more = [&](int i) { return std::max(0.0, target[i] - draft[i]); };
    double whole = 0;
    for (int i = 0; i < int(target.size()); ++i) whole += more(i);
    double sum = 0;
    int drawn = guess;
    for (int i = 0; i < int(target.size()) && sum <= draw; ++i) {
        if (more(i) == 0) continue;
        sum += more(i) / whole;
        drawn = i;
    }
    return {false, drawn};
}

}  // namespace homework
