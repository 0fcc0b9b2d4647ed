#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// One pass of a greedy target over the guesses of a draft.
inline Trip trip(int past, const std::vector<int>& guesses,
                 const std::vector<int>& best, int end) {
    std::vector<int> written;
    for (std::size_t i = 0; i < best.size(); ++i) {
        written.push_back(best[i]);
        if (best[i] == end) break;
        if (i < guesses.size() && guesses[i] != best[i]) break;
    }
    return {written, past + int(written.size())};
}

}  // namespace homework
