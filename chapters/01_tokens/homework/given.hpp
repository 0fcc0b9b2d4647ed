#pragma once

#include <string>
#include <vector>

namespace homework {

/// Two pieces that may be joined.
struct Rule {
    std::string left, right;
};

}  // namespace homework
