#pragma once

#include <algorithm>
#include <vector>

#include "given.hpp"

namespace homework {

/// The two parts of the wait for one answer.
inline Pace pace(double asked, const std::vector<double>& known) {
    Pace pace{.first_token = known[0] - asked};
    std::vector<double> beats;
    for (std::size_t i = 1; i < known.size(); ++i)
        beats.push_back(known[i] - known[i - 1]);
    if (beats.empty()) return pace;
    std::sort(beats.begin(), beats.end());
    const std::size_t half = beats.size() / 2;
    const bool even = beats.size() % 2 == 0;
    pace.beat = even ? (beats[half - 1] + beats[half]) / 2 : beats[half];
    return pace;
}

}  // namespace homework
