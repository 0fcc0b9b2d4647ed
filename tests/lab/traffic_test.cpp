#include "lab/traffic.hpp"

#include <algorithm>
#include <limits>

#include "gpt2/philox.hpp"
#include "support.hpp"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

lab::Service answered(std::vector<std::vector<double>> seconds) {
    lab::Service service{};
    for (auto& one : seconds) {
        lab::Answered answer{{.at = double(service.answers.size()),
                              .prompt = 3,
                              .answer = int(one.size())},
                             0,
                             one,
                             std::vector<gpt2::Token>(one.size())};
        service.answers.push_back(answer);
    }
    return service;
}

}  // namespace

TEST(Traffic, ComesAtItsRateWithItsLengths) {
    const auto all = lab::draw(
        {.rate = 5, .prompt = 100, .answer = 30, .thinking = 0.25, .thoughts = 400},
        40000, 3);
    double prompt = 0, answer = 0, thinkers = 0, before = 0, short_gaps = 0;
    for (const lab::Arrival& a : all) {
        EXPECT_GE(a.at, before);
        EXPECT_TRUE(a.prompt >= 1 && a.prompt <= 400);
        EXPECT_TRUE(a.answer >= 1 && a.answer <= (a.thinks ? 120 + 1600 : 120));
        short_gaps += a.at - before < 0.2 * std::log(2);
        prompt += a.prompt;
        answer += a.answer;
        thinkers += a.thinks;
        before = a.at;
    }
    const double n = double(all.size());
    EXPECT_NEAR(all.back().at, n / 5, 200);
    EXPECT_NEAR(short_gaps / n, 0.5, 0.01);  // half of the gaps are below the median
    // What is cut off above four times the mean takes e^-4 of it away.
    EXPECT_NEAR(prompt / n, 100 * (1 - std::exp(-4)), 2);
    EXPECT_NEAR(thinkers / n, 0.25, 0.01);
    EXPECT_NEAR(answer / n, (30 + 100) * (1 - std::exp(-4)), 3);
}

TEST(Traffic, ARequestDependsOnSeedAndNumberAlone) {
    const lab::Traffic plain{.rate = 1, .prompt = 50, .answer = 20};
    lab::Traffic faster = plain, thinking = plain;
    faster.rate = 4;
    thinking.thinking = 0.5;
    const auto a = lab::draw(plain, 500, 1), b = lab::draw(faster, 500, 1),
               c = lab::draw(thinking, 300, 1), d = lab::draw(plain, 500, 2);
    bool differ = false;
    for (std::size_t i = 0; i < 300; ++i) {
        EXPECT_NEAR(a[i].at, 4 * b[i].at, 1e-9);
        EXPECT_EQ(a[i].prompt, b[i].prompt);
        EXPECT_EQ(a[i].at, c[i].at);
        EXPECT_EQ(a[i].prompt, c[i].prompt);
        EXPECT_EQ(a[i].answer < c[i].answer, c[i].thinks);
        EXPECT_TRUE(c[i].thinks || a[i].answer == c[i].answer);
        differ |= a[i].prompt != d[i].prompt;
    }
    EXPECT_TRUE(differ);
}

TEST(Traffic, AllAtOnceAndOneTokenEach) {
    for (const lab::Arrival& a :
         lab::draw({.rate = infinity, .prompt = 1, .answer = 1}, 50, 9)) {
        EXPECT_EQ(a.at, 0);
        EXPECT_EQ(a.prompt, 1);
        EXPECT_EQ(a.answer, 1);
    }
}

TEST(Waits, MeanAndPercentile) {
    std::vector<double> all;
    for (int i = 100; i >= 1; --i) all.push_back(i);
    EXPECT_DOUBLE_EQ(lab::waits(all).mean, 50.5);
    EXPECT_EQ(lab::waits(all).p95, 95);
    all.push_back(101);
    EXPECT_EQ(lab::waits(all).p95, 96);
    EXPECT_EQ(lab::waits({7}).p95, 7);
    EXPECT_EQ(lab::waits({2, 1}).p95, 2);
}

TEST(Mean, HasTheErrorOfItsStretches) {
    EXPECT_EQ(lab::mean_of(std::vector<double>(40, 3)).value, 3);
    EXPECT_EQ(lab::mean_of(std::vector<double>(40, 3)).error, 0);
    // Independent uniform numbers: standard deviation 0.289, over the root of 20,000.
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) values.push_back(gpt2::uniform(1, 0, i));
    const lab::Mean mean = lab::mean_of(values);
    EXPECT_NEAR(mean.value, 0.5, 4 * mean.error);
    EXPECT_NEAR(mean.error, 0.289 / std::sqrt(20000.0), 0.001);
    // Twenty stretches that each stay at their value: as few as twenty numbers.
    std::vector<double> alike;
    for (int i = 0; i < 20; ++i) alike.insert(alike.end(), 100, i);
    EXPECT_NEAR(lab::mean_of(alike).error, std::sqrt(399 / 12.0 / 19), 1e-9);
}

TEST(Seen, TellsFirstTokensFromBeats) {
    const lab::Service service = answered({{1, 2, 4}, {3}, {2, 7}});
    const lab::Seen all = lab::seen(service);
    EXPECT_DOUBLE_EQ(all.first.mean, 2);
    EXPECT_EQ(all.first.p95, 3);
    EXPECT_DOUBLE_EQ(all.beat.mean, (1 + 2 + 5) / 3.0);
    EXPECT_EQ(all.beat.p95, 5);
    // Request i came at second i.
    EXPECT_DOUBLE_EQ(lab::seen(service, 0.5).first.mean, 2.5);
    const auto first = [](const lab::Arrival& a) { return a.at == 0; };
    EXPECT_EQ(lab::seen(service, 0, first).beat.p95, 2);
    support::bad_input([&] { lab::seen(service, 3); });
    support::bad_input([&] { lab::seen(answered({{1}})); });
}

TEST(Capacity, IsWhatLiesInTheCacheTimesHowLong) {
    // Admitted at 1, three tokens of prompt: 3 x 1, then 4 x 2, then 5 x 3.
    const lab::Answered answer{{.at = 0, .prompt = 3, .answer = 3}, 1, {2, 4, 7}, {}};
    EXPECT_DOUBLE_EQ(lab::capacity(answer), 3 + 8 + 15);
}

TEST(Complete, FindsWhatIsMissing) {
    lab::Service service = answered({{1, 2}, {3}});
    std::vector<lab::Arrival> arrivals{service.answers[0].arrival,
                                       service.answers[1].arrival};
    service.totals = {.read = 6, .written = 3, .served = 2};
    EXPECT_TRUE(complete(service, arrivals));
    for (auto* wrong : {&service.totals.read, &service.totals.written,
                        &service.totals.served, &service.totals.cancelled}) {
        ++*wrong;
        EXPECT_FALSE(complete(service, arrivals));
        --*wrong;
    }
    service.blocks_left = 1;
    EXPECT_FALSE(complete(service, arrivals));
    service.blocks_left = 0;
    service.answers[1].tokens.clear();
    EXPECT_FALSE(complete(service, arrivals));
}

TEST(SteadyClock, GoesOnAndSleeps) {
    const lab::Clock clock = lab::steady_clock();
    const double now = clock.now();
    clock.wait_until(now + 0.01);
    EXPECT_GE(clock.now(), now + 0.01);
    clock.wait_until(now);  // long past
}
