#include "lab/traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "gpt2/error.hpp"
#include "gpt2/philox.hpp"

namespace lab {

namespace {

/// A length whose every token is the last with probability 1 / mean.
int length(int mean, double u) {
    if (mean == 1) return 1;
    const double drawn = std::floor(std::log1p(-u) / std::log1p(-1.0 / mean)) + 1;
    return int(std::min(drawn, double(longest_drawn) * mean));
}

}  // namespace

// [draw]
std::vector<Arrival> draw(const Traffic& traffic, std::size_t count, std::uint64_t seed) {
    std::vector<Arrival> arrivals;
    Seconds now = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto uniform = [&](int what) { return gpt2::uniform(seed, i, what); };
        now -= std::log1p(-uniform(0)) / traffic.rate;
        const bool thinks = uniform(3) < traffic.thinking;
        arrivals.push_back({.at = now,
                            .prompt = length(traffic.prompt, uniform(1)),
                            .answer = length(traffic.answer, uniform(2)) +
                                      (thinks ? length(traffic.thoughts, uniform(4)) : 0),
                            .thinks = thinks});
    }
    return arrivals;
}
// [draw]

Clock steady_clock() {
    const Stopwatch watch;
    return {[watch] { return watch.seconds(); },
            [watch](Seconds until) {
                const double left = until - watch.seconds();
                if (left > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(left));
            }};
}

// [serve]
Service serve(gpt2::Model& model, const gpt2::ServeOptions& options, const Clock& clock,
              std::span<const Arrival> arrivals,
              const std::function<std::vector<gpt2::Token>(std::size_t)>& prompt) {
    Service service{};
    for (const Arrival& arrival : arrivals)
        service.answers.push_back({.arrival = arrival});
    gpt2::Scheduler scheduler(model, options, clock.now);
    std::size_t next = 0;
    while (next < arrivals.size() || !scheduler.idle()) {
        for (; next < arrivals.size() && arrivals[next].at <= clock.now(); ++next)
            scheduler.submit({.prompt = prompt(next),
                              .options = {.max_tokens = arrivals[next].answer}});
        if (scheduler.idle()) {
            clock.wait_until(arrivals[next].at);
            continue;
        }
        const gpt2::ServeTotals before = scheduler.totals();
        const Seconds begin = clock.now();
        for (gpt2::Served& served : scheduler.step()) {
            Answered& answer = service.answers[std::size_t(served.id)];
            const Seconds late = served.submitted - answer.arrival.at;
            answer.admitted = late + served.waited;
            for (const Seconds seconds : served.generation.seconds)
                answer.seconds.push_back(late + seconds);
            std::ranges::move(served.generation.tokens,
                              std::back_inserter(answer.tokens));
        }
        service.passes.push_back({clock.now() - begin,
                                  int(scheduler.totals().read - before.read),
                                  int(scheduler.totals().written - before.written)});
    }
    service.totals = scheduler.totals();
    service.seconds = clock.now();
    service.blocks_left = scheduler.blocks();
    return service;
}
// [serve]

bool complete(const Service& service, std::span<const Arrival> arrivals) {
    std::int64_t read = 0, written = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        const Answered& answer = service.answers.at(i);
        const auto tokens = std::size_t(arrivals[i].answer);
        if (answer.tokens.size() != tokens || answer.seconds.size() != tokens)
            return false;
        read += arrivals[i].prompt;
        written += arrivals[i].answer;
    }
    const gpt2::ServeTotals& totals = service.totals;
    return service.answers.size() == arrivals.size() && totals.read == read &&
           totals.written == written && totals.cancelled == 0 &&
           totals.served == std::int64_t(arrivals.size()) && service.blocks_left == 0;
}

Waits waits(std::vector<Seconds> all) {
    const Seconds sum = std::accumulate(all.begin(), all.end(), 0.0);
    const std::size_t rank = (all.size() * 95 + 99) / 100;  // the first one is rank 1
    const auto at = all.begin() + std::ptrdiff_t(rank - 1);
    std::ranges::nth_element(all, at);
    return {sum / double(all.size()), *at};
}

Mean mean_of(std::span<const double> values) {
    constexpr std::size_t stretches = 20;
    const std::size_t each = values.size() / stretches;
    std::vector<double> means;
    for (std::size_t i = 0; i < stretches; ++i) {
        const auto part = values.subspan(i * each, each);
        means.push_back(std::accumulate(part.begin(), part.end(), 0.0) / double(each));
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / stretches;
    double squares = 0;
    for (const double one : means) squares += (one - mean) * (one - mean);
    return {mean, std::sqrt(squares / stretches / (stretches - 1))};
}

Seen seen(const Service& service, Seconds from,
          const std::function<bool(const Arrival&)>& counted) {
    std::vector<Seconds> firsts, beats;
    for (const Answered& answer : service.answers) {
        const std::vector<Seconds>& seconds = answer.seconds;
        if (answer.arrival.at < from || seconds.empty() ||
            (counted && !counted(answer.arrival)))
            continue;
        firsts.push_back(seconds.front());
        for (std::size_t i = 1; i < seconds.size(); ++i)
            beats.push_back(seconds[i] - seconds[i - 1]);
    }
    if (beats.empty())
        throw gpt2::BadInput(
            "traffic: expected a request that is counted and is "
            "answered with two tokens or more, found none");
    return {waits(std::move(firsts)), waits(std::move(beats))};
}

double capacity(const Answered& answer) {
    double sum = 0;
    Seconds before = answer.admitted;
    double held = answer.arrival.prompt;
    for (const Seconds now : answer.seconds) {
        sum += held * (now - before);
        before = now;
        ++held;
    }
    return sum;
}

}  // namespace lab
