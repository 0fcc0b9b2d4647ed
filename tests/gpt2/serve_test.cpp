#include "gpt2/serve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "gpt2/cpu/engine.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::ElementsAre;
using testing::HasSubstr;

// B01, K08 ... are cases of tests/data/cases.tsv.
namespace {

const Config config{97, 200, 24, 2, 3};
using Tokens = std::vector<Token>;
using Row = std::vector<float>;

std::unique_ptr<Model> model(DType kv = DType::f32) {
    return cpu::load(*random_weights(config, 4), DType::f32, kv, 2);
}

int blocks_in_use(const Model& m) { return m.new_cache().pool()->blocks_in_use(); }

Tokens text(int n, unsigned seed = 1) {
    return support::random_tokens(n, config.n_vocab, seed);
}

/// Tokens, and the rows of logits that they were picked from.
struct Written {
    Tokens tokens;
    std::vector<Row> rows;
    Finish finish = Finish::length;

    std::function<bool(Token, std::span<const float>)> recorder() {
        return [this](Token token, std::span<const float> row) {
            tokens.push_back(token);
            rows.emplace_back(row.begin(), row.end());
            return true;
        };
    }
};

/// A request served alone: read at once into a cache of its own, then token by token.
Written alone(Model& m, const Request& request) {
    Written written;
    KvCache cache = m.new_cache();
    Tokens next = request.prompt;
    while (true) {
        const Logits logits = m.forward(next, cache);
        const Token token =
            request.options.sampler.pick(logits[0], request.sample, cache.size());
        written.tokens.push_back(token);
        written.rows.emplace_back(logits[0].begin(), logits[0].end());
        if (token == request.options.end_of_text) {
            written.finish = Finish::end_of_text;
            return written;
        }
        if (int(written.tokens.size()) == request.options.max_tokens) return written;
        if (cache.size() + 1 == config.n_ctx) {
            written.finish = Finish::context;
            return written;
        }
        next = {token};
    }
}

}  // namespace

TEST(Serve, GivesWhatGenerateGives) {
    const auto m = model();
    const GenerateOptions options{.max_tokens = 20,
                                  .sampler = Sampler({.temperature = 1, .seed = 9})};
    KvCache cache = m->new_cache();
    const Generation expected = generate(*m, cache, text(40), options);
    Scheduler scheduler(*m);
    EXPECT_TRUE(scheduler.idle());
    EXPECT_EQ(scheduler.submit({.prompt = text(40), .options = options}), 0);
    EXPECT_FALSE(scheduler.idle());
    const std::vector<Served> served = scheduler.run();
    ASSERT_EQ(served.size(), 1u);
    EXPECT_EQ(served[0].generation.tokens, expected.tokens);
    EXPECT_EQ(served[0].generation.finish, expected.finish);
    EXPECT_EQ(served[0].generation.seconds.size(), 20u);
    EXPECT_TRUE(std::ranges::is_sorted(served[0].generation.seconds));
    EXPECT_GE(served[0].generation.first_token(), served[0].waited);
    EXPECT_TRUE(scheduler.idle());
    EXPECT_TRUE(scheduler.step().empty());
}

TEST(Serve, PromptsOfManyLengthsAreNotPadded) {
    // B01, B02: each has positions of its own, and its row of logits is that of its own
    // last token.
    const auto m = model();
    Scheduler scheduler(*m);
    const int lengths[] = {2, 3, 4, 6, 31, 33, 1};
    std::vector<Request> requests;
    std::vector<Written> written(std::size(lengths));
    for (const int length : lengths) {
        Request request{.prompt = text(length, unsigned(length)),
                        .options = {.max_tokens = 6}};
        requests.push_back(request);
        request.on_token = written[requests.size() - 1].recorder();
        scheduler.submit(request);
    }
    scheduler.run();
    EXPECT_EQ(scheduler.totals().steps, 6);
    for (std::size_t i = 0; i < requests.size(); ++i)
        EXPECT_EQ(written[i].rows, alone(*m, requests[i]).rows) << lengths[i];
}

