#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "given.hpp"

namespace homework {

/// Joins the pieces of a word as byte-level BPE does.
inline std::vector<std::string> merge(std::vector<std::string> pieces,
                                      const std::vector<Rule>& rules) {
    const auto rank = [&](std::size_t i) {
        const auto fits = [&](const Rule& rule) {
            return rule.left == pieces[i] && rule.right == pieces[i + 1];
        };
        return std::find_if(rules.begin(), rules.end(), fits) - rules.begin();
    };
    for (;;) {
        auto best = std::ptrdiff_t(rules.size());
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
            best = std::min(best, rank(i));
        if (best == std::ptrdiff_t(rules.size())) return pieces;
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
            if (rank(i) != best) continue;
            pieces[i] += pieces[i + 1];
            pieces.erase(pieces.begin() + std::ptrdiff_t(i) + 1);
        }
    }
}

}  // namespace homework
