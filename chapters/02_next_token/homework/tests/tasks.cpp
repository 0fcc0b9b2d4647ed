// What the homework of chapter 02 is graded by.

#include "homework/task.hpp"
#include "lab/surprise.hpp"

namespace {

using homework::Random;
using homework::Student;
using Logits = std::vector<float>;

constexpr double tolerance = 1e-6;

/// A row of random length; some are flat, some are sure.
Logits random_logits(Random& random) {
    Logits logits = random.floats(std::size_t(random.whole(1, 2000)));
    const double spread = random.real(0.1, 30), shift = random.real(-100, 100);
    for (float& logit : logits) logit = float(logit * spread + shift);
    return logits;
}

void surprise(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Logits& logits, int token) {
        student.expect(what, lab::surprise(logits, token), tolerance, logits, token);
    };
    expect("what is certain is no surprise", {3}, 0);
    expect("surprise is in bits: one side of a coin is 1", {0, 0}, 1);
    expect("one chance in 1,024 is 10 bits", Logits(1024, 0.5f), 77);
    for (int token = 0; token < 3; ++token)
        expect("the surprise is that of the token asked for", {2, 1, 0}, token);
    expect("logits may be large: only their differences count", {1002, 1001, 1000},
           1);
    expect("a token far below the best has a finite surprise", {0, -2000}, 1);
    for (int i = 0; i < 20; ++i) {
        const Logits logits = random_logits(random);
        expect("random rows come out as they should", logits,
               random.whole(0, int(logits.size()) - 1));
    }
}

void entropy(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Logits& logits) {
        student.expect(what, lab::entropy(logits), tolerance, logits);
    };
    expect("one candidate leaves no doubt", {3});
    expect("entropy is in bits: a coin has 1", {0, 0});
    expect("1,024 equal candidates have 10 bits", Logits(1024, 0.5f));
    expect("each surprise is weighted with its probability", {2, 1, 0});
    expect("logits may be large: only their differences count", {1002, 1001, 1000});
    expect("what never comes adds nothing", {0, -2000});
    for (int i = 0; i < 20; ++i)
        expect("random rows come out as they should", random_logits(random));
}

const homework::Registered homework_02({
    .name = "02_next_token",
    .tasks =
        {{.name = "surprise",
          .points = 5,
          .hint =
              "Which base has the logarithm? Then write the logarithm of the "
              "quotient as a difference, and ask which exp() can be too large or "
              "too small. The page's section \"The price is in bits\" shows it.",
          .hint_zh =
              "对数的底是几？再把商的对数写成差，看看哪个 exp() 会太大或太小。"
              "书里“价钱用比特来算”一节有写法。",
          .test = surprise},
         {.name = "entropy",
          .points = 5,
          .hint =
              "A mean, but not of equal shares: whose surprise counts how much? And "
              "what does 0 times infinity give in a double?",
          .hint_zh =
              "它是平均数，但各份不一样重：谁的意外占多少？还有，在 double 里，"
              "0 乘无穷大得什么？",
          .test = entropy}},
});

}  // namespace