TEST(Serve, ANeighboursTextReachesNobody) {
    // B05: batches of the same shape, in which all but the first have other texts.
    const auto m = model();
    std::vector<Row> seen[2];
    for (const unsigned others : {0u, 1u}) {
        Scheduler scheduler(*m);
        Written first;
        scheduler.submit({.prompt = text(40),
                          .options = {.max_tokens = 8},
                          .on_token = first.recorder()});
        for (unsigned i = 0; i < 5; ++i)
            scheduler.submit(
                {.prompt = text(40, 10 + i + 50 * others), .options = {.max_tokens = 8}});
        scheduler.run();
        seen[others] = first.rows;
    }
    EXPECT_EQ(seen[0].size(), 8u);
    EXPECT_EQ(seen[0], seen[1]);
}

TEST(Serve, EachStopsWhereItShouldAndHarmsNobody) {
    // B04. Eight rows that end at eight different lengths, and a ninth that is told to
    // stop.
    const auto m = model();
    Scheduler scheduler(*m);
    const int lengths[] = {1, 2, 3, 5, 8, 13, 21, 34};
    std::vector<Request> requests;
    for (const int length : lengths)
        requests.push_back(
            {.prompt = text(5, unsigned(length)), .options = {.max_tokens = length}});
    for (const Request& request : requests) scheduler.submit(request);
    int told = 0;
    scheduler.submit(
        {.prompt = text(5, 99),
         .options = {.max_tokens = 50},
         .on_token = [&](Token, std::span<const float>) { return ++told < 7; }});
    std::map<int, Served> served;
    for (Served& one : scheduler.run()) served.emplace(one.id, std::move(one));
    ASSERT_EQ(served.size(), 9u);
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(served.at(i).generation.tokens, alone(*m, requests[i]).tokens);
        EXPECT_EQ(served.at(i).generation.finish, Finish::length);
    }
    EXPECT_EQ(served.at(8).generation.tokens.size(), 7u);
    EXPECT_EQ(served.at(8).generation.finish, Finish::stopped);
    EXPECT_EQ(scheduler.totals().steps, 34);
    EXPECT_EQ(scheduler.totals().most_together, 9);
}

TEST(Serve, CopiesOfOnePromptAreReadOnceAndAgree) {
    // B08, K04.
    const auto m = model();
    const Request request{.prompt = text(100), .options = {.max_tokens = 10}};
    const Written expected = alone(*m, request);
    for (const int chunk : {1, 8, 512}) {
        Scheduler scheduler(*m, {.chunk = chunk});
        for (int copy = 0; copy < 8; ++copy) scheduler.submit(request);
        int reused = 0;
        for (const Served& served : scheduler.run()) {
            EXPECT_EQ(served.generation.tokens, expected.tokens) << chunk;
            reused += served.reused;
        }
        // 99 of 100 tokens may be reused; of these the 96 that fill blocks are.
        EXPECT_EQ(reused, 7 * 96);
        EXPECT_EQ(scheduler.totals().reused, reused);
        EXPECT_EQ(scheduler.totals().read, 8 * 100 - reused);
    }
}

TEST(Serve, SamplesOfOnePromptDifferAndRepeat) {
    const auto m = model();
    Request request{
        .prompt = text(50),
        .options = {.max_tokens = 12, .sampler = Sampler({.temperature = 1, .seed = 3})}};
    Scheduler scheduler(*m);
    std::vector<Tokens> expected;
    for (int i = 0; i < 8; ++i) {
        request.sample = i;
        expected.push_back(alone(*m, request).tokens);
        scheduler.submit(request);
    }
    const std::vector<Served> served = scheduler.run();
    for (const Served& one : served)
        EXPECT_EQ(one.generation.tokens, expected[one.id]) << one.id;
    EXPECT_NE(expected[0], expected[1]);
}

TEST(Serve, KeepsATokenToRead) {
    // K08: a prompt that the cache knows in full still needs a row of logits.
    const auto m = model();
    for (const int n : {1, 31, 32, 33, 64, 65}) {
        Scheduler scheduler(*m);
        const Request request{.prompt = text(n), .options = {.max_tokens = 4}};
        const Written expected = alone(*m, request);
        for (int again = 0; again < 2; ++again) {
            scheduler.submit(request);
            const std::vector<Served> served = scheduler.run();
            EXPECT_EQ(served[0].reused, again ? (n - 1) / 32 * 32 : 0) << n;
            EXPECT_EQ(served[0].generation.tokens, expected.tokens) << n;
        }
    }
}

