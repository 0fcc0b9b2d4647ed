// The scheduler under hours of traffic. Time is simulated, and so is the model, but for
// what a scheduler could spoil: its blocks of KV cache hold real contents, and its logits
// depend on all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "gpt2/serve.hpp"
#include "lab/traffic.hpp"
#include "support.hpp"

using namespace gpt2;
using Tokens = std::vector<Token>;

namespace {

const Config shape{.n_vocab = 50, .n_ctx = 1024, .n_embd = 8, .n_layer = 1, .n_head = 1};

std::uint64_t mix(std::uint64_t before, std::uint64_t value) {
    std::uint64_t x = before ^ (value + 0x9e3779b97f4a7c15 + (before << 6));
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    return x ^ x >> 27;
}

/// The row of logits behind a text of that fingerprint.
std::vector<float> row_of(std::uint64_t fingerprint) {
    std::vector<float> row(std::size_t(shape.n_vocab));
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = float(mix(fingerprint, i) % 1024);
    return row;
}

/// Keeps of every position the fingerprint of the text up to there, made from the one
/// before, which it reads from the cache. A wrong block, a block written twice, a prompt
/// read in the wrong order: each gives other logits from then on.
class Chain final : public Model {
public:
    Chain() : Model(shape, std::make_shared<KvPool>(shape, DType::f32)) {}
    std::size_t weight_bytes() const override { return 0; }

    double now = 0;  ///< seconds; a pass takes 5 ms, and 0.1 ms a token

private:
    static std::byte* place(const KvCache& cache, int position) {
        return cache.block(position / KvLayout::positions) +
               position % KvLayout::positions * sizeof(std::uint64_t);
    }

    void run(std::span<const Step> batch, Logits& logits) override {
        now += 5e-3;
        int next = 0;
        for (const Step& step : batch) {
            std::uint64_t fingerprint = 0;
            int position = step.cache.size();
            if (position > 0)
                std::memcpy(&fingerprint, place(step.cache, position - 1), 8);
            for (const Token token : step.tokens) {
                fingerprint = mix(fingerprint, std::uint64_t(token));
                std::memcpy(place(step.cache, position++), &fingerprint, 8);
                now += 1e-4;
            }
            if (step.rows == Rows::last)
                std::ranges::copy(row_of(fingerprint), logits[next++].begin());
        }
    }
};

/// What a request is answered with alone, found without a scheduler or a cache.
Tokens alone(const Request& request, std::size_t tokens) {
    std::uint64_t fingerprint = 0;
    for (const Token token : request.prompt)
        fingerprint = mix(fingerprint, std::uint64_t(token));
    Tokens written;
    while (written.size() < tokens) {
        const int position = int(request.prompt.size() + written.size());
        written.push_back(
            request.options.sampler.pick(row_of(fingerprint), request.sample, position));
        fingerprint = mix(fingerprint, std::uint64_t(written.back()));
    }
    return written;
}

/// Bytes of memory that this process has touched, in MiB.
double resident() {
    std::ifstream statm("/proc/self/statm");
    std::size_t all = 0, pages = 0;
    statm >> all >> pages;
    return double(pages) * 4096 / (1 << 20);
}

struct Machine {
    const char* name;
    ServeOptions options;
    double rate;  // requests a second: near what it can serve
    double hours;
};

class ServeLoad : public testing::TestWithParam<Machine> {};

}  // namespace

TEST_P(ServeLoad, HoursOfTraffic) {
    const auto& [name, options, rate, hours] = GetParam();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const double seconds = hours * 600;
#else
    const double seconds = hours * 3600;
#endif
    Chain model;
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return std::size_t(random() % n); };
    std::vector<Tokens> openings;
    for (unsigned i = 0; i < 6; ++i)
        openings.push_back(support::random_tokens(300, shape.n_vocab, i));
    const auto arrivals = lab::draw({.rate = rate, .prompt = 60, .answer = 40},
                                    std::size_t(rate * seconds), 11);
    const auto request_of = [&](std::size_t i) {
        Request request{
            .prompt = openings[i % openings.size()],
            .options = {.max_tokens = arrivals[i].answer,
                        .end_of_text = i % 3 == 0 ? 7 : -1,
                        .sampler = Sampler(
                            {.temperature = i % 2 == 0 ? 0.0f : 50.0f, .seed = i})},
            .sample = i};
        // Half begin as others do, and go on in their own way.
        const auto own =
            support::random_tokens(arrivals[i].prompt, shape.n_vocab, unsigned(i + 100));
        request.prompt.resize(i % 2 == 0 ? std::size_t(arrivals[i].prompt) / 2 : 0);
        request.prompt.insert(request.prompt.end(), own.begin(), own.end());
        return request;
    };

    std::size_t ended = 0, cancelled = 0, late = 0;
    double early_memory = 0;
    {
        Scheduler scheduler(model, options, [&] { return model.now; });
        std::vector<int> open;  // ids of those that have not ended
        std::size_t next = 0;
        while (next < arrivals.size() || !scheduler.idle()) {
            for (; next < arrivals.size() && arrivals[next].at <= model.now; ++next)
                open.push_back(scheduler.submit(request_of(next)));
            if (scheduler.idle()) model.now = std::max(model.now, arrivals[next].at);
            // People leave; now and then all at once.
            if (!open.empty() && below(100) == 0)
                scheduler.cancel(open[below(open.size())]);
            if (below(100'000) == 0)
                for (const int id : open) scheduler.cancel(id);
            for (const Served& served : scheduler.step()) {
                std::erase(open, served.id);
                const Request request = request_of(std::size_t(served.id));
                const Tokens& tokens = served.generation.tokens;
                ASSERT_EQ(tokens, alone(request, tokens.size())) << served.id;
                ++ended;
                cancelled += served.generation.finish == Finish::cancelled;
                late += served.waited > 0.1;
                if (served.generation.finish == Finish::length) {
                    ASSERT_EQ(int(tokens.size()), request.options.max_tokens);
                }
            }
            ASSERT_LE(scheduler.blocks(), options.blocks);
            ASSERT_LE(scheduler.in_flight(), options.together);
            if (early_memory == 0 && model.now > seconds / 4) early_memory = resident();
        }
        EXPECT_TRUE(open.empty());
        EXPECT_EQ(scheduler.totals().most_together, options.together) << "never full";
        EXPECT_EQ(model.new_cache().pool()->blocks_in_use(), scheduler.blocks());
    }
    EXPECT_GT(model.now, seconds * 0.95);
    EXPECT_EQ(ended, arrivals.size());
    EXPECT_GT(cancelled, 5u);
    EXPECT_GT(late, 5u) << "nobody had to wait: this was no load";
    EXPECT_EQ(model.new_cache().pool()->blocks_in_use(), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(resident(), early_memory + 4) << "MiB";
#endif
}

INSTANTIATE_TEST_SUITE_P(
    Machines, ServeLoad,
    testing::Values(
        Machine{"OneSequence", {.blocks = 17, .together = 1, .chunk = 512}, 4, 2},
        Machine{"OneSequenceWithoutPrefixes",
                {.blocks = 17, .together = 1, .chunk = 16, .prefixes = false},
                3.5,
                2},
        Machine{"Few", {.blocks = 40, .together = 4, .chunk = 64}, 10, 0.75},
        Machine{"Many", {.blocks = 1000, .together = 32, .chunk = 256}, 55, 0.2}),
    [](const auto& machine) { return machine.param.name; });
