#pragma once

#include <algorithm>
#include <vector>

#include "given.hpp"

namespace homework {

/// Tokens at the beginning of a prompt that need not be read, because the tree knows
/// them.
inline int known(const std::vector<Node>& tree, const std::vector<int>& prompt) {
    const int most = int(prompt.size()) - 1;
    int node = 0, tokens = 0;
    while (tokens + block <= most) {
        int next = 0;
        for (const int child : tree[node].children) {
            const std::vector<int>& ids = tree[child].tokens;
            if (std::equal(ids.begin(), ids.end(), prompt.begin() + tokens))
                next = child;
        }
        if (next == 0) break;
        node = next;
        tokens += block;
    }
    return tokens;
}

}  // namespace homework