TEST(Serve, ReusesWhatWasWrittenToo) {
    // The next turn of a talk: the last prompt, the answer, and something new.
    const auto m = model();
    Scheduler scheduler(*m);
    Tokens talk = text(40);
    for (int turn = 0; turn < 3; ++turn) {
        const Request request{.prompt = talk, .options = {.max_tokens = 30}};
        const Written expected = alone(*m, request);
        scheduler.submit(request);
        const Served served = scheduler.run().at(0);
        EXPECT_EQ(served.generation.tokens, expected.tokens);
        // All that the last turn left in its cache; the last token was never read.
        EXPECT_EQ(served.reused, turn == 0 ? 0 : (int(talk.size()) - 10 - 1) / 32 * 32);
        talk.insert(talk.end(), served.generation.tokens.begin(),
                    served.generation.tokens.end());
        const Tokens more = text(10, unsigned(turn) + 5);
        talk.insert(talk.end(), more.begin(), more.end());
    }
}

TEST(Serve, WritesToTheLastPosition) {
    // K06.
    const Config long_context{97, 1024, 24, 2, 3};
    const auto m = cpu::load(*random_weights(long_context, 4), DType::f32, DType::f32, 2);
    for (const int n : {1, 8, 448, 1023}) {
        Scheduler scheduler(*m, {.blocks = 32});
        scheduler.submit({.prompt = text(n), .options = {.max_tokens = 5000}});
        const Served served = scheduler.run().at(0);
        EXPECT_EQ(served.generation.finish, Finish::context);
        EXPECT_EQ(int(served.generation.tokens.size()), 1024 - n);
    }
}

TEST(Serve, LongPromptsDoNotStopOthersFromWriting) {
    const auto m = model();
    Scheduler scheduler(*m, {.chunk = 10});
    int beats = 0;
    scheduler.submit(
        {.prompt = text(3),
         .options = {.max_tokens = 40},
         .on_token = [&](Token, std::span<const float>) { return ++beats; }});
    scheduler.step();
    scheduler.submit({.prompt = text(150, 2), .options = {.max_tokens = 1}});
    const std::int64_t read = scheduler.totals().read;
    for (int step = 1; step <= 15; ++step) {
        scheduler.step();
        EXPECT_EQ(beats, 1 + step);
        EXPECT_EQ(scheduler.totals().read, read + 10 * step);
    }
    EXPECT_EQ(scheduler.totals().served, 1);
}

TEST(Serve, FirstComeFirstServed) {
    // One that needs all the memory stands before many that need little: they wait
    // behind it, and it waits no longer than for those that came before.
    const auto m = model();
    int now = 0;
    Scheduler scheduler(*m, {.blocks = 7}, [&] { return double(now); });
    std::vector<int> order;
    const auto submit = [&](int prompt, int write) {
        const int id = scheduler.submit(
            {.prompt = text(prompt, unsigned(prompt)), .options = {.max_tokens = write}});
        return id;
    };
    submit(20, 10);
    submit(20, 12);
    submit(150, 50);
    for (int i = 0; i < 5; ++i) submit(4, 3);
    std::map<int, double> admitted;
    while (!scheduler.idle()) {
        ++now;
        for (const Served& served : scheduler.step())
            admitted[served.id] = served.submitted + served.waited;
    }
    ASSERT_EQ(admitted.size(), 8u);
    for (int id = 1; id < 8; ++id) EXPECT_GE(admitted[id], admitted[id - 1]) << id;
    EXPECT_EQ(admitted[2], 13);  // when the second has written its twelve
    EXPECT_LE(scheduler.totals().most_blocks, 7);
}

