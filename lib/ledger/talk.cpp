#include "ledger/talk.hpp"

namespace ledger {

int Talk::prompt(int k) const { return forgets ? more : first + k * (more + write); }

int Talk::known(int k) const {
    return k == 0 || forgets ? 0 : (prompt(k - 1) + write - 1) / block * block;
}

Usage Talk::usage(int k, bool kept) const {
    return {.input = prompt(k), .cached = kept ? known(k) : 0, .output = write};
}

Talk Talk::shortened(int to) const {
    Talk talk = *this;
    talk.rounds = to;
    return talk;
}

// [closed]
std::int64_t tokens_read(const Talk& talk, bool kept) {
    const std::int64_t r = talk.rounds;
    std::int64_t sum = r * talk.first;
    if (!talk.forgets) sum += (talk.more + talk.write) * (r * (r - 1) / 2);
    for (int k = 0; kept && k < talk.rounds; ++k) sum -= talk.known(k);
    return sum;
}
// [closed]

Money bill(const Price& price, const Talk& talk, bool kept) {
    Money sum;
    for (int k = 0; k < talk.rounds; ++k) sum += cost(price, talk.usage(k, kept));
    return sum;
}

Seconds predict(const Engine& engine, const Talk& talk, bool kept) {
    Seconds sum = 0;
    for (int k = 0; k < talk.rounds; ++k) {
        const int n = talk.prompt(k), past = kept ? talk.known(k) : 0;
        sum += engine.forward({.tokens = n - past, .past = past, .rows = 1});
        for (int i = 0; i < talk.write - 1; ++i)
            sum += engine.forward({.tokens = 1, .past = n + i, .rows = 1});
    }
    return sum;
}

}  // namespace ledger
