// What the homework of chapter 10 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/price.hpp"
#include "ledger/talk.hpp"

namespace {

using homework::Agent;
using homework::Price;
using homework::Random;
using homework::Request;
using homework::Student;
using Requests = std::vector<Request>;

// Dollars a million: 2 in, 0.20 known, 10 out.
const Price sonnet{2'000'000'000, 200'000'000, 10'000'000'000};

std::int64_t due(const Price& price, const Requests& requests) {
    const ledger::Price list{
        "", "", "", {price.input}, {price.output}, {price.cached}};
    ledger::Money sum;
    for (const auto& [input, cached, output] : requests)
        sum += ledger::cost(list, {input, cached, output});
    return sum.nano;
}

void bill(Student& student, Random& random) {
    const auto expect = [&](const char* what, std::int64_t expected,
                            const Price& price, const Requests& requests) {
        student.expect(what, expected, 0, price, requests);
    };
    expect("a token that is read has the price of input", 2'000'000, sonnet,
           {{1000, 0, 0}});
    expect("a token that is written has the price of output", 4'000'000, sonnet,
           {{1000, 0, 200}});
    expect("a cached token is billed once, at its own price", 400'000 + 160'000,
           sonnet, {{1000, 800, 0}});
    expect("all of a prompt may be cached", 200'000, sonnet, {{1000, 1000, 0}});
    expect("requests are added up", 1'099'200, sonnet,
           {{100, 0, 20}, {160, 96, 20}, {220, 160, 20}});
    expect("no request costs nothing", 0, sonnet, {});
    const Price tiny{1, 1, 1};
    expect("half a nano-dollar is rounded up", 1, tiny, {{500'000, 0, 0}});
    expect("less than half a nano-dollar is dropped", 0, tiny, {{499'999, 0, 0}});
    expect("a request is rounded once, at its end", 1, tiny,
           {{800'000, 400'000, 400'000}});
    expect("each request is rounded by itself", 0, tiny,
           {{400'000, 0, 0}, {400'000, 0, 0}, {0, 0, 400'000}});
    expect("a large sum is as exact as a small one", 999'998'500'001,
           {999'999'500'001, 0, 0}, {{999'999, 0, 0}});
    for (int i = 0; i < 40; ++i) {
        const auto any = [&](std::int64_t most) {
            return std::int64_t(random.real(0, double(most) + 1));
        };
        const std::int64_t dear = i % 2 == 0 ? 1'000'000'000'000 : 1'000;
        const Price price{any(dear), any(dear), any(dear)};
        Requests requests;
        for (int n = random.whole(1, 8); n > 0; --n) {
            const std::int64_t input = any(1'000'000);
            requests.push_back({input, any(input), any(1'000'000)});
        }
        expect("random bills come out as they should", due(price, requests), price,
               requests);
    }
}

Requests rounds_of(const Agent& agent) {
    const ledger::Talk talk{.first = agent.first,
                            .more = agent.back,
                            .write = agent.write,
                            .rounds = agent.rounds,
                            .block = agent.block};
    Requests all;
    for (int k = 0; k < agent.rounds; ++k) {
        const ledger::Usage usage = talk.usage(k, true);
        all.push_back({usage.input, usage.cached, usage.output});
    }
    return all;
}

void requests(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Requests& expected,
                            const Agent& agent) {
        student.expect(what, expected, 0, agent);
    };
    expect("round 0 hands in the record as it begins, and knows nothing",
           {{100, 0, 20}}, {100, 40, 20, 1, 32});
    expect("the record grows by what was written and by what came back",
           {{10, 0, 2}, {16, 0, 2}, {22, 0, 2}}, {10, 4, 2, 3, 1000});
    expect("only whole blocks are known",
           {{100, 0, 20}, {160, 96, 20}, {220, 160, 20}}, {100, 40, 20, 3, 32});
    expect("the last token written is not known: it was never read",
           {{100, 0, 28}, {130, 96, 28}}, {100, 2, 28, 2, 32});
    expect("a block that was just filled is known", {{100, 0, 29}, {131, 128, 29}},
           {100, 2, 29, 2, 32});
    expect("a cache with blocks of one position keeps all that was read",
           {{5, 0, 3}, {9, 7, 3}}, {5, 1, 3, 2, 1});
    for (int i = 0; i < 40; ++i) {
        const Agent agent{random.whole(1, 4000), random.whole(1, 1000),
                          random.whole(1, 300), random.whole(1, 12),
                          random.whole(1, 64)};
        expect("random agents hand in what they should", rounds_of(agent), agent);
    }
}

const homework::Registered homework_10({
    .name = "10_price_list",
    .tasks =
        {{.name = "requests",
          .points = 5,
          .hint = "Follow two numbers from round to round: how long the prompt is, "
                  "and how many positions the KV cache held when the round before "
                  "ended.",
          .hint_zh = "一轮一轮地盯住两个数：提示词有多长；上一轮结束时，KV 缓存里"
                     "有多少个位置。",
          .test = requests},
         {.name = "bill",
          .points = 5,
          .hint = "Split a request's tokens into three heaps before you multiply, "
                  "and divide by a million as late as you may.",
          .hint_zh = "先把一次请求的 token 分成三堆，再去乘单价；除以一百万这一步，"
                     "越晚做越好。",
          .test = bill}},
});

}  // namespace
