// What the homework of chapter 11 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/thinking.hpp"

namespace {

using homework::Machine;
using homework::Random;
using homework::Stay;
using homework::Student;
using homework::Way;

// 14 GB of weights, half a megabyte a token, 1 TB/s.
const Machine course{14e9, 5e5, 1e12};

Stay due(const Machine& machine, const Way& way) {
    const ledger::Fetching fetching{machine.weights, machine.kv, machine.bandwidth};
    const ledger::Way same{way.prompt, way.answer, way.thinking, way.copies,
                           way.shared};
    const ledger::Stay sum =
        ledger::stay(same, [&](int i) { return fetching.pass(same, i); });
    return {sum.first, sum.wait, machine.kv * double(same.held(same.passes())),
            machine.kv * sum.capacity};
}

/// Each member has a name of its own, so that a message says which is wrong.
void expect(Student& student, const std::string& what, const Machine& machine,
            const Way& way) {
    student.checking(what);
    const Stay expected = due(machine, way),
               found = student.call<Stay>(machine, way);
    const auto compare = [&](const char* name, double Stay::*member) {
        student.checking(what + ": " + name);
        if (!homework::same(expected.*member, found.*member, 1e-9))
            student.fail(homework::show(expected), homework::show(found));
    };
    compare("the wait", &Stay::wait);
    compare("the first token", &Stay::first);
    compare("the peak", &Stay::peak);
    compare("capacity, pass by pass", &Stay::capacity);
}

void stay(Student& student, Random& random) {
    const Machine small{100, 10, 1000};
    expect(student, "one pass fetches the weights, and the prompt's cache", small,
           {2, 0, 1, 1, false});
    expect(student, "two passes, of which the second fetches a token more", small,
           {2, 0, 2, 1, false});
    expect(student, "thinking is shown to nobody", small, {2, 3, 2, 1, false});
    expect(student, "copies share the trip of the weights", small,
           {2, 0, 2, 3, false});
    expect(student, "one prompt's cache serves all copies", small,
           {2, 0, 2, 3, true});
    expect(student, "A answers at once", course, {100, 0, 200, 1, false});
    expect(student, "B thinks first", course, {100, 4000, 200, 1, false});
    expect(student, "C answers eight times", course, {100, 0, 200, 8, false});
    expect(student, "question 1: 8,000 tokens of thinking", course,
           {100, 8000, 200, 1, false});
    expect(student, "question 2: 64 at once", course, {100, 0, 200, 64, false});
    for (int i = 0; i < 40; ++i) {
        const Machine machine{random.real(1e8, 1e11), random.real(1e4, 1e6),
                              random.real(1e10, 4e12)};
        const Way way{random.whole(1, 3000), i % 2 == 0 ? 0 : random.whole(1, 3000),
                      random.whole(1, 500), random.whole(1, 64), i % 4 < 2};
        expect(student, "random ways come out as they should", machine, way);
    }
}

/// By another way: twice as many until they are too many, and halves from there on.
int most(const Machine& machine, Way way, double longer, double memory) {
    way.copies = 1;
    const double longest = longer * due(machine, way).wait;
    const auto fit = [&](int copies) {
        way.copies = copies;
        const Stay all = due(machine, way);
        return all.wait <= longest && all.peak <= memory;
    };
    int fits = 0, too_many = 1;
    while (fit(too_many)) too_many *= 2;
    while (too_many - fits > 1) {
        const int middle = fits + (too_many - fits) / 2;
        (fit(middle) ? fits : too_many) = middle;
    }
    return fits;
}

void most_copies(Student& student, Random& random) {
    const auto expect = [&](const char* what, int expected, const Machine& machine,
                            const Way& way, double longer, double memory) {
        student.expect(what, expected, 0, machine, way, longer, memory);
    };
    const Way c{100, 0, 200, 1, false}, shared{100, 0, 200, 1, true};
    expect("64 caches fill 9.6 GB, if there is time", 64, course, c, 100, 9.6e9);
    expect(
        "the last token of each stands in the cache, too: a byte less, a copy less",
        63, course, c, 100, 9.6e9 - 1);
    expect("in twice the time, if there is room", 142, course, c, 2, 1e12);
    expect("five percent longer buys eight", 8, course, c, 1.05, 1e12);
    expect("with one prompt's cache eight take 0.85 GB", 8, course, shared, 100,
           0.85e9);
    expect("with one prompt's cache there is time for more",
           most(course, shared, 2, 1e12), course, shared, 2, 1e12);
    expect("not even one has room", 0, course, c, 2, 1e8);
    for (int i = 0; i < 40; ++i) {
        const Machine machine{random.real(1e9, 2e10), random.real(1e5, 1e6),
                              random.real(1e10, 4e12)};
        const Way way{random.whole(1, 400), 0, random.whole(1, 100), 1, i % 2 == 0};
        // Room for some 40, and time for about as many.
        const double cache = machine.kv * (way.prompt + way.answer);
        const double longer = 1.001 + random.real(0, 80) * cache / machine.weights;
        const double memory = random.real(0.5, 80) * cache;
        expect("random machines have room and time for so many",
               most(machine, way, longer, memory), machine, way, longer, memory);
    }
}

const homework::Registered homework_11({
    .name = "11_thinking_bill",
    .tasks =
        {{.name = "stay",
          .points = 6,
          .hint = "Walk through the passes. What does this one hold, and how long "
                  "does it take? The product belongs to this pass alone.",
          .hint_zh = "一趟一趟地走。这一趟里缓存装着多少，这一趟要多久？两个数相乘，"
                     "乘的是这一趟自己的。",
          .test = stay},
         {.name = "most_copies",
          .points = 4,
          .hint = "Two things can run out. For each, what does one copy more add, "
                  "and what is there only once?",
          .hint_zh = "会用完的东西有两样。对每一样都问问：多一份，多出来的是什么？"
                     "哪些东西不管几份都只有一份？",
          .test = most_copies}},
});

}  // namespace
