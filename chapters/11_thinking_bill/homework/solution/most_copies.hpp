#pragma once

#include "given.hpp"

namespace homework {

/// The most copies that may be written at once, without thinking.
inline int most_copies(const Machine& machine, const Way& way, double longer,
                       double memory) {
    const auto held = [&](int copies, int written) {
        const double prompts = double(way.prompt) * (way.shared ? 1 : copies);
        return machine.kv * (prompts + double(copies) * written);
    };
    const auto wait = [&](int copies) {
        double bytes = 0;
        for (int i = 0; i < way.answer; ++i)
            bytes += machine.weights + held(copies, i);
        return bytes / machine.bandwidth;
    };
    const double longest = longer * wait(1);
    int copies = 0;
    while (wait(copies + 1) <= longest && held(copies + 1, way.answer) <= memory)
        ++copies;
    return copies;
}

}  // namespace homework
