#pragma once

#include "given.hpp"

namespace homework {

/// What a verifier makes of up to n tries.
inline Tried verifier(double p, int n) {
    Tried tried{0, 0};
    double still_wrong = 1;  // probability that no try was right so far
    for (int i = 0; i < n; ++i) {
        tried.tries += still_wrong;
        tried.right += still_wrong * p;
        still_wrong *= 1 - p;
    }
    return tried;
}

}  // namespace homework
