#pragma once

#include <vector>

namespace homework {

/// What becomes of one guess.
struct Verdict {
    bool kept;
    int token;  ///< that is written: the guess, or another in its place
};

/// What one pass of the target over guesses brings.
struct Trip {
    std::vector<int> written;  ///< tokens, in order; at least one
    int held;  ///< positions that stay in the KV cache behind the pass
};

}  // namespace homework
