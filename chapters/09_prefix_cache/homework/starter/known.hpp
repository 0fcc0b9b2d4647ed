#pragma once

#include <cstddef>
#include <vector>

#include "given.hpp"

namespace homework {

/// Tokens at the beginning of a prompt that need not be read, because the tree knows
/// them.
///
/// It knows whole blocks of 32 tokens, from the prompt's first one on: the first
/// block is a child of the root, the next one a child of that, and so on. All 32 ids
/// must be the same. The last token of a prompt is always read, whatever the tree
/// knows; so the block in which it lies is not counted.
/// @param tree    node 0 is the root; it is there
/// @param prompt  ids, at least one
/// @return a multiple of 32, less than the prompt's tokens
inline int known(const std::vector<Node>& tree, const std::vector<int>& prompt) {
    // Yours.
    return -1;
}

}  // namespace homework
