#pragma once

#include <cstdint>
#include <vector>

namespace homework {

/// Numbers that share a scale: 0 ... 31, then 32 ... 63, and so on. The last group
/// has what is left.
constexpr int group = 32;

/// A row of weights in int8. Number k stands for numbers[k] * scales[k / group].
struct Int8Row {
    std::vector<float> scales;         ///< one for each group
    std::vector<std::int8_t> numbers;  ///< -127 ... 127
};

}  // namespace homework
