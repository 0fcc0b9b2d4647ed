#pragma once

namespace ledger {

/// What a machine can do at most. The ledger takes these as data; `lab/ceilings.hpp`
/// measures them.
struct Machine {
    double read_bandwidth;     ///< bytes/s out of memory, all threads together
    double multiply_add_peak;  ///< FLOP/s, two per multiply-add, all threads together
    int threads;               ///< that took part in both

    /// FLOPs for every byte at which both ceilings are met at once.
    double ridge() const { return multiply_add_peak / read_bandwidth; }
};

}  // namespace ledger
