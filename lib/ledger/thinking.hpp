#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ledger/cost.hpp"

namespace ledger {

/// A way to answer a prompt: at once, after thinking, or several times in one batch.
///
/// Pass 0 reads the prompt, pass i reads the i-th token of each copy, and every pass
/// writes one more token of each. So there are as many passes as an answer has tokens,
/// its thinking included, and the last token is written and never read.
struct Way {
    int prompt;           ///< tokens to read, at least 1
    int answer;           ///< tokens of one answer, at least 1
    int thinking = 0;     ///< tokens written before it, which nobody is shown
    int copies = 1;       ///< answers written at once, at least 1
    bool shared = false;  ///< one cache of the prompt serves all copies

    /// Forward passes. `thinking` and `answer` must add up to an int.
    int passes() const { return thinking + answer; }

    /// Tokens written, all copies together.
    std::int64_t tokens() const { return std::int64_t(copies) * passes(); }

    /// Positions in all caches together during pass i; for i = passes(), those that the
    /// finished texts have.
    std::int64_t held(int i) const;

    /// What pass i asks of an Engine. A shared prompt is read once, but every copy
    /// attends to it by itself.
    std::vector<Step> batch(int i) const;
};

/// A model on a machine for which nothing counts but bytes: the weights come from memory
/// once a pass, and so does every position that is held.
struct Fetching {
    double weights;    ///< bytes
    double kv;         ///< bytes that one token leaves in the cache
    double bandwidth;  ///< bytes/s

    /// The time of pass i.
    Seconds pass(const Way& way, int i) const;
};

/// What an answer is to who waits for it, and to who owns the memory.
struct Stay {
    Seconds first = 0;    ///< until the first token that is shown
    Seconds wait = 0;     ///< until the last one
    double capacity = 0;  ///< positions held, summed over time: tokens times seconds, as
                          ///< lab::capacity counts them
};

/// Adds up all passes, one by one.
/// @param seconds  of pass i, predicted or measured
Stay stay(const Way& way, const std::function<Seconds(int)>& seconds);

}  // namespace ledger
