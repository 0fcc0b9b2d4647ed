// What the homework of chapter 15 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"

namespace {

using homework::Heads;
using homework::Outcome;
using homework::Random;
using homework::Running;
using homework::Student;
using Floats = std::vector<float>;

constexpr double tolerance = 1e-4;

// join
// ----

/// All scores at once: the top first, then the sums.
Running seen(const Floats& scores, const Floats& values, std::size_t dim) {
    Running all{-INFINITY, 0, Floats(dim)};
    for (const float score : scores) all.top = std::max(all.top, score);
    std::vector<double> sums(dim + 1);
    for (std::size_t t = 0; t < scores.size(); ++t) {
        const double weight = std::exp(double(scores[t]) - double(all.top));
        for (std::size_t c = 0; c < dim; ++c)
            sums[c] += weight * double(values[t * dim + c]);
        sums[dim] += weight;
    }
    std::copy(sums.begin(), sums.end() - 1, all.values.begin());
    all.sum = float(sums[dim]);
    return all;
}

void join(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Running& whole, const Running& a,
                            const Running& b) {
        student.expect(what, whole, tolerance, a, b);
    };
    const float ln2 = std::log(2.0f);
    const Running empty{-INFINITY, 0, {0}};
    expect("with equal tops, sums and values add up", {0, 3, {40}}, {0, 1, {8}},
           {0, 2, {32}});
    expect("the part whose top is lower shrinks, its sum and its values",
           {ln2, 3, {36}}, {ln2, 1, {8}}, {0, 4, {56}});
    expect("the part whose top is lower shrinks, wherever it stands", {ln2, 3, {36}},
           {0, 4, {56}}, {ln2, 1, {8}});
    expect("every value shrinks", {ln2, 2, {1, 4, 7}}, {0, 2, {0, 4, 6}},
           {ln2, 1, {1, 2, 4}});
    expect("scores may be large", {1000, 1, {5}}, {500, 2, {9}}, {1000, 1, {5}});
    expect("an empty part changes nothing", {3, 2, {8}}, {3, 2, {8}}, empty);
    expect("an empty part changes nothing", {-3, 2, {8}}, empty, {-3, 2, {8}});
    expect("two empty parts make an empty one", empty, empty, empty);
    for (int i = 0; i < 40; ++i) {
        const auto dim = std::size_t(random.whole(1, 6));
        const auto count = std::size_t(random.whole(0, 20)),
                   split = std::size_t(random.whole(0, int(count)));
        Floats scores = random.floats(count);
        for (float& score : scores) score *= 20;
        const Floats values = random.floats(count * dim);
        const auto part = [&](std::size_t from, std::size_t to) {
            const auto cut = [](const Floats& all, std::size_t begin,
                                std::size_t end) {
                return Floats(all.begin() + std::ptrdiff_t(begin),
                              all.begin() + std::ptrdiff_t(end));
            };
            return seen(cut(scores, from, to), cut(values, from * dim, to * dim),
                        dim);
        };
        expect("parts of random rows make the whole row", part(0, count),
               part(0, split), part(split, count));
    }
}

// attend
// ------

/// By the formula, in double precision.
Floats attended(const Heads& given) {
    const auto dim = std::size_t(given.dim), span = std::size_t(given.span);
    Floats out;
    for (std::size_t h = 0; h < given.query.size() / dim; ++h) {
        std::vector<double> weights;
        for (std::size_t t = 0; t <= std::size_t(given.position); ++t) {
            double score = 0;
            for (std::size_t c = 0; c < dim; ++c)
                score += double(given.query[h * dim + c]) *
                         double(given.keys[(h * dim + c) * span + t]);
            weights.push_back(score / std::sqrt(double(dim)));
        }
        const double top = std::ranges::max(weights);
        double sum = 0;
        for (double& weight : weights) sum += weight = std::exp(weight - top);
        for (std::size_t c = 0; c < dim; ++c) {
            double value = 0;
            for (std::size_t t = 0; t < weights.size(); ++t)
                value += weights[t] * double(given.values[(h * span + t) * dim + c]);
            out.push_back(float(value / sum));
        }
    }
    return out;
}

/// What a complaint of the machine is about.
const char* object_of(std::string_view complaint) {
    if (complaint.starts_with("race"))
        return "a barrier stands between a write and what other lanes do there";
    if (complaint.starts_with("divergent") || complaint.starts_with("deadlock"))
        return "all lanes come to the same barrier";
    if (complaint.starts_with("shared memory read before"))
        return "shared memory is written before it is read";
    return "every access lies inside its array";
}

/// Asks, and compares. The machine's complaint stands before what the answer would
/// be.
Outcome ask(Student& student, const char* what, const Heads& heads, int order) {
    student.checking(what);
    const auto outcome = student.call<Outcome>(heads, order);
    if (!outcome.complaint.empty()) {
        student.checking(object_of(outcome.complaint));
        student.fail("a kernel that comes to its end", outcome.complaint);
    }
    const Floats expected = attended(heads);
    if (!homework::same(expected, outcome.out, tolerance))
        student.fail(homework::show(expected), homework::show(outcome.out));
    return outcome;
}

/// One head of one channel that asks 1, in memory that is as long as the keys.
Heads narrow(int position, Floats keys, Floats values) {
    const int span = int(keys.size());
    return {1, position, span, {1}, std::move(keys), std::move(values)};
}

