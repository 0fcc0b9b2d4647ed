#pragma once

namespace ledger {

/// What a machine can do at most. The ledger takes these as data; `lab/ceilings.hpp`
/// measures them.
struct Machine {
    double read_bandwidth;     ///< bytes/s out of memory, all threads together
    double multiply_add_peak;  ///< FLOP/s, two per multiply-add, all threads together
    int threads;               ///< that took part in all of this

    // What is read again and again and fits into the last cache stays there: it does not
    // come from memory, and memory's ceiling does not hold for it.
    double cache_bytes = 0;      ///< that may be counted on to stay; 0: not known
    double cache_bandwidth = 0;  ///< bytes/s out of that cache, all threads together

    /// The same machine for work that moves the same `bytes` bytes again and again: read
    /// bandwidth is the cache's where they fit.
    Machine repeating(double bytes) const {
        Machine machine = *this;
        if (bytes <= cache_bytes) machine.read_bandwidth = cache_bandwidth;
        return machine;
    }

    /// FLOPs for every byte at which both ceilings are met at once.
    double ridge() const { return multiply_add_peak / read_bandwidth; }
};

}  // namespace ledger
