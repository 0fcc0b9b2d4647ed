// What the homework of chapter 08 is graded by.

#include "../given.hpp"
#include "homework/task.hpp"
#include "ledger/cost.hpp"

namespace {

using homework::Machine;
using homework::Part;
using homework::Random;
using homework::Student;
using Parts = std::vector<Part>;
using Floats = std::vector<float>;

/// The ledger's operations, taken apart: what it says of one sequence, of two, and
/// of one with a position behind it.
Parts parts_of(const gpt2::Config& config, gpt2::DType weights, gpt2::DType kv) {
    const ledger::Step first{.tokens = 1, .past = 0, .rows = 1};
    const ledger::Step second{.tokens = 1, .past = 1, .rows = 1};
    const auto pass = [&](const std::vector<ledger::Step>& batch) {
        return ledger::forward_pass(config, weights, kv, batch);
    };
    const auto one = pass({first}), two = pass({first, first}),
               behind = pass({second});
    Parts parts;
    for (std::size_t i = 0; i < one.size(); ++i)
        parts.push_back({.flops = one[i].flops,
                         .flops_per_position = behind[i].flops - one[i].flops,
                         .shared_bytes = 2 * one[i].bytes - two[i].bytes,
                         .own_bytes = two[i].bytes - one[i].bytes,
                         .own_bytes_per_position = behind[i].bytes - one[i].bytes});
    return parts;
}

void step_time(Student& student, Random& random) {
    const Machine slow{.bandwidth = 100, .peak = 10};
    const auto expect = [&](const char* what, double seconds, const Parts& parts,
                            const std::vector<int>& past) {
        student.expect(what, seconds, 1e-12, parts, slow, past);
    };
    expect("bytes and arithmetic of a part go on at the same time", 10.0,
           {{.flops = 100, .shared_bytes = 400}}, {0});
    expect("the parts follow one another", 14.0,
           {{.flops = 10, .shared_bytes = 400}, {.flops = 100, .shared_bytes = 100}},
           {0});
    expect("the weights make one trip for all sequences", 4.0,
           {{.flops = 10, .shared_bytes = 400}}, {0, 0, 0});
    expect("each sequence brings its own arithmetic", 6.0,
           {{.flops = 20, .shared_bytes = 400}}, {0, 0, 0});
    expect("each sequence brings its own bytes", 7.0,
           {{.flops = 20, .shared_bytes = 400, .own_bytes = 100}}, {0, 0, 0});
    expect("no cache is shared: the positions behind all sequences add up", 8.0,
           {{.flops = 1, .own_bytes_per_position = 10}}, {10, 20, 50});
    expect("arithmetic too grows with the positions behind a sequence", 16.0,
           {{.flops_per_position = 2, .own_bytes_per_position = 10}}, {10, 20, 50});
    for (int i = 0; i < 30; ++i) {
        const int heads = random.whole(1, 16);
        const gpt2::Config config{.n_vocab = random.whole(100, 50257),
                                  .n_ctx = 2000,
                                  .n_embd = 16 * heads * random.whole(1, 4),
                                  .n_layer = random.whole(1, 24),
                                  .n_head = heads};
        const auto weights = gpt2::DType(random.whole(0, 3));
        const auto kv = gpt2::DType(random.whole(0, 1));
        const Machine machine{.bandwidth = random.real(1e9, 1e12),
                              .peak = random.real(1e10, 1e14)};
        const ledger::Engine engine(config, weights, kv,
                                    {machine.bandwidth, machine.peak, 1});
        std::vector<int> past(std::size_t(random.whole(1, 70)));
        std::vector<ledger::Step> batch;
        for (int& positions : past) {
            positions = random.whole(0, 1500);
            batch.push_back({.tokens = 1, .past = positions, .rows = 1});
        }
        student.expect("the ledger says the same of a GPT-2", engine.forward(batch),
                       1e-12, parts_of(config, weights, kv), machine, past);
    }
}

/// The three loops of a textbook: the matrix comes anew for every row.
Floats product(const Floats& x, const Floats& w, int rows) {
    const std::size_t depth = x.size() / std::size_t(rows),
                      columns = w.size() / depth;
    Floats y(std::size_t(rows) * columns);
    for (std::size_t r = 0; r < std::size_t(rows); ++r)
        for (std::size_t m = 0; m < columns; ++m) {
            float sum = 0;
            for (std::size_t k = 0; k < depth; ++k)
                sum += x[r * depth + k] * w[k * columns + m];
            y[r * columns + m] = sum;
        }
    return y;
}

constexpr double float_error = 1e-4;  // of a sum in another order

void multiply(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Floats& y, const Floats& x,
                            const Floats& w, int rows) {
        student.expect(what, y, float_error, x, w, rows);
    };
    expect("x[k] meets w[k, m], and y[m] is their sum over k", {9, 12, 15}, {1, 2},
           {1, 2, 3, 4, 5, 6}, 1);
    expect("each row has sums of its own", {9, 12, 15, 19, 26, 33}, {1, 2, 3, 4},
           {1, 2, 3, 4, 5, 6}, 2);
    const auto drawn = [&](const char* what, int rows, int depth, int columns) {
        const Floats x = random.floats(std::size_t(rows) * std::size_t(depth));
        const Floats w = random.floats(std::size_t(depth) * std::size_t(columns));
        expect(what, product(x, w, rows), x, w, rows);
    };
    for (int rows = 1; rows <= 20; ++rows)
        drawn("no row is left out, whatever their number", rows, 3, 2);
    for (int columns = 1; columns <= 40; ++columns)
        drawn("no column is left out, whatever their number", 2, 3, columns);
    for (int i = 0; i < 20; ++i)
        drawn("random rows and matrices come out as they should",
              random.whole(1, 40), random.whole(1, 100), random.whole(1, 100));
}

double multiply_fast(Student& student, Random& random) {
    // So many rows that moving the arguments takes little of the time.
    const auto many = [](Random& numbers) {
        constexpr int rows = 256;
        const auto depth = std::size_t(numbers.whole(480, 560));
        const auto columns = std::size_t(numbers.whole(480, 560));
        Floats x = numbers.floats(rows * depth), w = numbers.floats(depth * columns);
        return std::tuple(std::move(x), std::move(w), rows);
    };
    return homework::race(student, random, 7, float_error, many, product);
}

const homework::Registered homework_08({
    .name = "08_batching",
    .tasks =
        {{.name = "step_time",
          .points = 4,
          .hint = "Write down for one part what is counted once and what is counted "
                  "for each sequence. Where in predict() of lib/ledger/cost.cpp "
                  "does the maximum stand, inside the sum or around it?",
          .hint_zh =
              "先拿一个部分，把“只算一次的”和“每条序列都算的”分开写下来。再看 "
              "lib/ledger/cost.cpp 的 predict()：取较大值，是在求和里面还是"
              "外面？",
          .test = step_time},
         {.name = "multiply",
          .points = 3,
          .hint = "First let it be right, with three loops: rows, columns, k. Check "
                  "the places of x[r, k], w[k, m] and y[r, m]. What does your loop "
                  "do with rows and columns that fill no whole tile?",
          .hint_zh = "先用三层循环（行、列、k）把结果算对，核对 x[r, k]、w[k, m]、"
                     "y[r, m] 各自放在哪儿。凑不满一个小块的行和列，你的循环怎么"
                     "处理？",
          .test = multiply,
          .speed = homework::Speed{3, 2, multiply_fast}}},
});

}  // namespace