TEST(Serve, CancelsAtAnyMoment) {
    const auto m = model();
    const int before = blocks_in_use(*m);
    {
        Scheduler scheduler(*m, {.together = 2, .chunk = 16});
        const auto submit = [&](unsigned seed) {
            return scheduler.submit(
                {.prompt = text(60, seed), .options = {.max_tokens = 9}});
        };
        const int writing = submit(1), reading = submit(2), waiting = submit(3),
                  left = submit(4);
        for (int i = 0; i < 5; ++i) scheduler.step();
        EXPECT_TRUE(scheduler.cancel(waiting));
        EXPECT_FALSE(scheduler.cancel(waiting)) << "only once";
        EXPECT_TRUE(scheduler.cancel(reading));
        EXPECT_TRUE(scheduler.cancel(writing));
        EXPECT_FALSE(scheduler.cancel(77));
        const std::vector<Served> out = scheduler.step();
        ASSERT_EQ(out.size(), 3u);
        for (const Served& served : out) {
            EXPECT_EQ(served.generation.finish, Finish::cancelled);
            EXPECT_EQ(served.generation.tokens.size(), served.id == writing ? 2u : 0u);
        }
        const Served last = scheduler.run().at(0);
        EXPECT_EQ(last.id, left);
        EXPECT_EQ(last.generation.tokens.size(), 9u);
        EXPECT_FALSE(scheduler.cancel(left)) << "it has ended";
        EXPECT_EQ(scheduler.totals().cancelled, 3);
    }
    EXPECT_EQ(blocks_in_use(*m), before);
}

TEST(Serve, CallbacksMaySubmitAndCancel) {
    const auto m = model();
    Scheduler scheduler(*m);
    const int second =
        1 + scheduler.submit({.prompt = text(5),
                              .options = {.max_tokens = 3},
                              .on_token = [&](Token, std::span<const float>) {
                                  scheduler.submit({.prompt = text(5, 3),
                                                    .options = {.max_tokens = 1}});
                                  scheduler.cancel(1);
                                  return true;
                              }});
    scheduler.submit({.prompt = text(5, 2), .options = {.max_tokens = 9}});
    std::map<int, Finish> ends;
    for (const Served& served : scheduler.run())
        ends[served.id] = served.generation.finish;
    EXPECT_EQ(ends.size(), 5u);
    EXPECT_EQ(ends[second], Finish::cancelled);
    EXPECT_EQ(ends[4], Finish::length);
}

TEST(Serve, AFaultInACallbackEndsItsRequestOnly) {
    const auto m = model();
    Scheduler scheduler(*m);
    const Request good{.prompt = text(5, 2), .options = {.max_tokens = 9}};
    scheduler.submit({.prompt = text(5),
                      .options = {.max_tokens = 3},
                      .on_token = [](Token, std::span<const float>) -> bool {
                          throw std::runtime_error("the reader has left");
                      }});
    scheduler.submit(good);
    EXPECT_THROW(scheduler.step(), std::runtime_error);
    std::map<int, Served> served;
    for (Served& one : scheduler.run()) served.emplace(one.id, std::move(one));
    EXPECT_EQ(served.at(0).generation.finish, Finish::stopped);
    EXPECT_EQ(served.at(0).generation.tokens.size(), 1u);
    EXPECT_EQ(served.at(1).generation.tokens, alone(*m, good).tokens);
}

TEST(Serve, RefusesWhatItCannotServe) {
    // B07.
    const auto m = model();
    Scheduler scheduler(*m, {.blocks = 3});
    EXPECT_TRUE(scheduler.run().empty());
    const auto refused = [&](Request request) {
        return support::bad_input([&] { scheduler.submit(std::move(request)); });
    };
    EXPECT_THAT(refused({}), HasSubstr("prompt: empty"));
    EXPECT_THAT(refused({.prompt = {3, 97}}),
                HasSubstr("prompt: token 1: expected an id below 97, found 97"));
    EXPECT_THAT(refused({.prompt = {-1}}), HasSubstr("found -1"));
    EXPECT_THAT(refused({.prompt = {1}, .options = {.max_tokens = 0}}),
                HasSubstr("max tokens: expected at least 1, found 0"));
    EXPECT_THAT(refused({.prompt = text(200)}), HasSubstr("no room to write"));
    EXPECT_THAT(
        refused({.prompt = text(50), .options = {.max_tokens = 48}}),
        HasSubstr("50 tokens and 48 more to write need 4 blocks, but there are 3"));
    // One less fits exactly: the last token needs no position. And whoever was refused
    // has left no trace.
    const Request fits{.prompt = text(50), .options = {.max_tokens = 47}};
    EXPECT_EQ(scheduler.submit(fits), 0);
    EXPECT_EQ(scheduler.run().at(0).generation.tokens, alone(*m, fits).tokens);

    for (const ServeOptions& options :
         {ServeOptions{.blocks = 0}, ServeOptions{.together = -1},
          ServeOptions{.chunk = 0}})
        EXPECT_THAT(support::bad_input([&] { Scheduler(*m, options); }),
                    HasSubstr("expected at least 1"));
}

