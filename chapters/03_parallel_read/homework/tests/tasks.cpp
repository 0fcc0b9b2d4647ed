// What the homework of chapter 03 is graded by.

#include <limits>

#include "gpt2/reference/reference.hpp"
#include "homework/task.hpp"
#include "lab/surprise.hpp"

namespace {

using homework::Random;
using homework::Student;
using Floats = std::vector<float>;

/// The same by the formula with minus infinity, in double.
Floats weights_of(const Floats& scores, int tokens, int past) {
    const std::size_t width = std::size_t(past + tokens);
    Floats weights;
    for (std::size_t i = 0; i < std::size_t(tokens); ++i) {
        std::vector<double> row(scores.begin() + std::ptrdiff_t(i * width),
                                scores.begin() + std::ptrdiff_t((i + 1) * width));
        std::fill(row.begin() + past + std::ptrdiff_t(i) + 1, row.end(),
                  -std::numeric_limits<double>::infinity());
        const double best = std::ranges::max(row);
        double sum = 0;
        for (const double score : row) sum += std::exp(score - best);
        for (const double score : row)
            weights.push_back(float(std::exp(score - best) / sum));
    }
    return weights;
}

/// Asks for weights, and says which rule they break.
/// @param where  the case, such as "three positions"
void check_weights(Student& student, const std::string& where,
                   const Floats& expected, const Floats& scores, int tokens,
                   int past) {
    const auto holds = [&](const std::string& rule) {
        student.checking(rule + " (" + where + ")");
    };
    holds("there are as many weights as scores");
    const auto found = student.call<Floats>(scores, tokens, past);
    const auto require = [&](bool right) {
        if (!right) student.fail(homework::show(expected), homework::show(found));
    };
    require(found.size() == expected.size());
    const auto each = [&](auto judge) {
        for (int i = 0; i < tokens; ++i)
            for (int j = 0; j < past + tokens; ++j) {
                const auto at = std::size_t(i * (past + tokens) + j);
                judge(j <= past + i, expected[at], found[at]);
            }
    };
    holds("the future is masked");
    each([&](bool seen, float, float weight) { require(seen || weight == 0); });
    holds("a position sees itself and all before it");
    each([&](bool seen, float right, float weight) {
        require(!seen || right < 1e-3f || weight != 0);
    });
    holds("a row adds up to 1");
    for (std::size_t row = 0; row < std::size_t(tokens); ++row) {
        double sum = 0;
        for (std::size_t j = 0; j < std::size_t(past + tokens); ++j)
            sum += double(found[row * std::size_t(past + tokens) + j]);
        require(std::abs(sum - 1) < 1e-4);
    }
    holds("the weights are softmax of the visible scores");
    require(homework::same(expected, found, 1e-5));
}

/// The heads of the reference, at a text of their own: scores that differ from the
/// logarithm of their weights by some number a row, and anything ahead.
void check_reference(Student& student, Random& random) {
    const gpt2::Config config{40, 24, 32, 2, 2};
    const auto model =
        gpt2::random_weights(config, std::uint64_t(random.whole(1, 1000)));
    std::vector<gpt2::Token> text(std::size_t(random.whole(2, 24)));
    for (gpt2::Token& token : text) token = random.whole(0, 39);
    const std::vector<double> all = gpt2::reference_attention(*model, text);
    const std::size_t n = text.size();
    for (std::size_t head = 0; head < 4; ++head) {
        const int past = random.whole(0, int(n) - 1);
        Floats expected, scores;
        for (std::size_t i = std::size_t(past); i < n; ++i) {
            const double shift = random.real(-10, 10);
            for (std::size_t j = 0; j < n; ++j) {
                const double weight = all[(head * n + i) * n + j];
                expected.push_back(float(weight));
                scores.push_back(j <= i ? float(std::log(weight) + shift)
                                        : float(random.real(-30, 30)));
            }
        }
        check_weights(student, "a head of the reference", expected, scores,
                      int(n) - past, past);
    }
}

void causal_weights(Student& student, Random& random) {
    const auto ask = [&](const std::string& where, const Floats& scores, int tokens,
                         int past) {
        check_weights(student, where, weights_of(scores, tokens, past), scores,
                      tokens, past);
    };
    ask("one position", {5}, 1, 0);
    ask("three positions", {0, 0, 0, 0, 0, 10, 0, 0, 0}, 3, 0);
    const float ln3 = std::log(3.0f);
    ask("a score of ln 3 beside one of 0", {0, 0, 0, ln3}, 2, 0);
    ask("two positions behind a cache of two", Floats(8, 0), 2, 2);
    ask("one position behind a cache of three", {0, ln3, 0, ln3}, 1, 3);
    ask("scores of 1000", {1000, 0, 1000, 1000}, 2, 0);
    ask("a high score ahead", {1, 1e30f, 1, 1}, 2, 0);
    check_reference(student, random);
    for (int i = 0; i < 20; ++i) {
        const int tokens = random.whole(1, 20), past = random.whole(0, 20);
        Floats scores =
            random.floats(std::size_t(tokens) * std::size_t(past + tokens));
        for (float& score : scores) score *= 8;
        ask("random scores", scores, tokens, past);
    }
}

void loss(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Floats& tables,
                            const std::vector<int>& text, int n_vocab) {
        double bits = 0;
        for (std::size_t t = 0; t + 1 < text.size(); ++t)
            bits += lab::surprise(std::span(tables).subspan(t * std::size_t(n_vocab),
                                                            std::size_t(n_vocab)),
                                  text[t + 1]);
        student.expect(what, bits / double(text.size() - 1), 1e-6, tables, text,
                       n_vocab);
    };
    expect("a text without choice has no loss", {7, 7}, {0, 0}, 1);
    // So long a text that another count of exercises does not show.
    student.expect("the loss is in bits: a coin for every token has 1", 1.0, 0.01,
                   Floats(2002, 0), std::vector<int>(1001, 1), 2);
    expect("n tokens are n - 1 exercises, and the loss is their mean", Floats(12, 0),
           {0, 3, 1}, 4);
    expect("a table judges the token that comes next", {5, 0, 9, 9}, {0, 1}, 2);
    expect("the last table has no answer", {0, 0, 0, 0, 50, -50}, {0, 0, 1}, 2);
    for (int i = 0; i < 20; ++i) {
        const int tokens = random.whole(2, 40), n_vocab = random.whole(1, 60);
        Floats tables = random.floats(std::size_t(tokens) * std::size_t(n_vocab));
        const double spread = random.real(0.1, 30);
        for (float& logit : tables) logit = float(logit * spread);
        std::vector<int> text(static_cast<std::size_t>(tokens));
        for (int& token : text) token = random.whole(0, n_vocab - 1);
        expect("random texts come out as they should", tables, text, n_vocab);
    }
}

const homework::Registered homework_03({
    .name = "03_parallel_read",
    .tasks =
        {{.name = "causal_weights",
          .points = 7,
          .hint =
              "How many positions may new position i see, the cache and itself "
              "counted? Nothing else may enter: not the maximum, not the sum. The "
              "page's section \"Nobody looks ahead\" has the formula.",
          .hint_zh =
              "第 i 个新位置能看到几个位置？缓存里的和它自己都要算。看不到的，"
              "最大值里没有它，和里也没有它。公式在书里“谁也不许往后看”"
              "一节。",
          .test = causal_weights},
         {.name = "loss",
          .points = 3,
          .hint =
              "Write the tokens in one line and the tables below, each under the "
              "token that it stands behind. Where is its answer, and which table "
              "has none?",
          .hint_zh =
              "把 token 写成一行，每张表写在它所跟的那个 token 下面。这张表的答"
              "案在哪里？哪张表没有答案？",
          .test = loss}},
});

}  // namespace
