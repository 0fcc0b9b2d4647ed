#include "ledger/drafting.hpp"

#include "gpt2/error.hpp"

namespace ledger {

// [tokens]
double tokens_per_trip(double acceptance, int guesses) {
    if (!(acceptance >= 0 && acceptance <= 1) || guesses < 0)
        throw gpt2::BadInput(
            "ledger: drafting: expected an acceptance from 0 to 1 and at least 0 "
            "guesses, "
            "found " +
            std::to_string(acceptance) + " and " + std::to_string(guesses));
    double tokens = 0, still_right = 1;
    for (int i = 0; i <= guesses; ++i, still_right *= acceptance) tokens += still_right;
    return tokens;
}
// [tokens]

// [cost]
TripCost trip_cost(const Engine& target, int past, Seconds guess) {
    return [=](int guesses) {
        return guesses * guess +
               target.forward({.tokens = guesses + 1, .past = past, .rows = guesses + 1});
    };
}

double speed_up(double acceptance, int guesses, const TripCost& cost) {
    return tokens_per_trip(acceptance, guesses) * cost(0) / cost(guesses);
}

int best_guesses(double acceptance, int most, const TripCost& cost) {
    int best = 0;
    double fastest = 1;
    for (int guesses = 1; guesses <= most; ++guesses) {
        const double times = speed_up(acceptance, guesses, cost);
        if (times <= fastest) continue;
        best = guesses;
        fastest = times;
    }
    return best;
}
// [cost]

}  // namespace ledger
