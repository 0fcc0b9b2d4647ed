#pragma once

#include <cstdint>
#include <vector>

#include "given.hpp"

namespace homework {

/// What these requests cost together, in nano-dollars.
inline std::int64_t bill(const Price& price, const std::vector<Request>& requests) {
    constexpr std::int64_t million = 1'000'000;
    std::int64_t sum = 0;
    for (const Request& each : requests) {
        const std::int64_t millionths = (each.input - each.cached) * price.input +
                                        each.cached * price.cached +
                                        each.output * price.output;
        sum += (millionths + million / 2) / million;
    }
    return sum;
}

}  // namespace homework
