#pragma once

#include <optional>

namespace ledger {

/// What a model costs in all its life: something once, for training, and something for
/// every use. Both in one unit, whichever: the course's own, FLOPs, seconds of a machine.
struct Life {
    double once;  ///< before the first use
    double use;   ///< for each use: an answer, or a token written

    /// All that was spent after so many uses.
    double after(double uses) const { return once + uses * use; }
};

/// The life of a transformer in FLOPs, a use being a token read or written: 6 for each
/// parameter and token of training, of which the pass forward takes 2 and the pass back
/// 4, and 2 for each parameter and token of use (Kaplan et al. 2020, section 2.1).
/// Attention to what came before is left out.
/// @param parameters, tokens  of the model, and those that it was trained on
/// @throws gpt2::BadInput unless both are finite and positive
Life flops_of_life(double parameters, double tokens);

/// Uses from which on `small` has cost no more than `large`, for good: 0 where
/// that is so from the start. Nothing where there is no such number.
/// @throws gpt2::BadInput unless all costs are finite and none is negative
std::optional<double> break_even(const Life& small, const Life& large);

}  // namespace ledger
