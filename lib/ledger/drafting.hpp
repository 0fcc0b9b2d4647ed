#pragma once

#include <functional>

#include "ledger/cost.hpp"

/// Speculative decoding by arithmetic: what guesses bring, what they cost, and how many
/// of them to make. Source: Leviathan et al. 2023.
namespace ledger {

/// Tokens that a pass of the target writes on average, where each of `guesses` is as
/// likely to be right as the others: those up to the first wrong one, and one of the
/// target's own. The sum 1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a).
/// @param acceptance  chance of a guess, where all before it were right; 0 to 1
/// @throws gpt2::BadInput for another acceptance, or fewer than 0 guesses
double tokens_per_trip(double acceptance, int guesses);

/// What a trip costs with that many guesses: the draft's passes and the target's. Trips
/// with 0 are plain decoding.
using TripCost = std::function<Seconds(int guesses)>;

/// The trips of a model whose cache holds `past` positions: one pass over the guesses and
/// the token before them, with a row of logits for each.
/// @param guess  what the draft takes for a guess
TripCost trip_cost(const Engine& target, int past, Seconds guess);

/// How many times as many tokens a second as plain decoding.
/// @throws gpt2::BadInput as tokens_per_trip
double speed_up(double acceptance, int guesses, const TripCost& cost);

/// The number of guesses that is fastest, from 0, which is plain decoding, to `most`; of
/// equal ones the least.
/// @throws gpt2::BadInput as tokens_per_trip
int best_guesses(double acceptance, int most, const TripCost& cost);

}  // namespace ledger
