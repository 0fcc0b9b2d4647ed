// What the homework of chapter 05 is graded by.

#include "../given.hpp"
#include "gpt2/cpu/attention.hpp"
#include "homework/task.hpp"

namespace {

using homework::Cache;
using homework::Random;
using homework::Step;
using homework::Student;
using Floats = std::vector<float>;
using Outs = std::vector<Floats>;

/// By the engine's own kernels.
Outs decoded(const Cache& cache, const std::vector<Step>& steps) {
    const auto width = std::size_t(cache.width);
    const int past = int(cache.keys.size() / width), all = past + int(steps.size());
    const gpt2::Config config{1, all, cache.width, 1, 1};
    gpt2::KvCache kv(std::make_shared<gpt2::KvPool>(config, gpt2::DType::f32));
    kv.reserve(all);
    for (int t = 0; t < past; ++t)
        gpt2::cpu::append(kv, 0, 0, t, &cache.keys[std::size_t(t) * width],
                          &cache.values[std::size_t(t) * width]);
    const auto& layout = kv.pool()->layout();
    Floats scratch(gpt2::cpu::attention_scratch(layout, all));
    Outs outs;
    for (int t = past; t < all; ++t) {
        const Step& step = steps[std::size_t(t - past)];
        gpt2::cpu::append(kv, 0, 0, t, step.key.data(), step.value.data());
        Floats out(std::size_t(layout.head_stride));
        gpt2::cpu::attend(kv, 0, 0, t, 1, step.query.data(), width, out.data(),
                          out.size(), scratch.data());
        out.resize(width);
        outs.push_back(out);
    }
    return outs;
}

/// By the formula: what the clock compares with.
Outs plain(Cache cache, const std::vector<Step>& steps) {
    const auto width = std::size_t(cache.width);
    Outs outs;
    for (const Step& step : steps) {
        cache.keys.insert(cache.keys.end(), step.key.begin(), step.key.end());
        cache.values.insert(cache.values.end(), step.value.begin(),
                            step.value.end());
        Floats weights;
        for (std::size_t t = 0; t < cache.keys.size() / width; ++t) {
            float score = 0;
            for (std::size_t c = 0; c < width; ++c)
                score += step.query[c] * cache.keys[t * width + c];
            weights.push_back(score / std::sqrt(float(width)));
        }
        const float best = std::ranges::max(weights);
        float sum = 0;
        for (float& weight : weights) sum += weight = std::exp(weight - best);
        Floats out(width);
        for (std::size_t t = 0; t < weights.size(); ++t) {
            const float share = weights[t] / sum;
            for (std::size_t c = 0; c < width; ++c)
                out[c] += share * cache.values[t * width + c];
        }
        outs.push_back(out);
    }
    return outs;
}

std::tuple<Cache, std::vector<Step>> random_case(Random& random, int width, int past,
                                                 int count) {
    const auto row = std::size_t(width);
    const std::size_t all = row * std::size_t(past);
    Cache cache{width, random.floats(all), random.floats(all)};
    std::vector<Step> steps;
    for (int i = 0; i < count; ++i) {
        steps.push_back(
            {random.floats(row), random.floats(row), random.floats(row)});
        for (float& x : steps.back().query) x *= 4;
    }
    return {cache, steps};
}

constexpr double tolerance = 1e-4;

/// Two steps: the first must not see the second, the second must see the first.
void check_two_steps(Student& student) {
    const Cache cache{1, {0}, {8}};
    const std::vector<Step> steps{{{1}, {0}, {16}}, {{1}, {0}, {96}}};
    const Outs expected = decoded(cache, steps);
    student.checking("there is a row for every step");
    const auto found = student.call<Outs>(cache, steps);
    const auto require = [&](const char* what, bool right) {
        student.checking(what);
        if (!right) student.fail(homework::show(expected), homework::show(found));
    };
    require("there is a row for every step", found.size() == 2);
    require("a step does not see the one behind it",
            homework::same(expected[0], found[0], tolerance));
    require("a step sees what the one before it appended",
            homework::same(expected[1], found[1], tolerance));
}

void decode(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Cache& cache,
                            const std::vector<Step>& steps) {
        student.expect(what, decoded(cache, steps), tolerance, cache, steps);
    };
    const float ln3 = std::log(3.0f);
    expect("with an empty cache the new token sees itself", {2, {}, {}},
           {{{1, 2}, {3, 4}, {5, 6}}});
    expect("the new token sees the cache and itself", {1, {0}, {8}},
           {{{1}, {0}, {16}}});
    expect("the values are mixed by e to the score", {1, {0}, {8}},
           {{{1}, {ln3}, {16}}});
    expect("scores are divided by the root of the width",
           {4, {0, 0, 0, 0}, {1, 2, 3, 4}},
           {{{1, 1, 1, 1}, {ln3, ln3, 0, 0}, {5, 6, 7, 8}}});
    check_two_steps(student);
    expect("scores may be large", {1, {1000}, {8}}, {{{1}, {999}, {16}}});
    for (int i = 0; i < 20; ++i) {
        const auto [cache, steps] = random_case(
            random, random.whole(1, 80), random.whole(0, 100), random.whole(1, 12));
        expect("random caches and steps come out as they should", cache, steps);
    }
}

double ratio(Student& student, Random& random) {
    return homework::race(
        student, random, 7, tolerance,
        [](Random& fresh) { return random_case(fresh, 64, 2048, 512); }, plain);
}

const homework::Registered homework_05({
    .name = "05_kv_cache",
    .tasks =
        {{.name = "decode",
          .points = 7,
          .hint = "Append first, then attend: how many positions does the cache "
                  "hold when the query looks? For large scores see how chapter 02 "
                  "keeps exp() from overflowing.",
          .hint_zh = "先追加，再注意：查询去看的时候，缓存里有几个位置？分数太大"
                     "怎么办，看第 02 章是怎么不让 exp() 溢出的。",
          .test = decode,
          .speed = homework::Speed{.points = 3, .goal = 0.75, .ratio = ratio}}},
});

}  // namespace
