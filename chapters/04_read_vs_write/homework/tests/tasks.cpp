// What the homework of chapter 04 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/cost.hpp"

namespace {

using gpt2::DType;
using homework::Bytes;
using homework::Flops;
using homework::Pass;
using homework::Random;
using homework::Shape;
using homework::Student;

constexpr Shape tiny{3, 8, 2, 1, 1}, small{50257, 1024, 768, 12, 12},
    xl{50257, 1024, 1600, 48, 25};

gpt2::Config config_of(const Shape& shape) {
    return {shape.n_vocab, shape.n_ctx, shape.n_embd, shape.n_layer, shape.n_head};
}

/// What the ledger counts.
std::vector<ledger::Operation> operations(const Shape& shape, const Pass& pass,
                                          DType cache = DType::f32) {
    const ledger::Step step{pass.tokens, pass.past, pass.rows};
    return ledger::forward_pass(config_of(shape), DType::f32, cache, {&step, 1});
}

Flops flops_of(const Shape& shape, const Pass& pass) {
    Flops flops{};
    for (const ledger::Operation& operation : operations(shape, pass)) {
        auto& part = operation.name == "attention" ? flops.attention
                     : operation.name == "head"    ? flops.head
                                                   : flops.layers;
        part += std::int64_t(operation.flops);
    }
    return flops;
}

Bytes bytes_of(const Shape& shape, const Pass& pass, int cache_number) {
    Bytes bytes{};
    bytes.logits = std::int64_t(4) * pass.rows * shape.n_vocab;
    bytes.weights = -bytes.logits;  // the ledger's head has them
    const DType cache = cache_number == 4 ? DType::f32 : DType::f16;
    for (const ledger::Operation& operation : operations(shape, pass, cache)) {
        if (operation.name == "embed") continue;
        auto& part = operation.name == "attention"   ? bytes.cache_read
                     : operation.name == "kv append" ? bytes.cache_written
                                                     : bytes.weights;
        part += std::int64_t(operation.bytes);
    }
    return bytes;
}

/// A shape and a pass over it that nobody can have seen before.
Shape random_shape(Random& random) {
    const int heads = random.whole(1, 32);
    return {random.whole(2, 200000), random.whole(2000, 4000),
            heads * random.whole(1, 128), random.whole(1, 96), heads};
}

Pass random_pass(Random& random) {
    const int tokens = random.whole(1, 1000);
    return {tokens, random.whole(0, 1000), random.whole(0, tokens)};
}

/// One number of an answer.
struct Part {
    std::string rule;
    std::int64_t expected, found;
};

/// Fails at the first number that is wrong, with its rule and the case.
template <class T>
void compare(Student& student, const std::string& where, const T& expected,
             const T& found, const std::vector<Part>& parts) {
    for (const Part& part : parts) {
        student.checking(part.rule + " (" + where + ")");
        if (part.expected != part.found)
            student.fail(homework::show(expected), homework::show(found));
    }
}

void count_flops(Student& student, Random& random) {
    const auto ask = [&](const std::string& where, const Shape& shape,
                         const Pass& pass) {
        student.checking("the FLOPs come out as they should (" + where + ")");
        const Flops expected = flops_of(shape, pass);
        const auto found = student.call<Flops>(shape, pass);
        compare(student, where, expected, found,
                {{"layers: four matrices for each token, and a multiply-add is two "
                  "FLOPs",
                  expected.layers, found.layers},
                 {"attention: position p attends to p + 1 positions",
                  expected.attention, found.attention},
                 {"head: only rows that are asked for meet the head", expected.head,
                  found.head}});
    };
    ask("one layer, d = 2, a vocabulary of 3; one token, one row", tiny, {1, 0, 1});
    ask("two tokens, no row", tiny, {2, 0, 0});
    ask("two tokens behind three, one row", tiny, {2, 3, 1});
    ask("three layers", {3, 8, 2, 3, 2}, {1, 3, 1});
    ask("GPT-2 small reads 512: counts pass 2^31", small, {512, 0, 512});
    ask("GPT-2 xl writes the last token of its context", xl, {1, 1023, 1});
    for (int i = 0; i < 20; ++i)
        ask("a random shape and pass", random_shape(random), random_pass(random));
}

void count_bytes(Student& student, Random& random) {
    const auto ask = [&](const std::string& rule, const std::string& where,
                         const Shape& shape, const Pass& pass, int cache_number) {
        student.checking("the bytes come out as they should (" + where + ")");
        const Bytes expected = bytes_of(shape, pass, cache_number);
        const auto found = student.call<Bytes>(shape, pass, cache_number);
        compare(student, where, expected, found,
                {{"weights: " + rule, expected.weights, found.weights},
                 {"cache read: the past has a key and a value in every layer",
                  expected.cache_read, found.cache_read},
                 {"cache written: a token has a key and a value in every layer",
                  expected.cache_written, found.cache_written},
                 {"logits: n_vocab numbers for each row", expected.logits,
                  found.logits}});
    };
    ask("biases and norms are weights too",
        "one layer, d = 2, a vocabulary of 3; one token, one row", tiny, {1, 0, 1},
        4);
    ask("each weight is fetched once, however many tokens share it", "two tokens",
        tiny, {2, 0, 1}, 4);
    ask("without rows the head stays where it is", "no row", tiny, {1, 0, 0}, 4);
    ask("each layer has its own", "three layers, two tokens behind five",
        {3, 8, 2, 3, 2}, {2, 5, 2}, 4);
    ask("the cache's type is none of theirs", "half precision in the cache", tiny,
        {1, 5, 1}, 2);
    ask("counts pass 2^31", "GPT-2 xl writes the last token of its context", xl,
        {1, 1023, 1}, 4);

    // All parameters but the position embedding, of which a pass looks up a few
    // rows.
    student.checking("GPT-2 small: the weights of a pass are all but one embedding");
    const auto found = student.call<Bytes>(small, Pass{1, 0, 1}, 4);
    const std::int64_t expected =
        ledger::weight_bytes(config_of(small), DType::f32) -
        std::int64_t(4) * small.n_ctx * small.n_embd;
    if (found.weights != expected)
        student.fail(homework::show(expected), homework::show(found.weights));
    for (int i = 0; i < 20; ++i)
        ask("as the ledger counts them", "a random shape and pass",
            random_shape(random), random_pass(random), 2 * random.whole(1, 2));
}

const homework::Registered homework_04({
    .name = "04_read_vs_write",
    .tasks =
        {{.name = "count_flops",
          .points = 5,
          .hint =
              "Count one token by hand in the smallest case of the README, then "
              "two. "
              "How many pairs of a position and one that it attends to are there? "
              "And is every product made in 64 bits?",
          .hint_zh = "用说明里最小的例子，先手算一个 token，再算两个。“谁看谁”一共有"
                     "多少对？还有，每个乘积都是按 64 位算的吗？",
          .test = count_flops},
         {.name = "count_bytes",
          .points = 5,
          .hint =
              "Which of the four numbers depend on how many tokens go in? Tick off "
              "the list of weights in the file, line by line, for the smallest case "
              "of the README.",
          .hint_zh =
              "四个数里，哪几个跟输入多少个 token 有关？用说明里最小的例子，照着"
              "文件里列的权重一项一项勾。",
          .test = count_bytes}},
});

}  // namespace
