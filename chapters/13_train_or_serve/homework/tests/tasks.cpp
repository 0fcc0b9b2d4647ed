// What the homework of chapter 13 is graded by.

#include <map>

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/life.hpp"

namespace {

using homework::Lead;
using homework::Life;
using homework::Random;
using homework::Student;
using std::optional;

Life any_life(Random& random, int most_once, int most_use) {
    return {double(random.whole(0, most_once)), double(random.whole(0, most_use))};
}

void break_even(Student& student, Random& random) {
    const auto expect = [&](const char* what, optional<double> expected,
                            const Life& small, const Life& large) {
        student.expect(what, expected, 1e-9, small, large);
    };
    expect("only what its training cost more has to come back", 50, {150, 1},
           {100, 2});
    expect("question 4: at 300 they meet after 200", 200, {300, 1}, {100, 2});
    expect("the number of uses need not be whole", 2.5, {15, 2}, {10, 4});
    expect("who is cheaper to train and to use has won from the start", 0, {80, 1},
           {100, 2});
    expect("who is dearer to use never wins for good", {}, {150, 3}, {100, 2});
    expect("who is cheaper to train and dearer to use does not win for good", {},
           {80, 3}, {100, 2});
    expect("the same use pays nothing back", {}, {150, 2}, {100, 2});
    expect("the same use and a cheaper training have won from the start", 0, {80, 2},
           {100, 2});
    expect("alike in both is no dearer", 0, {100, 2}, {100, 2});
    for (int i = 0; i < 40; ++i) {
        const Life small = any_life(random, 1000, 6),
                   large = any_life(random, 1000, 6);
        expect("random lives meet where they should",
               ledger::break_even({small.once, small.use}, {large.once, large.use}),
               small, large);
    }
    for (int i = 0; i < 20; ++i) {
        const Life small{random.real(0, 1e9), random.real(0, 1)};
        const Life large{random.real(0, 1e9), random.real(0, 1)};
        expect("random lives meet where they should",
               ledger::break_even({small.once, small.use}, {large.once, large.use}),
               small, large);
    }
}

/// By another way: who is the cheapest just behind each point where two lines meet.
/// All costs are whole numbers, so all sums are exact.
std::vector<Lead> leads_of(const std::vector<Life>& models) {
    using Whole = std::int64_t;
    std::map<double, std::pair<Whole, Whole>> points{{0, {0, 1}}};  // as fractions
    for (const Life& a : models)
        for (const Life& b : models) {
            const auto uses = Whole(a.once - b.once), saved = Whole(b.use - a.use);
            if (saved > 0 && uses > 0)
                points[double(uses) / double(saved)] = {uses, saved};
        }
    std::vector<Lead> leads;
    for (const auto& [at, fraction] : points) {
        const auto [uses, of] = fraction;
        const auto cost = [&, u = uses, o = of](int i) {
            return std::pair(Whole(models[i].once) * o + Whole(models[i].use) * u,
                             Whole(models[i].use));
        };
        int best = 0;
        for (int i = 1; i < int(models.size()); ++i)
            if (cost(i) < cost(best)) best = i;
        if (leads.empty() || leads.back().model != best) leads.push_back({best, at});
    }
    return leads;
}

void cheapest(Student& student, Random& random) {
    const auto expect = [&](const char* what, const std::vector<Lead>& expected,
                            const std::vector<Life>& models) {
        student.expect(what, expected, 1e-9, models);
    };
    expect("a model alone leads for ever", {{0, 0}}, {{100, 2}});
    expect("the small one takes over where they meet", {{0, 0}, {1, 50}},
           {{100, 2}, {150, 1}});
    expect("the order of the list does not matter", {{1, 0}, {0, 50}},
           {{150, 1}, {100, 2}});
    expect("who is dearer in both never leads", {{0, 0}}, {{100, 2}, {150, 3}});
    expect("each lead is taken from the model that had it",
           {{0, 0}, {1, 20}, {2, 100}}, {{100, 4}, {140, 2}, {240, 1}});
    expect("who comes too late never leads", {{0, 0}, {2, 20}},
           {{100, 4}, {170, 3}, {160, 1}});
    expect("of those that meet at one point the cheapest to use goes on",
           {{0, 0}, {2, 50}}, {{100, 3}, {150, 2}, {200, 1}});
    expect("of two that cost the same to train the cheaper use leads", {{1, 0}},
           {{100, 2}, {100, 1}});
    expect("of models alike the first one leads", {{0, 0}, {2, 50}},
           {{100, 2}, {100, 2}, {150, 1}, {150, 1}});
    for (int i = 0; i < 40; ++i) {
        std::vector<Life> models(std::size_t(random.whole(1, 12)));
        for (Life& life : models)
            life =
                i % 2 == 0 ? any_life(random, 20, 6) : any_life(random, 100'000, 50);
        expect("random models lead where they should", leads_of(models), models);
    }
}

const homework::Registered homework_13({
    .name = "13_train_or_serve",
    .tasks =
        {{.name = "break_even",
          .points = 4,
          .hint = "What was dearer once, and what is saved each time? Both "
                  "differences may have either sign, or be 0.",
          .hint_zh = "一次性多花了多少，每用一次省下多少？两个差都可正可负，也可以"
                     "是零。",
          .test = break_even},
         {.name = "cheapest",
          .points = 6,
          .hint = "Stand on the line that leads. Which of the others crosses it "
                  "first? Draw three lines before you sort anything.",
          .hint_zh = "站在领先的那条线上看：别的线里，谁最先跟它相交？先画三条线，"
                     "再想要不要排序。",
          .test = cheapest}},
});

}  // namespace
