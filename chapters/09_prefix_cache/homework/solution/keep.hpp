#pragma once

#include <vector>

#include "given.hpp"

namespace homework {

/// The tree, after a text was read and its blocks were kept.
inline std::vector<Node> keep(std::vector<Node> tree, const std::vector<int>& text) {
    int node = 0;
    for (std::size_t at = 0; at + block <= text.size(); at += block) {
        const std::vector<int> ids(&text[at], &text[at] + block);
        int next = 0;
        for (const int child : tree[node].children)
            if (tree[child].tokens == ids) next = child;
        if (next == 0) {
            next = int(tree.size());
            tree[node].children.push_back(next);
            tree.push_back({ids, {}});
        }
        node = next;
    }
    return tree;
}

}  // namespace homework
