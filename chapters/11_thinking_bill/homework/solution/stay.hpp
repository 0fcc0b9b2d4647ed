#pragma once

#include "given.hpp"

namespace homework {

/// Latency, peak and capacity of a way to answer.
inline Stay stay(const Machine& machine, const Way& way) {
    Stay sum{};
    const int passes = way.thinking + way.answer;
    const double prompts = double(way.prompt) * (way.shared ? 1 : way.copies);
    double held = machine.kv * prompts;
    for (int i = 0; i < passes; ++i) {
        const double seconds = (machine.weights + held) / machine.bandwidth;
        sum.wait += seconds;
        if (i <= way.thinking) sum.first += seconds;
        sum.capacity += held * seconds;
        held += machine.kv * way.copies;
    }
    sum.peak = held;
    return sum;
}

}  // namespace homework
