#pragma once

namespace homework {

/// One operation of a forward pass that writes one token of every sequence: a
/// matrix, or attention.
struct Part {
    double flops = 0;                   ///< for each sequence
    double flops_per_position = 0;      ///< for each position behind a sequence
    double shared_bytes = 0;            ///< once for all: the weights
    double own_bytes = 0;               ///< for each sequence
    double own_bytes_per_position = 0;  ///< for each position behind a sequence
};

/// What a machine can do at most.
struct Machine {
    double bandwidth = 0;  ///< bytes a second out of memory
    double peak = 0;       ///< FLOPs a second
};

}  // namespace homework