// Random traffic: arrivals, lengths, shared openings, samples, cancels, little memory.
// Whatever happens beside it, a request's tokens and logits are those that it has alone,
// to the last bit, and in the end no block is missing.
class Traffic : public testing::TestWithParam<unsigned> {};

TEST_P(Traffic, EachIsServedAsIfAlone) {
    std::mt19937 random(GetParam());
    const auto below = [&](int n) { return int(random() % unsigned(n)); };
    const auto m = model(below(2) ? DType::f16 : DType::f32);
    const int before = blocks_in_use(*m);
    {
        const ServeOptions options{.blocks = 7 + below(20),
                                   .together = 1 + below(9),
                                   .chunk = 1 + below(70),
                                   .prefixes = below(4) > 0};
        Scheduler scheduler(*m, options);
        const Tokens openings[] = {text(199, 1), text(199, 2)};
        std::map<int, Request> requests;
        std::map<int, Written> written;
        std::vector<int> admitted, ids;
        const int steps = 1000;
        int cancelled = 0;
        for (int step = 0; step < steps || !scheduler.idle(); ++step) {
            while (step < steps && below(5) == 0) {
                Request request{
                    .prompt = openings[below(2)],
                    .options = {.max_tokens = 1 + below(below(4) ? 20 : 200),
                                .end_of_text = below(2) ? below(97) : -1,
                                .sampler = Sampler(
                                    {.temperature = float(below(2)), .seed = random()})},
                    .sample = random()};
                request.prompt.resize(1 + below(below(3) ? 80 : 199));
                if (below(2)) request.prompt[below(int(request.prompt.size()))] = 7;
                const int id = int(requests.size());
                // Also in the middle of a step nobody holds more than was promised.
                request.on_token = [&, record = written[id].recorder()](
                                       Token token, std::span<const float> row) {
                    EXPECT_LE(blocks_in_use(*m), scheduler.blocks());
                    return record(token, row);
                };
                ASSERT_EQ(scheduler.submit(request), id);
                requests[id] = std::move(request);
                ids.push_back(id);
            }
            if (!ids.empty() && below(12) == 0)
                cancelled += scheduler.cancel(ids[below(int(ids.size()))]);
            for (const Served& served : scheduler.step()) {
                const Written& got = written[served.id];
                const Written expected = alone(*m, requests[served.id]);
                ASSERT_EQ(got.tokens, served.generation.tokens);
                ASSERT_LE(got.tokens.size(), expected.tokens.size());
                if (served.generation.finish != Finish::cancelled) {
                    ASSERT_EQ(got.tokens, expected.tokens);
                    ASSERT_EQ(served.generation.finish, expected.finish);
                }
                for (std::size_t i = 0; i < got.rows.size(); ++i)
                    ASSERT_EQ(got.rows[i], expected.rows[i])
                        << "request " << served.id << ", row " << i;
                ASSERT_EQ(served.reused % 32, 0);
                ASSERT_LT(served.reused, int(requests[served.id].prompt.size()));
                written.erase(served.id);
            }
            ASSERT_LE(scheduler.blocks(), options.blocks);
            ASSERT_LE(blocks_in_use(*m), scheduler.blocks());
            ASSERT_LE(scheduler.in_flight(), options.together);
        }
        EXPECT_TRUE(written.empty()) << "nobody is forgotten";
        const ServeTotals& totals = scheduler.totals();
        EXPECT_EQ(totals.served + totals.cancelled, std::int64_t(requests.size()));
        EXPECT_EQ(totals.cancelled > 0, cancelled > 0);
        EXPECT_LE(totals.cancelled, cancelled);
        if (!options.prefixes) {
            EXPECT_EQ(totals.reused, 0);
        }
        EXPECT_EQ(scheduler.blocks(), blocks_in_use(*m));
    }
    EXPECT_EQ(blocks_in_use(*m), before);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Traffic, testing::Range(1u, 9u));
