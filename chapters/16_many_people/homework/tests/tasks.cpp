// What the homework of chapter 16 is graded by.

#include <algorithm>
#include <cmath>

#include "../given.hpp"
#include "gpt2/serve.hpp"
#include "homework/task.hpp"
#include "lab/simulated.hpp"

namespace {

using homework::Arrival;
using homework::Random;
using homework::Request;
using homework::Student;

int blocks_of(const Request& request) {
    return gpt2::KvLayout::blocks_for(request.prompt + request.answer - 1);
}

/// A machine whose steps take a second each.
double one_second(std::span<const ledger::Step>) { return 1; }

gpt2::ServeOptions options(int blocks, int seats) {
    // Prompts of any length are read in one step.
    return {
        .blocks = blocks, .together = seats, .chunk = 1 << 30, .prefixes = false};
}

/// What the library's scheduler admits in one step. Somebody else holds what is not
/// free, and a seat; so there is always room for a whole queue, were it alone.
int admitted(const std::vector<Request>& queue, int blocks, int seats) {
    constexpr int taken = 1000;  // blocks
    lab::SimulatedModel model(one_second);
    gpt2::Scheduler scheduler(model, options(blocks + taken, seats + 1),
                              model.clock().now);
    const auto submit = [&](const Request& request) {
        scheduler.submit(
            {.prompt = std::vector<gpt2::Token>(std::size_t(request.prompt), 0),
             .options = {.max_tokens = request.answer}});
    };
    submit({1, taken * gpt2::KvLayout::positions});
    scheduler.step();
    for (const Request& request : queue) submit(request);
    scheduler.step();
    return int(queue.size()) - scheduler.queued();
}

void admit(Student& student, Random& random) {
    const auto expect = [&](const char* what, int expected,
                            const std::vector<Request>& queue, int blocks,
                            int seats) {
        student.expect(what, expected, 0, queue, blocks, seats);
    };
    expect("nobody is admitted where nobody waits", 0, {}, 10, 10);
    expect("blocks are promised for prompt and answer", 1, {{30, 30}, {30, 30}}, 3,
           10);
    expect("each request's blocks are its own, and only whole ones", 3,
           {{8, 8}, {8, 8}, {8, 8}, {8, 8}}, 3, 10);
    expect("the last token of the answer takes no position", 2, {{20, 13}, {1, 64}},
           3, 10);
    expect("one position more takes a block more", 1, {{20, 14}, {1, 64}}, 3, 10);
    expect("nobody overtakes", 1, {{8, 8}, {100, 100}, {8, 8}}, 5, 10);
    expect("no more are admitted than there are seats", 2, {{8, 8}, {8, 8}, {8, 8}},
           9, 2);
    for (int i = 0; i < 40; ++i) {
        std::vector<Request> queue(std::size_t(random.whole(0, 12)));
        for (Request& request : queue)
            request = {random.whole(1, 100), random.whole(1, 100)};
        const int blocks = random.whole(0, 40), seats = random.whole(0, 12);
        expect("random queues are admitted as the library's scheduler does it",
               admitted(queue, blocks, seats), queue, blocks, seats);
    }
}

/// The steps in which the library's scheduler admits them.
std::vector<int> served(const std::vector<Arrival>& arrivals, int blocks,
                        int seats) {
    std::vector<lab::Arrival> people;
    for (const Arrival& arrival : arrivals)
        people.push_back({.at = double(arrival.step),
                          .prompt = arrival.request.prompt,
                          .answer = arrival.request.answer});
    const lab::Service service =
        lab::simulate(one_second, options(blocks, seats), people);
    std::vector<int> steps;
    for (const lab::Answered& answer : service.answers)
        steps.push_back(int(std::lround(answer.arrival.at + answer.admitted)));
    return steps;
}

void serve(Student& student, Random& random) {
    const auto expect = [&](const char* what, const std::vector<int>& expected,
                            const std::vector<Arrival>& arrivals, int blocks,
                            int seats) {
        student.expect(what, expected, 0, arrivals, blocks, seats);
    };
    expect("where there is room, all are admitted when they come", {0, 0, 4},
           {{0, {8, 8}}, {0, {8, 8}}, {4, {8, 8}}}, 9, 9);
    expect("a seat is free in the step behind the last token", {0, 3, 5},
           {{0, {8, 3}}, {0, {8, 2}}, {0, {8, 1}}}, 9, 1);
    expect("blocks are free in the step behind the last token", {0, 20, 30},
           {{0, {8, 20}}, {1, {8, 10}}, {2, {8, 10}}}, 1, 9);
    expect("blocks are promised for the longest text, when it is admitted", {0, 40},
           {{0, {8, 40}}, {0, {8, 40}}}, 3, 9);
    expect("the last token of the answer takes no position", {0, 0},
           {{0, {8, 25}}, {0, {8, 25}}}, 2, 9);
    expect("nobody overtakes", {0, 20, 60},
           {{0, {8, 20}}, {1, {40, 40}}, {2, {8, 8}}}, 3, 9);
    expect("whoever comes to an idle machine is admitted at once", {0, 100},
           {{0, {8, 8}}, {100, {8, 8}}}, 1, 1);
    for (int i = 0; i < 40; ++i) {
        std::vector<Arrival> arrivals(std::size_t(random.whole(0, 30)));
        int step = 0, most = 1;
        for (Arrival& arrival : arrivals) {
            step += random.whole(0, 20);
            arrival = {step, {random.whole(1, 100), random.whole(1, 100)}};
            most = std::max(most, blocks_of(arrival.request));
        }
        const int blocks = most + random.whole(0, 10), seats = random.whole(1, 6);
        expect("random traffic is served as the library's scheduler does it",
               served(arrivals, blocks, seats), arrivals, blocks, seats);
    }
}

const homework::Registered homework_16({
    .name = "16_many_people",
    .tasks =
        {{.name = "admit",
          .points = 4,
          .hint =
              "How many blocks does a request of 20 and 13 tokens need, how many "
              "one of 20 and 14? And what happens to those behind somebody who "
              "does not fit?",
          .hint_zh = "提示词 20、答案 13 个 token 的请求要几块？换成 20 和 14 呢？"
                     "前面那位放不下，后面的人怎么办？",
          .test = admit},
         {.name = "serve",
          .points = 6,
          .hint = "Play the example of the README through on paper, step by step. "
                  "In which step is the first block free again?",
          .hint_zh =
              "拿说明里的例子，在纸上一步一步走一遍：第一块是哪一步空出来的？",
          .test = serve}},
});

}  // namespace
