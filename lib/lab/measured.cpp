#include "lab/measured.hpp"

#include <algorithm>

namespace lab {

Measured summarize(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {values.front(), median, values.back(), int(values.size())};
}

Measured operator/(double n, const Measured& seconds) {
    return {n / seconds.max, n / seconds.median, n / seconds.min, seconds.runs};
}

Measured operator/(const Measured& a, const Measured& b) {
    return {a.min / b.max, a.median / b.median, a.max / b.min, std::min(a.runs, b.runs)};
}

Plan plan(const Budget& budget, Seconds one_run) {
    if (one_run > budget.no_repeat) return {false, 1};
    if (one_run > budget.seconds) return {false, budget.least_runs};
    constexpr double most = 50;
    const double fitting = std::min(most, budget.seconds / std::max(one_run, 1e-9));
    return {true, std::max(budget.least_runs, int(fitting))};
}

Measured measure(const std::function<void()>& work, const Budget& budget,
                 const std::function<void(int done, int all, Seconds one)>& progress) {
    const auto timed = [&] {
        const Stopwatch watch;
        work();
        return watch.seconds();
    };
    const Seconds first = timed();
    const Plan planned = plan(budget, first);
    std::vector<double> seconds;
    if (!planned.warm_up) seconds.push_back(first);
    for (int done = 1; done < planned.all_runs(); ++done) {
        progress(done, planned.all_runs(), first);
        seconds.push_back(timed());
    }
    return summarize(std::move(seconds));
}

}  // namespace lab
