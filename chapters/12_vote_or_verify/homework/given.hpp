#pragma once

namespace homework {

/// What tries with a verifier come to.
struct Tried {
    double right;  ///< probability that one of them is right
    double tries;  ///< mean number of those that were made
};

}  // namespace homework
