#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "homework/student.hpp"

namespace homework {

/// Random numbers for fresh cases. The same seed and stream give the same ones on every
/// machine.
class Random {
public:
    /// @param seed    of this grading
    /// @param stream  tells tasks apart: their name
    Random(std::uint64_t seed, const std::string& stream);

    /// A whole number, both ends included.
    int whole(int least, int most);
    /// A number in [least, most).
    double real(double least, double most);
    /// So many numbers in [-1, 1).
    std::vector<float> floats(std::size_t count);

private:
    std::uint64_t seed_, stream_ = 0, drawn_ = 0;
};

/// Points for being fast.
struct Speed {
    int points = 0;   ///< where the goal is reached; else a share of them
    double goal = 1;  ///< the reference's time over the student's, or what stands for it
    /// Measures that quotient, and checks every answer that it times. See race().
    std::function<double(Student&, Random&)> ratio;
};

/// One function for a student to write. The file `name`.hpp declares it in namespace
/// homework under the same name.
struct Task {
    std::string name;     ///< of the function
    int points;           ///< for a function that is right
    std::string hint;     ///< shown where it is not
    std::string hint_zh;  ///< the same in Chinese
    /// Asks the student's function. It throws Failed at the first wrong answer.
    std::function<void(Student&, Random&)> test;
    std::optional<Speed> speed = {};  ///< further points
    bool kernel = false;  ///< runs on the kernels' CPU machine, which sees its loads
};

/// The homework of a chapter.
struct Chapter {
    std::string name;         ///< of its folder, such as "01_tokens"
    std::vector<Task> tasks;  ///< in the order of its README
};

/// Adds a chapter's homework to the grader: one such object in each `homework/tests/`.
struct Registered {
    /// Adds it.
    explicit Registered(Chapter chapter);
};

/// All that were added, in order.
const std::vector<Chapter>& chapters();

/// Times a reference against the student's function, turn by turn on the same fresh
/// arguments, and compares every answer. Both times hold the arguments' and the answer's
/// way through bytes.
/// @param make       make(random) gives a tuple of arguments, each of exactly the type of
///                   the function's parameter
/// @param reference  is called with these arguments; returns what is expected
/// @param tolerance  as in same()
/// @return the reference's median time over the student's
/// @throws Failed at a wrong answer
template <class Make, class Reference>
double race(Student& student, Random& random, int rounds, double tolerance, Make make,
            Reference reference) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    std::vector<double> ours, theirs;
    for (int round = 0; round < rounds; ++round) {
        auto arguments = make(random);
        const auto first = Clock::now();
        std::string bytes;
        std::apply([&](const auto&... each) { (put(bytes, each), ...); }, arguments);
        std::string_view in = bytes;
        std::apply([&](auto&... each) { (get(in, each), ...); }, arguments);
        auto expected = std::apply(reference, arguments);
        bytes.clear();
        put(bytes, expected);
        in = bytes;
        get(in, expected);
        ours.push_back(seconds_since(first));

        const auto second = Clock::now();
        const auto found = std::apply(
            [&](const auto&... each) {
                return student.call<decltype(expected)>(each...);
            },
            arguments);
        theirs.push_back(seconds_since(second));
        if (!same(expected, found, tolerance)) student.fail(show(expected), show(found));
    }
    const auto median = [](std::vector<double>& all) {
        std::ranges::sort(all);
        return all[all.size() / 2];
    };
    return median(ours) / median(theirs);
}

}  // namespace homework
