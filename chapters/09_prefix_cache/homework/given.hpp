#pragma once

#include <vector>

namespace homework {

/// Tokens in a block.
constexpr int block = 32;

/// What a prefix cache has kept: a tree whose node 0 is the root.
///
/// A node stands for a block of 32 tokens that came behind those of the nodes above
/// it. The root stands for no tokens. No two children of a node have the same
/// tokens.
struct Node {
    std::vector<int> tokens;    ///< ids of 32 tokens; of the root none
    std::vector<int> children;  ///< places of nodes in the tree, each greater than 0
};

}  // namespace homework
