#pragma once

#include <cstdint>

#include "ledger/cost.hpp"
#include "ledger/price.hpp"

namespace ledger {

/// A record that grows in rounds and is handed in whole in every one of them: an agent's,
/// or a talk's.
///
/// Round k = 0, 1, 2 ... hands in the beginning and all that k rounds have added, and
/// writes. Between two rounds something comes back: a tool's result, or the next message.
struct Talk {
    int first;             ///< tokens that it begins with, at least 1
    int more;              ///< tokens that come back after each round, at least 1
    int write;             ///< tokens written in each round, at least 1
    int rounds;            ///< at least 1
    bool forgets = false;  ///< each round begins anew, with what came back alone: many
                           ///< talks of one round; `first` must be `more`
    int block = 32;        ///< positions in a block of the prefix cache

    /// Tokens handed in for round k.
    int prompt(int k) const;

    /// Those of them that a prefix cache knows: what lay in the KV cache at the end of
    /// the round before, in whole blocks. The last token written is not among it: it was
    /// never read.
    int known(int k) const;

    /// What round k is billed for.
    /// @param kept  whether there is a prefix cache
    Usage usage(int k, bool kept) const;

    /// The same talk, broken off after that many rounds.
    Talk shortened(int to) const;
};

/// Tokens of prompts that go through the model, in all rounds together.
std::int64_t tokens_read(const Talk& talk, bool kept);

/// What all rounds cost. Each is a request of its own, rounded as such.
Money bill(const Price& price, const Talk& talk, bool kept);

/// What all rounds should take, each served alone.
Seconds predict(const Engine& engine, const Talk& talk, bool kept);

}  // namespace ledger