/// Numbers of two kinds, one behind the other.
Floats first_then(int count_first, float first, int count_then, float then) {
    Floats all(std::size_t(count_first), first);
    all.insert(all.end(), std::size_t(count_then), then);
    return all;
}

/// What lies behind the position is so large that nobody could overlook it.
Heads random_heads(Random& random, int heads, int dim, int position, int span) {
    const auto numbers = [&](int count) {
        return random.floats(std::size_t(heads) * std::size_t(dim) *
                             std::size_t(count));
    };
    Heads all{dim, position, span, numbers(1), numbers(span), numbers(span)};
    for (float& x : all.query) x *= 4;
    const auto behind = [&](std::size_t t) { return t > std::size_t(position); };
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
        if (behind(i % std::size_t(span))) all.keys[i] = 1e6f;
        if (behind(i / std::size_t(dim) % std::size_t(span))) all.values[i] = 1e6f;
    }
    return all;
}

void attend(Student& student, Random& random) {
    const auto check = [&](const char* what, const Heads& heads) {
        for (int order = 0; order < 3; ++order) ask(student, what, heads, order);
    };
    const float ln2 = std::log(2.0f), ln3 = std::log(3.0f);
    check("of a single position it is the value", narrow(0, {0}, {8}));
    check("the query sees its own position", narrow(1, {0, ln3}, {8, 16}));
    check("what lies behind the position is not seen",
          narrow(1, {0, ln3, 5, 5}, {8, 16, 1000, 1000}));
    check("scores are divided by the root of dim", {4,
                                                    1,
                                                    2,
                                                    {1, 1, 1, 1},
                                                    {0, ln3, 0, ln3, 0, 0, 0, 0},
                                                    {1, 2, 3, 4, 5, 6, 7, 8}});
    check("each head has a query, keys and values of its own",
          {1, 1, 2, {1, -1}, {0, ln3, 0, ln3}, {8, 16, 24, 32}});
    check("behind 32 positions come others",
          narrow(39, Floats(40, 0.0f), first_then(32, 10, 8, 20)));
    check("the sum shrinks when a higher top comes, and the values do",
          narrow(63, first_then(32, 0, 32, ln2), Floats(64, 1.0f)));
    check("the sum shrinks when a higher top comes, and the values do",
          narrow(63, first_then(32, 0, 32, ln2), first_then(32, 0, 32, 3)));
    check("a higher top that came earlier stays",
          narrow(63, first_then(32, ln2, 32, 0), first_then(32, 0, 32, 3)));
    check("scores may be large",
          narrow(63, first_then(32, 500, 32, 1000), first_then(32, 8, 32, 16)));
    for (const int dim : {2, 31, 32, 33, 64, 100, 128})
        check("no channel is left out, whatever their number",
              random_heads(random, 2, dim, random.whole(0, 70), 71));
    for (int i = 0; i < 20; ++i) {
        const int position = random.whole(0, 150);
        ask(student, "random heads come out as they should",
            random_heads(random, random.whole(1, 4), random.whole(1, 128), position,
                         position + random.whole(1, 40)),
            random.whole(0, 100));
    }
}

/// How long it takes here says nothing about a GPU. There an attention waits for
/// memory: so bytes loaded stand for time. Those of every number once, over those
/// that were asked for.
double once_over_loaded(Student& student, Random& random) {
    double worst = 1;
    for (int round = 0; round < 5; ++round) {
        const int heads = random.whole(1, 3), dim = random.whole(33, 128);
        const int position = random.whole(200, 400);
        const Outcome outcome =
            ask(student, "the answers are right where bytes are counted too",
                random_heads(random, heads, dim, position, position + 1), round);
        const auto numbers = std::uint64_t(heads) * std::uint64_t(dim) *
                             (1 + 2 * std::uint64_t(position + 1));
        const std::uint64_t once = sizeof(float) * numbers;
        student.checking("the query, every key and every value is loaded");
        if (outcome.loaded < once)
            student.fail("at least " + homework::show(once) + " bytes",
                         homework::show(outcome.loaded));
        worst = std::min(worst, double(once) / double(outcome.loaded));
    }
    return worst;
}

const homework::Registered homework_15({
    .name = "15_gpu",
    .tasks =
        {{.name = "join",
          .points = 3,
          .hint = "Which of the two tops does the whole have? By what is each part "
                  "multiplied then? And what is minus infinity less minus infinity?",
          .hint_zh = "合起来的最高分是哪一个？那么两边各要乘上多少？再想想：负无穷减"
                     "负无穷得什么？",
          .test = join},
         {.name = "attend",
          .points = 4,
          .hint =
              "Where the machine complains, it names two places in your file: look "
              "for what the threads do between them. Else follow top, sum and one "
              "value over two rounds of 32 positions, on paper.",
          .hint_zh =
              "机器报错时会指出你文件里的两处：看看这两处之间，各个线程都干了"
              "什么。没报错而数不对，就在纸上把 top、sum 和一个 value 跟两轮，"
              "一轮 32 个位置。",
          .test = attend,
          .speed =
              homework::Speed{.points = 3, .goal = 0.95, .ratio = once_over_loaded},
          .kernel = true}},
});

}  // namespace
