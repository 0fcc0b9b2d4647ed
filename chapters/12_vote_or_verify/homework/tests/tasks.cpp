// What the homework of chapter 12 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/odds.hpp"

namespace {

using homework::Random;
using homework::Student;
using homework::Tried;
using std::optional;

void majority(Student& student, Random& random) {
    const auto expect = [&](const char* what, double expected, double p, int n) {
        student.expect(what, expected, 1e-9, p, n);
    };
    expect("two of three may be any two of them", 0.648, 0.6, 3);
    expect("a vote of one is a try", 0.3, 0.3, 1);
    expect("a tie is not won", 0.25, 0.5, 2);
    expect("who is never right wins no vote", 0, 0, 5);
    expect("who is always right wins every vote", 1, 1, 4);
    expect("a majority of five, one in ten of them right: 0.856%", 0.00856, 0.1, 5);
    expect("a large vote is no more than numbers",
           ledger::majority_right(0.51, 1001), 0.51, 1001);
    for (int i = 0; i < 40; ++i) {
        const double p = random.real(0.01, 0.99);
        const int n = random.whole(1, i % 4 == 0 ? 1001 : 40);
        expect("random votes come out as they should", ledger::majority_right(p, n),
               p, n);
    }
}

void verifier(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Tried& expected, double p,
                            int n) { student.expect(what, expected, 1e-9, p, n); };
    expect("one try is a try", {0.25, 1}, 0.25, 1);
    expect("the second try is made where the first was wrong", {0.75, 1.5}, 0.5, 2);
    expect("he stops at the first that is right", {1, 1}, 1, 10);
    expect("where none is ever right he sees them all", {0, 7}, 0, 7);
    expect("without a try nothing is found", {0, 0}, 0.5, 0);
    expect("of eight, one in ten right: 57%", {0.56953279, 5.6953279}, 0.1, 8);
    for (int i = 0; i < 40; ++i) {
        const double p = random.real(0, 1);
        const int n = random.whole(0, i % 4 == 0 ? 1000 : 40);
        expect("random tries come out as they should",
               {ledger::any_right(p, n), ledger::tries_until_right(p, n)}, p, n);
    }
}

void samples_needed(Student& student, Random& random) {
    const auto expect = [&](const char* what, optional<int> expected, double p,
                            double wanted) {
        student.expect(what, expected, 0, p, wanted);
    };
    expect("question 3: 22 samples for 90%, one in ten right", 22, 0.1, 0.9);
    expect("exactly what is wanted is enough", 2, 0.5, 0.75);
    expect("a hair more than that needs a sample more", 3, 0.5, 0.7500001);
    expect("one sample may be enough", 1, 0.6, 0.5);
    expect("nothing wanted, nothing needed", 0, 0.3, 0);
    expect("where all are right, one is enough for certainty", 1, 1, 1);
    expect("what is never right is not found", {}, 0, 0.5);
    expect("certainty has no number of samples", {}, 0.9, 1);
    expect("rare ones need thousands", 6905, 0.001, 0.999);
    for (int i = 0; i < 40; ++i) {
        const double p = random.real(0.001, i % 2 == 0 ? 0.05 : 0.99);
        const double wanted = random.real(0.01, 0.999);
        expect("random cases need so many", ledger::samples_needed(p, wanted), p,
               wanted);
    }
}

const homework::Registered homework_12({
    .name = "12_vote_or_verify",
    .tasks =
        {{.name = "majority",
          .points = 4,
          .hint = "The page does it by hand for five: look at where its 10 and its "
                  "5 come from, and which k it leaves out.",
          .hint_zh = "书里拿五票手算过一遍：看看那里的 10 和 5 是怎么来的，又是哪些 "
                     "k 没有算进去。",
          .test = majority},
         {.name = "verifier",
          .points = 3,
          .hint = "How likely is it that try number i is made at all? And that it "
                  "is made and right?",
          .hint_zh = "第 i 次轮得到试的机会有多大？轮得到、而且试对的机会呢？",
          .test = verifier},
         {.name = "samples_needed",
          .points = 3,
          .hint = "Watch the probability that all are wrong shrink, sample by "
                  "sample. When does it never get there?",
          .hint_zh = "多抽一份，“份份都错”的机会就小一截，一份一份地看着它变小。"
                     "什么时候它永远到不了？",
          .test = samples_needed}},
});

}  // namespace
