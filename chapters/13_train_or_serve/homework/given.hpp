#pragma once

namespace homework {

/// What a model costs in all its life, in any one unit.
struct Life {
    double once;  ///< to train it, before the first use
    double use;   ///< each use of it
};

/// A model that is the cheapest for a while.
struct Lead {
    int model;    ///< its number in the list, from 0 on
    double from;  ///< uses from which on
};

}  // namespace homework
