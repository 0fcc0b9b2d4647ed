#pragma once

#include <span>
#include <vector>

#include "gpt2/generate.hpp"
#include "lab/experiment.hpp"
#include "lab/measured.hpp"

namespace lab {

/// The beats of a text: seconds from each token to the next, one fewer than its tokens.
std::vector<double> beats(const gpt2::Generation& written);

/// One text, written several times.
struct Writing {
    Measured total;                      ///< seconds from the prompt to the last token
    std::vector<gpt2::Generation> runs;  ///< those that count, at least one

    Measured first_token() const;  ///< seconds, over the runs
    Measured beat() const;         ///< over all beats of all runs; needs two tokens
};

/// The last `n` of these runs: a warm-up, where there was one, does not count.
Writing last_runs(std::vector<gpt2::Generation> runs, int n);

/// Reads a prompt into an empty cache and writes behind it, as often as the time allows
/// (see Experiment::time). A warm-up, where there is one, does not count.
/// @throws BadInput as gpt2::generate
Writing time_writing(Experiment& lab, gpt2::Model& model,
                     std::span<const gpt2::Token> prompt,
                     const gpt2::GenerateOptions& options);

}  // namespace lab
