#include "ledger/odds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpt2/error.hpp"

namespace ledger {

namespace {

constexpr int most_tries = 1'000'000;

void check_probability(const char* what, double p) {
    if (!(p >= 0 && p <= 1))
        throw gpt2::BadInput(fmt::format("odds: {}: expected 0 to 1, found {}", what, p));
}

void check(double p, int n, int least) {
    check_probability("p", p);
    if (n < least || n > most_tries)
        throw gpt2::BadInput(fmt::format("odds: tries: expected {} to {}, found {}",
                                         least, most_tries, n));
}

void check(const Answering& answering) {
    check_probability("right", answering.right);
    if (!(answering.cost >= 0) || !std::isfinite(answering.cost))
        throw gpt2::BadInput(
            fmt::format("odds: cost: expected 0 or more, found {}", answering.cost));
}

Answering mix(double share, const Answering& a, const Answering& b) {
    return {(1 - share) * a.right + share * b.right,
            (1 - share) * a.cost + share * b.cost};
}

}  // namespace

// [any]
double any_right(double p, int n) {
    check(p, n, 0);
    if (n == 0) return 0;
    // 1 - (1 - p)^n, without losing the digits of a small p.
    return -std::expm1(n * std::log1p(-p));
}
// [any]

double tries_until_right(double p, int n) {
    check(p, n, 0);
    // Try i + 1 is made where the first i were wrong: (1 - p)^0 + ... + (1 - p)^(n - 1).
    return p > 0 ? any_right(p, n) / p : n;
}

int samples_needed(double p, double wanted) {
    check(p, 1, 1);
    check_probability("wanted", wanted);
    if (wanted == 0) return 0;
    if (p == 1) return 1;
    const double n = std::ceil(std::log1p(-wanted) / std::log1p(-p));
    if (!(n <= most_tries))
        throw gpt2::BadInput(fmt::format(
            "odds: {} tries are not enough for {} with p = {}", most_tries, wanted, p));
    // A quotient of logarithms may be a hair beside a whole number. What counts is
    // any_right itself.
    int needed = n < 1 ? 1 : int(n);
    while (needed > 1 && any_right(p, needed - 1) >= wanted) --needed;
    while (needed < most_tries && any_right(p, needed) < wanted) ++needed;
    return needed;
}

double exactly_right(double p, int n, int k) {
    check(p, n, 0);
    if (k < 0 || k > n)
        throw gpt2::BadInput(
            fmt::format("odds: right: expected 0 to {}, found {}", n, k));
    if (p == 0 || p == 1) return k == (p == 0 ? 0 : n) ? 1 : 0;
    const double ways =
        std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
    return std::exp(ways + k * std::log(p) + (n - k) * std::log1p(-p));
}

// [majority]
double majority_right(double p, int n, Tie tie) {
    check(p, n, 1);
    double sum = 0;
    for (int k = n; 2 * k > n; --k) sum += exactly_right(p, n, k);
    if (n % 2 == 0 && tie != Tie::lost)
        sum += exactly_right(p, n, n / 2) * (tie == Tie::tossed ? 0.5 : 1);
    return std::min(sum, 1.0);
}
// [majority]

// [route]
Answering route(double hard_share, const Kind& easy, const Kind& hard,
                const Judge& judge) {
    check_probability("share", hard_share);
    check_probability("judge", judge.easy_taken_for_hard);
    check_probability("judge", judge.hard_taken_for_easy);
    for (const Kind& kind : {easy, hard})
        for (const Answering& answering : {kind.brief, kind.careful}) check(answering);
    return mix(hard_share, mix(judge.easy_taken_for_hard, easy.brief, easy.careful),
               mix(judge.hard_taken_for_easy, hard.careful, hard.brief));
}
// [route]

}  // namespace ledger
