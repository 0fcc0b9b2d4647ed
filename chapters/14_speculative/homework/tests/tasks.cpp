// What the homework of chapter 14 is graded by.

#include "../given.hpp"
#include "gpt2/speculative.hpp"
#include "homework/task.hpp"

namespace {

using homework::Random;
using homework::Student;
using homework::Trip;
using homework::Verdict;
using Law = std::vector<double>;

std::vector<gpt2::Candidate> candidates(const Law& law) {
    std::vector<gpt2::Candidate> all;
    for (int i = 0; i < int(law.size()); ++i)
        if (law[i] > 0) all.push_back({gpt2::Token(i), law[i]});
    return all;
}

Verdict due(const Law& target, const Law& draft, int guess, double keep,
            double draw) {
    const auto p = candidates(target), q = candidates(draft);
    if (keep < gpt2::acceptance(p, q, gpt2::Token(guess))) return {true, guess};
    return {false, int(gpt2::draw(gpt2::remainder(p, q), draw))};
}

Law any_law(Random& random, int n) {
    Law law(n);
    double sum = 0;
    for (double& p : law)
        sum += p = random.whole(0, 3) == 0 ? 0 : random.real(0.01, 1);
    if (sum == 0) sum = law[0] = 1;
    for (double& p : law) p /= sum;
    return law;
}

void accept(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Verdict& expected,
                            const Law& target, const Law& draft, int guess,
                            double keep, double draw) {
        student.expect(what, expected, 0, target, draft, guess, keep, draw);
    };
    const Law p{0.25, 0.5, 0.25}, q{0.5, 0.25, 0.25};
    expect("a guess that the target likes better than the draft is kept", {true, 1},
           p, q, 1, 0.75, 0.5);
    expect("a guess that both like alike is kept", {true, 2}, p, q, 2, 0.75, 0.5);
    expect("a guess that the draft makes twice too often is kept half of the time",
           {true, 0}, p, q, 0, 0.25, 0.5);
    expect("the other half is drawn from the remainder", {false, 1}, p, q, 0, 0.5,
           0.125);
    const Law wide{0.125, 0.25, 0.5, 0.125}, sure{0.75, 0.125, 0.125, 0};
    expect("what the target has no more of than the draft is not drawn", {false, 1},
           wide, sure, 0, 0.5, 0);
    expect("the remainder is made to add up to 1", {false, 2}, wide, sure, 0, 0.5,
           0.625);
    expect("the remainder reaches to the last token", {false, 3}, wide, sure, 0, 0.5,
           0.875);
    expect("what the target never writes is never kept", {false, 2}, {0, 0.25, 0.75},
           {0.5, 0.5, 0}, 0, 0, 0);
    expect("what the target never writes is never drawn", {false, 1}, {0, 1, 0},
           {0.5, 0.5, 0}, 0, 0, 0.875);
    for (int i = 0; i < 60; ++i) {
        const int n = random.whole(2, i % 4 == 0 ? 200 : 8);
        const Law target = any_law(random, n), draft = any_law(random, n);
        int guess = random.whole(0, n - 1);
        while (draft[guess] == 0) guess = (guess + 1) % n;
        const double keep = random.real(0, 1), draw = random.real(0, 1);
        expect("random guesses become what they should",
               due(target, draft, guess, keep, draw), target, draft, guess, keep,
               draw);
    }
}

/// Each member has a name of its own, so that a message says which is wrong.
void expect_trip(Student& student, const std::string& what, const Trip& expected,
                 int past, const std::vector<int>& guesses,
                 const std::vector<int>& best, int end) {
    student.checking(what);
    const Trip found = student.call<Trip>(past, guesses, best, end);
    if (found.written != expected.written)
        student.fail(homework::show(expected), homework::show(found));
    student.checking(what + ": and the cache holds all but the last token written");
    if (found.held != expected.held)
        student.fail(homework::show(expected), homework::show(found));
}

void trip(Student& student, Random& random) {
    constexpr int end = 99;
    const auto expect = [&](const char* what, const Trip& expected, int past,
                            const std::vector<int>& guesses,
                            const std::vector<int>& best) {
        expect_trip(student, what, expected, past, guesses, best, end);
    };
    expect("without a guess it is plain decoding", {{5}, 11}, 10, {}, {5});
    expect("a wrong guess gives way to the target's token", {{5}, 11}, 10, {4, 6},
           {5, 7, 8});
    expect("guesses are kept up to the first that is wrong, and one token more",
           {{4, 6, 8}, 13}, 10, {4, 6, 7, 9}, {4, 6, 8, 9, 1});
    expect("the last guess is checked like the others", {{4, 6, 8}, 13}, 10,
           {4, 6, 7}, {4, 6, 8, 1});
    expect("where all are right the last row gives one token more",
           {{4, 6, 7, 1}, 14}, 10, {4, 6, 7}, {4, 6, 7, 1});
    expect("nothing is written behind the end", {{4, end}, 12}, 10, {4, end, 7},
           {4, end, 7, 1});
    expect("the target may end the text where the draft would not", {{4, end}, 12},
           10, {4, 6, 7}, {4, end, 7, 1});
    expect("a draft that ends the text too soon does not end it", {{4, 6}, 12}, 10,
           {4, end, 7}, {4, 6, 7, 1});
    for (int i = 0; i < 60; ++i) {
        const int count = random.whole(0, 12), past = random.whole(0, 500);
        const int stop = random.whole(0, 20);  // among the ids, at times
        std::vector<int> guesses, best{random.whole(0, 20)};
        Trip alone{{best[0]}, past + 1};  // what the target writes, token by token
        bool goes_on = best[0] != stop;
        for (int k = 0; k < count; ++k) {
            guesses.push_back(random.whole(0, 4) > 0 ? best[k]
                                                     : random.whole(0, 20));
            best.push_back(random.whole(0, 20));
            if (!goes_on || guesses[k] != best[k]) goes_on = false;
            if (!goes_on) continue;
            alone.written.push_back(best.back());
            ++alone.held;
            goes_on = best.back() != stop;
        }
        expect_trip(student, "random trips write what the target would write alone",
                    alone, past, guesses, best, stop);
    }
}

const homework::Registered homework_14({
    .name = "14_speculative",
    .tasks =
        {{.name = "accept",
          .points = 6,
          .hint = "Write down p, q and p - q for three tokens. Which of them can "
                  "still come out once the guess is refused, and how often?",
          .hint_zh = "拿三个 token，把 p、q、p - q 写出来。猜测被拒以后，还可能出来"
                     "的是哪几个，各有多大机会？",
          .test = accept},
         {.name = "trip",
          .points = 4,
          .hint = "Ask at each place what the target would have written alone, and "
                  "whether the pass knows what comes behind it.",
          .hint_zh = "每到一处都问：大模型独自写，这里会写什么？它后面该写什么，这一"
                     "趟算出来了没有？",
          .test = trip}},
});

}  // namespace
