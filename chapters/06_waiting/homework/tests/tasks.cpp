// What the homework of chapter 06 is graded by.

#include <algorithm>

#include "../given.hpp"
#include "homework/task.hpp"
#include "lab/writing.hpp"

namespace {

using homework::Pace;
using homework::Random;
using homework::Stamp;
using homework::Student;
using homework::Waits;
using Log = std::vector<Stamp>;

constexpr double rounding = 1e-9;

void pace(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Pace& expected, double asked,
                            const std::vector<double>& known) {
        student.expect(what, expected, rounding, asked, known);
    };
    expect("n tokens have n - 1 beats", {1, 1}, 0, {1, 2});
    expect("the first token's wait runs from the question", {0.5, 0.5}, 10,
           {10.5, 11, 11.5});
    expect("the first token's wait is no beat", {2, 0.5}, 0, {2, 2.25, 2.75, 3.5});
    expect("beats need not be in order", {1, 0.5}, 0, {1, 1.25, 2, 2.5});
    expect("one long beat does not move the median", {1, 0.5}, 0, {1, 1.5, 2, 9});
    expect("of an even number of beats the median is the mean of the middle two",
           {1, 0.75}, 0, {1, 1.5, 2.5, 2.75, 5.75});
    expect("a single token has no beat", {3, std::nullopt}, 0, {3});
    for (int i = 0; i < 40; ++i) {
        const double asked = random.real(0, 1000);
        gpt2::Generation written;
        double now = random.real(0.01, 5);
        for (int token = random.whole(1, 30); token > 0; --token) {
            written.seconds.push_back(now);
            now += random.whole(0, 9) == 0 ? random.real(0.5, 2)
                                           : random.real(0.01, 0.1);
        }
        Pace expected{written.first_token(), {}};
        const std::vector<double> beats = lab::beats(written);
        if (!beats.empty()) expected.beat = lab::summarize(beats).median;
        std::vector<double> known;
        for (const double seconds : written.seconds)
            known.push_back(asked + seconds);
        expect("random answers have their pace", expected, asked, known);
    }
}

void waits(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Waits& expected,
                            const Log& log) {
        student.expect(what, expected, rounding, log);
    };
    expect("the first token's wait is no beat", {{2}, {0.5}},
           {{0, 10}, {0, 12}, {0, 12.5}});
    expect("a beat lies between two tokens of one answer", {{1, 1.5}, {1, 1.5}},
           {{0, 0}, {0, 1}, {1, 1.5}, {0, 2}, {1, 3}, {1, 4.5}});
    expect("each wait runs from the request's own question", {{4, 3}, {}},
           {{0, 0}, {1, 2}, {0, 4}, {1, 5}});
    expect("who has no token yet gives nothing", {{1}, {}},
           {{0, 0}, {1, 0.5}, {0, 1}});
    expect("a request may have any number", {{1, 1}, {}},
           {{-7, 0}, {-7, 1}, {2000000000, 5}, {2000000000, 6}});
    expect("an empty log shows no waits", {}, {});
    for (int i = 0; i < 40; ++i) {
        // What is expected is known before the stamps are mixed.
        struct Wait {
            double end, seconds;
            bool first;
        };
        std::vector<Wait> all;
        Log log;
        for (int request = random.whole(1, 8); request > 0; --request) {
            const int id = 100 * request + random.whole(0, 99);
            double now = random.real(0, 5);
            log.push_back({id, now});
            for (int token = 0, count = random.whole(0, 9); token < count; ++token) {
                const double seconds = random.real(0.1, 2);
                log.push_back({id, now += seconds});
                all.push_back({now, seconds, token == 0});
            }
        }
        std::ranges::sort(log, {}, &Stamp::seconds);
        std::ranges::sort(all, {}, &Wait::end);
        Waits expected;
        for (const Wait& wait : all)
            (wait.first ? expected.first_tokens : expected.beats)
                .push_back(wait.seconds);
        expect("random logs show their waits", expected, log);
    }
}

const homework::Registered homework_06({
    .name = "06_waiting",
    .tasks =
        {{.name = "pace",
          .points = 5,
          .hint = "Write the beats of a short answer down by hand first. How many "
                  "are there, and which one is in the middle once they are sorted?",
          .hint_zh = "先找一份短答案，用手把每一拍写出来：一共几拍？排好序以后，"
                     "正中间是哪一个？",
          .test = pace},
         {.name = "waits",
          .points = 5,
          .hint = "What must you remember of each request while you go through the "
                  "log? Its last stamp, and one thing more.",
          .hint_zh = "顺着日志往下走，每个请求你得记住什么？上一个时间戳，另外还有"
                     "一样。",
          .test = waits}},
});

}  // namespace
