// What the homework of chapter 07 is graded by.

#include <cmath>
#include <cstring>

#include "../given.hpp"
#include "gpt2/cpu/packed.hpp"
#include "homework/task.hpp"

namespace {

using homework::Int8Row;
using homework::Random;
using homework::Student;
using Floats = std::vector<float>;

/// A column of the library's int8 matrix.
gpt2::cpu::Packed packed(const Floats& row) {
    gpt2::cpu::Packed matrix(int(row.size()), 1, gpt2::DType::int8);
    matrix.put_panel(0, 1, row.data());
    return matrix;
}

/// What the library makes of a row. A group is 16 scales, then rows of 16 numbers;
/// the column is the first of the 16.
Int8Row rounded(const Floats& row) {
    const gpt2::cpu::Packed matrix = packed(row);
    const std::int8_t* at = matrix.panel<std::int8_t>(0);
    Int8Row result;
    for (std::size_t k = 0; k < row.size(); ++k, at += 16) {
        if (k % gpt2::rows_per_scale == 0) {
            float scale = 0;
            std::memcpy(&scale, at, sizeof scale);
            result.scales.push_back(scale);
            at += 16 * sizeof scale;
        }
        result.numbers.push_back(*at);
    }
    return result;
}

/// Weights of a size that differs from group to group; now and then a group of
/// zeros.
Floats weights(Random& random, int count) {
    Floats row = random.floats(std::size_t(count));
    float size = 1;
    for (std::size_t k = 0; k < row.size(); ++k) {
        if (k % homework::group == 0)
            size =
                random.whole(0, 7) == 0 ? 0 : std::ldexp(1.0f, random.whole(-8, 3));
        row[k] *= size;
    }
    return row;
}

Floats join(Floats a, const Floats& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

void quantise(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Int8Row& expected,
                            const Floats& row) {
        student.expect(what, expected, 0, row);
    };
    using Numbers = std::vector<std::int8_t>;
    expect("a number becomes a multiple of the scale, the largest one 127 of it",
           {{2}, {127, 1, -5}}, {254, 2, -10});
    expect("what is largest is decided by magnitude, without the sign",
           {{2}, {5, -127}}, {10, -254});
    expect("numbers are rounded to the nearest", {{1}, {127, 2, -2, 0, 1}},
           {127, 1.75, -1.75, 0.25, 0.75});
    expect("in the middle between two the even one is taken",
           {{1}, {127, 0, 2, 2, 0, -2, -2}}, {127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5});
    const Floats ones(32, 127), twos(32, 254);
    const Numbers full(64, 127);
    expect("each group of 32 has a scale of its own", {{1, 2}, full},
           join(ones, twos));
    expect("the last group may be shorter", {{1, 4}, Numbers(33, 127)},
           join(ones, {508}));
    expect("a group of zeros has the scale 0", {{0}, {0, 0, 0}}, {0, 0, 0});
    expect("a row without numbers has no scale", {}, {});
    for (int i = 0; i < 40; ++i) {
        const Floats row = weights(random, random.whole(1, 200));
        expect("random rows are rounded as the library rounds them", rounded(row),
               row);
    }
}

/// The same by another way: the library widens the row, then it is multiplied.
double product(const Floats& row, const Floats& x) {
    Floats widened(row.size());
    packed(row).get_column(0, widened.data());
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += double(widened[k]) * x[k];
    return sum;
}

void dot(Student& student, Random& random) {
    const auto expect = [&](const char* what, double expected, const Int8Row& row,
                            const Floats& x) {
        student.expect(what, expected, 1e-4, row, x);
    };
    expect("each weight meets its x, and the scale both", 5.0, {{0.5}, {4, -2, 3}},
           {1, 0, 2});
    expect("x is not rounded", 1.25, {{1}, {5, 2}}, {0.25, 0});
    const Floats x(40, 1);
    const std::vector<std::int8_t> tens(40, 10);
    expect("each group has a scale of its own", 32 * 10 + 8 * 20.0, {{1, 2}, tens},
           x);
    expect("a group of zeros adds nothing", 80.0, {{0, 1}, tens}, x);
    expect("a row without numbers gives 0", 0.0, {}, {});
    for (int i = 0; i < 40; ++i) {
        const Floats row = weights(random, random.whole(1, 200));
        const Floats activations = random.floats(row.size());
        expect("random rows give what the widened weights give",
               product(row, activations), rounded(row), activations);
    }
}

const homework::Registered homework_07({
    .name = "07_two_ceilings",
    .tasks =
        {{.name = "quantise",
          .points = 6,
          .hint = "Go group by group: first its scale, then its numbers. How do "
                  "std::round and std::nearbyint differ at 2.5? What is 0 / 0?",
          .hint_zh = "一组一组来：先定缩放系数，再算各个数。碰到 2.5，std::round 和 "
                     "std::nearbyint 有什么不同？0 / 0 又是什么？",
          .test = quantise},
         {.name = "dot",
          .points = 4,
          .hint =
              "Which scale does number k belong to? Compute a row of 33 by hand.",
          .hint_zh = "第 k 个数归哪个缩放系数管？拿一行 33 个数，动手算一遍。",
          .test = dot}},
});

}  // namespace
