#pragma once

#include <vector>

namespace homework {

/// What one attention head remembers of a text.
struct Cache {
    int width;                  ///< numbers of a key, and of a value
    std::vector<float> keys;    ///< [positions, width], row-major: the oldest first
    std::vector<float> values;  ///< [positions, width]
};

/// What one new token brings to this head: `width` numbers each.
struct Step {
    std::vector<float> query;  ///< what it looks for
    std::vector<float> key;    ///< what it can be found by
    std::vector<float> value;  ///< what it hands over
};

}  // namespace homework
