#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// Which of several models is the cheapest, from how many uses on.
inline std::vector<Lead> cheapest(const std::vector<Life>& models) {
    std::vector<Lead> leads{{0, 0}};
    for (int i = 1; i < int(models.size()); ++i) {
        const Life &one = models[i], &best = models[leads[0].model];
        if (one.once < best.once || (one.once == best.once && one.use < best.use))
            leads[0].model = i;
    }
    for (;;) {
        const Life& now = models[leads.back().model];
        Lead next{-1, 0};
        for (int i = 0; i < int(models.size()); ++i) {
            const Life& one = models[i];
            if (one.use >= now.use) continue;
            const double from = (one.once - now.once) / (now.use - one.use);
            if (next.model < 0 || from < next.from ||
                (from == next.from && one.use < models[next.model].use))
                next = {i, from};
        }
        if (next.model < 0) return leads;
        leads.push_back(next);
    }
}

}  // namespace homework
