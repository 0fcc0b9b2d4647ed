#include "ledger/thinking.hpp"

namespace ledger {

std::int64_t Way::held(int i) const {
    const std::int64_t prompts = shared ? 1 : copies;
    return prompts * prompt + std::int64_t(copies) * i;
}

std::vector<Step> Way::batch(int i) const {
    if (i == 0)
        return std::vector(std::size_t(shared ? 1 : copies), Step{.tokens = prompt});
    return std::vector(std::size_t(copies), Step{.tokens = 1, .past = prompt + i - 1});
}

// [stay]
Seconds Fetching::pass(const Way& way, int i) const {
    return (weights + kv * double(way.held(i))) / bandwidth;
}

Stay stay(const Way& way, const std::function<Seconds(int)>& seconds) {
    Stay sum;
    for (int i = 0; i < way.passes(); ++i) {
        const Seconds pass = seconds(i);
        sum.wait += pass;
        if (i <= way.thinking) sum.first += pass;
        sum.capacity += double(way.held(i)) * pass;
    }
    return sum;
}
// [stay]

}  // namespace ledger
