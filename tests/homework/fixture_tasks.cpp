// Tasks that grader_test.cpp sets.

#include "homework/task.hpp"

namespace {

using homework::Random;
using homework::Student;

void twice(Student& student, Random& random) {
    student.expect("three twice is six", 6, 0, 3);
    for (int i = 0; i < 20; ++i) {
        const int x = random.whole(-1000, 1000);
        student.expect("any number twice", 2 * x, 0, x);
    }
}

std::vector<double> halves_of(const std::vector<float>& all) {
    std::vector<double> halves;
    for (const float x : all) halves.push_back(double(x) / 2);
    return halves;
}

void halves(Student& student, Random& random) {
    student.expect("numbers are halved", std::vector<double>{0.5, -1}, 1e-9,
                   std::vector<float>{1, -2});
    const auto many = random.floats(5000);
    student.expect("many are halved", halves_of(many), 1e-9, many);
}

double halves_fast(Student& student, Random& random) {
    return homework::race(
        student, random, 5, 1e-9,
        [](Random& numbers) { return std::tuple(numbers.floats(200000)); }, halves_of);
}

const homework::Registered fixture({
    .name = "99_fixture",
    .tasks = {{.name = "twice",
               .points = 4,
               .hint = "Add it to itself.",
               .hint_zh = "加上自己。",
               .test = twice},
              {.name = "halves",
               .points = 3,
               .hint = "Divide.",
               .hint_zh = "除以二。",
               .test = halves,
               .speed = homework::Speed{2, 0.01, halves_fast}}},
});

}  // namespace
