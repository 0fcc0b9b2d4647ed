#include "ledger/life.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpt2/error.hpp"

namespace ledger {

namespace {

void check(const Life& life) {
    for (const double cost : {life.once, life.use})
        if (!(std::isfinite(cost) && cost >= 0))
            throw gpt2::BadInput(
                fmt::format("life: expected a cost of 0 or more, found {}", cost));
}

}  // namespace

Life flops_of_life(double parameters, double tokens) {
    for (const double count : {parameters, tokens})
        if (!(std::isfinite(count) && count > 0))
            throw gpt2::BadInput(fmt::format(
                "life: expected parameters and tokens above 0, found {}", count));
    return {6 * parameters * tokens, 2 * parameters};
}

// [break_even]
std::optional<double> break_even(const Life& small, const Life& large) {
    check(small);
    check(large);
    const double dearer = small.once - large.once;  // to train
    const double saved = large.use - small.use;     // with each use
    if (saved > 0) return std::max(0.0, dearer / saved);
    if (saved == 0 && dearer <= 0) return 0;
    return {};
}
// [break_even]

}  // namespace ledger
