#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// How many of a queue are admitted now.
inline int admit(const std::vector<Request>& queue, int blocks, int seats) {
    int admitted = 0;
    for (const Request& request : queue) {
        const int positions = request.prompt + request.answer - 1;
        const int promised = (positions + block - 1) / block;
        if (promised > blocks || admitted == seats) break;
        blocks -= promised;
        ++admitted;
    }
    return admitted;
}

}  // namespace homework
