#include "lab/simulated.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "gpt2/cpu/engine.hpp"
#include "support.hpp"

namespace {

using ledger::Step;
using testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();
const gpt2::ServeOptions plain{
    .blocks = 100, .together = 4, .chunk = 16, .prefixes = false};

/// A second a step, and one more for each token.
double a_second_each(std::span<const Step> steps) {
    double seconds = 1;
    for (const Step& step : steps) seconds += step.tokens;
    return seconds;
}

}  // namespace

TEST(Simulated, AsksTheLedgerForEveryStep) {
    std::vector<std::vector<std::array<int, 3>>> asked;
    const auto cost = [&](std::span<const Step> steps) {
        asked.emplace_back();
        for (const Step& s : steps) asked.back().push_back({s.tokens, s.past, s.rows});
        return 0.5;
    };
    // 20 tokens are read in two chunks; what is left of the second is the next one's.
    const std::vector<lab::Arrival> arrivals{{.at = 0, .prompt = 20, .answer = 3},
                                             {.at = 0, .prompt = 5, .answer = 2}};
    const lab::Service service = lab::simulate(cost, plain, arrivals);
    using Triple = std::array<int, 3>;
    EXPECT_THAT(asked, ElementsAre(ElementsAre(Triple{16, 0, 0}),
                                   ElementsAre(Triple{4, 16, 1}, Triple{5, 0, 1}),
                                   ElementsAre(Triple{1, 20, 1}, Triple{1, 5, 1}),
                                   ElementsAre(Triple{1, 21, 1})));
    EXPECT_TRUE(complete(service, arrivals));
    EXPECT_THAT(service.answers[0].seconds, ElementsAre(1, 1.5, 2));
    EXPECT_THAT(service.answers[1].seconds, ElementsAre(1, 1.5));
    EXPECT_EQ(service.answers[0].admitted, 0);
    EXPECT_EQ(service.answers[1].admitted, 0.5);
    EXPECT_THAT(service.answers[1].tokens, ElementsAre(0, 0));
    EXPECT_EQ(service.seconds, 2);
    ASSERT_EQ(service.passes.size(), 4u);
    EXPECT_EQ(service.passes[1].read, 9);
    EXPECT_EQ(service.passes[1].written, 2);
    EXPECT_EQ(service.passes[1].seconds, 0.5);
    EXPECT_EQ(service.tokens_per_second(), 2.5);
    EXPECT_EQ(service.answers_per_second(), 1);
}

TEST(Simulated, WaitsCountFromTheArrival) {
    // The second one comes while a step of 6 seconds runs; the third after an idle time.
    const std::vector<lab::Arrival> arrivals{{.at = 2, .prompt = 5, .answer = 1},
                                             {.at = 3, .prompt = 1, .answer = 1},
                                             {.at = 50, .prompt = 2, .answer = 2}};
    const lab::Service service = lab::simulate(a_second_each, plain, arrivals);
    EXPECT_THAT(service.answers[0].seconds, ElementsAre(6));
    EXPECT_EQ(service.answers[1].admitted, 5);
    EXPECT_THAT(service.answers[1].seconds, ElementsAre(7));
    EXPECT_THAT(service.answers[2].seconds, ElementsAre(3, 5));
    EXPECT_EQ(service.answers[2].admitted, 0);
    EXPECT_EQ(service.seconds, 55);
}

TEST(Simulated, MakesTheStepsOfARealModel) {
    const gpt2::Config config{50, 300, 24, 1, 2};
    const auto model = gpt2::cpu::load(*gpt2::random_weights(config, 4), gpt2::DType::f32,
                                       gpt2::DType::f32, 1);
    // Room for few, so that some must wait for blocks.
    const gpt2::ServeOptions tight{
        .blocks = 6, .together = 4, .chunk = 16, .prefixes = false};
    const auto arrivals =
        lab::draw({.rate = infinity, .prompt = 20, .answer = 10}, 60, 5);
    const lab::Service simulated = lab::simulate(a_second_each, tight, arrivals);
    const lab::Service real =
        lab::serve(*model, tight, lab::steady_clock(), arrivals, [&](std::size_t i) {
            return support::random_tokens(arrivals[i].prompt, 50, unsigned(i));
        });
    EXPECT_TRUE(complete(real, arrivals));
    EXPECT_TRUE(complete(simulated, arrivals));
    ASSERT_EQ(real.passes.size(), simulated.passes.size());
    for (std::size_t i = 0; i < real.passes.size(); ++i) {
        EXPECT_EQ(real.passes[i].read, simulated.passes[i].read) << i;
        EXPECT_EQ(real.passes[i].written, simulated.passes[i].written) << i;
    }
    EXPECT_EQ(real.totals.most_together, simulated.totals.most_together);
    EXPECT_EQ(real.totals.most_blocks, simulated.totals.most_blocks);
    EXPECT_EQ(model->new_cache().pool()->blocks_in_use(), 0);
}

TEST(Simulated, IsTheSameEachTime) {
    const auto arrivals = lab::draw({.rate = 0.1, .prompt = 20, .answer = 10}, 300, 1);
    const lab::Service a = lab::simulate(a_second_each, plain, arrivals);
    const lab::Service b = lab::simulate(a_second_each, plain, arrivals);
    EXPECT_EQ(a.seconds, b.seconds);
    for (std::size_t i = 0; i < arrivals.size(); ++i)
        EXPECT_EQ(a.answers[i].seconds, b.answers[i].seconds);
}

// What the requests held, one by one, is what the machine held, step by step.
TEST(Simulated, CapacityAddsUp) {
    double held = 0;
    const auto cost = [&](std::span<const Step> steps) {
        const double seconds = a_second_each(steps);
        for (const Step& step : steps) held += (step.past + step.tokens) * seconds;
        return seconds;
    };
    gpt2::ServeOptions whole = plain;
    whole.chunk = 1000;  // a prompt is there as soon as it is admitted
    const auto arrivals = lab::draw({.rate = 0.05, .prompt = 20, .answer = 10}, 200, 2);
    const lab::Service service = lab::simulate(cost, whole, arrivals);
    double sum = 0;
    for (const lab::Answered& answer : service.answers) sum += lab::capacity(answer);
    EXPECT_NEAR(sum / held, 1, 1e-9);
}

TEST(Simulated, RefusesWhatTheSchedulerRefuses) {
    const std::vector<lab::Arrival> arrivals{{.at = 0, .prompt = 5000, .answer = 1}};
    support::bad_input([&] { lab::simulate(a_second_each, plain, arrivals); });
}
