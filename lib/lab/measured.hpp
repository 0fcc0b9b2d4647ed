#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "ledger/cost.hpp"

namespace lab {

/// The ledger predicts in the unit that the lab measures in.
using ledger::Seconds;

/// Runs from the moment it is made.
class Stopwatch {
public:
    /// Since then, by a clock that never goes back.
    Seconds seconds() const {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// What several runs of the same thing gave: seconds, or a rate made from them.
struct Measured {
    double min = 0;     ///< the least of all runs
    double median = 0;  ///< of an even number of runs: the mean of the middle two
    double max = 0;     ///< the greatest of all runs
    int runs = 0;       ///< that counted, warm-ups left out
};

/// The summary of at least one value.
Measured summarize(std::vector<double> values);

/// A rate: `n` things in the seconds measured. The slowest run gives the lowest rate.
Measured operator/(double n, const Measured& seconds);

/// How many times b goes into a. The range is the widest that the two ranges allow.
Measured operator/(const Measured& a, const Measured& b);

/// How long a measurement may take.
struct Budget {
    Seconds seconds;    ///< for all runs of one thing together
    int least_runs;     ///< even where that takes longer ...
    Seconds no_repeat;  ///< ... unless one run takes longer than this: then it is the
                        ///< only one
};

/// For a run whose results are kept.
inline constexpr Budget full_budget{10, 3, 20};

/// For `--quick`.
inline constexpr Budget quick_budget{1, 2, 10};

/// How a budget is spent on runs of a given length. A run that fits the budget comes
/// first as a warm-up and does not count. A longer one warms up in its own first moments
/// and counts.
struct Plan {
    bool warm_up;  ///< whether the first run does not count
    int runs;      ///< that count

    /// Runs in all, the warm-up included.
    int all_runs() const { return runs + warm_up; }
};

/// The plan for runs of `one_run` seconds each: at most 50 that count.
Plan plan(const Budget& budget, Seconds one_run);

/// Runs `work` as planned, by the length of its first run. Before each further run
/// `progress` is told how many are done, how many there will be, and how long one takes.
Measured measure(const std::function<void()>& work, const Budget& budget,
                 const std::function<void(int done, int all, Seconds one)>& progress);

}  // namespace lab
