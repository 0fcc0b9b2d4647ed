#pragma once

#include <functional>

namespace gpt2::cpu {

/// One thread's view of a piece of work that the whole team does together.
class Worker {
public:
    int index;  ///< 0 ... count - 1
    int count;  ///< threads at work

    /// Returns when every thread of the team has come here.
    void wait() const;

    /// A share of some work: items [begin, end).
    struct Range {
        int begin;  ///< its first item
        int end;    ///< one past its last
    };

    /// This thread's share of [0, n): consecutive, the shares as even as they can be.
    Range share(int n) const;
};

/// Processors that this process may use.
int processors();

/// Runs `work` on `threads` threads at once, each pinned to a processor of its own while
/// it works, and returns when all have come back. The calling thread is one of them.
/// There is one team in the process: callers take turns. Work must not throw and must not
/// call `together` itself.
///
/// Not OpenMP: a thread sanitizer cannot see into its runtime, and two pools of threads
/// in one process would fight for the processors.
///
/// @param threads  1 ... 256; more than processors() is allowed, and slow
void together(int threads, const std::function<void(const Worker&)>& work);

}  // namespace gpt2::cpu
