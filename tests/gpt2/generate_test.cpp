#include "gpt2/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpt2/cpu/engine.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const Config config{97, 64, 24, 2, 3};

std::unique_ptr<Model> model() {
    return cpu::load(*random_weights(config, 4), DType::f32, DType::f32, 2);
}

}  // namespace

TEST(Generate, WritesWhatForwardWouldChoose) {
    const auto m = model();
    const auto prompt = support::random_tokens(7, config.n_vocab, 1);
    KvCache cache = m->new_cache();
    std::vector<Token> seen;
    const Generation result =
        generate(*m, cache, prompt, {.max_tokens = 20}, [&](Token token) {
            seen.push_back(token);
            return true;
        });
    EXPECT_EQ(result.tokens, seen);
    ASSERT_EQ(result.tokens.size(), 20u);
    EXPECT_EQ(result.finish, Finish::length);
    // Positions 0 to 6 are the prompt; then one position a step. The last token is
    // written but never read.
    EXPECT_EQ(cache.size(), 26);

    std::vector<Token> all = prompt;
    for (const Token token : result.tokens) {
        KvCache cold = m->new_cache();
        EXPECT_EQ(argmax(m->forward(all, cold)[0]), token);
        all.push_back(token);
    }
}

TEST(Generate, StampsEveryToken) {
    const auto m = model();
    KvCache cache = m->new_cache();
    const Generation result = generate(
        *m, cache, support::random_tokens(7, config.n_vocab, 1), {.max_tokens = 9});
    ASSERT_EQ(result.seconds.size(), 9u);
    EXPECT_TRUE(std::ranges::is_sorted(result.seconds));
    EXPECT_GT(result.first_token(), 0);

    // Two tokens have one gap between them, not two.
    Generation two;
    two.seconds = {0.050, 0.060};
    EXPECT_DOUBLE_EQ(two.first_token(), 0.050);
    EXPECT_NEAR(two.beat(), 0.010, 1e-12);
}

TEST(Generate, StopsWhereItShould) {
    const auto m = model();
    const auto prompt = support::random_tokens(7, config.n_vocab, 1);
    KvCache cache = m->new_cache();
    const Generation free = generate(*m, cache, prompt, {.max_tokens = 20});

    // Declare a token that greedy really writes to be the end of text.
    KvCache second = m->new_cache();
    GenerateOptions options{.max_tokens = 20, .end_of_text = free.tokens[5]};
    const Generation ended = generate(*m, second, prompt, options);
    EXPECT_EQ(ended.finish, Finish::end_of_text);
    const auto first = std::ranges::find(free.tokens, free.tokens[5]);
    EXPECT_EQ(ended.tokens, std::vector<Token>(free.tokens.begin(), first + 1));

    KvCache third = m->new_cache();
    int calls = 0;
    const Generation stopped = generate(*m, third, prompt, {.max_tokens = 20},
                                        [&](Token) { return ++calls < 3; });
    EXPECT_EQ(stopped.finish, Finish::stopped);
    EXPECT_EQ(stopped.tokens.size(), 3u);
}

TEST(Generate, RunsToTheContextsEndAndNoFurther) {
    const auto m = model();
    for (const int length : {1, 8, 63}) {
        KvCache cache = m->new_cache();
        const Generation result =
            generate(*m, cache, support::random_tokens(length, config.n_vocab, 1),
                     {.max_tokens = 1000});
        EXPECT_EQ(int(result.tokens.size()), config.n_ctx - length);
        EXPECT_EQ(result.finish, Finish::context);
    }
}

TEST(Generate, GoesOnBehindACache) {
    const auto m = model();
    const auto prompt = support::random_tokens(20, config.n_vocab, 3);
    KvCache whole = m->new_cache(), parts = m->new_cache();
    m->forward(std::span(prompt).first(15), parts, Rows::none);
    EXPECT_EQ(
        generate(*m, whole, prompt, {.max_tokens = 10}).tokens,
        generate(*m, parts, std::span(prompt).subspan(15), {.max_tokens = 10}).tokens);
}

TEST(Generate, RefusesPromptsItCannotContinue) {
    const auto m = model();
    const auto refused = [&](std::vector<Token> prompt, int max_tokens = 5) {
        KvCache cache = m->new_cache();
        const std::string what = support::bad_input(
            [&] { generate(*m, cache, prompt, {.max_tokens = max_tokens}); });
        EXPECT_EQ(cache.size(), 0);
        return what;
    };
    EXPECT_THAT(refused({}), HasSubstr("empty"));
    EXPECT_THAT(refused({1}, 0), HasSubstr("at least 1"));
    EXPECT_THAT(refused(std::vector<Token>(64, 1)), HasSubstr("no room"));
    EXPECT_THAT(refused(std::vector<Token>(2000, 1)), HasSubstr("context of 64"));
    EXPECT_THAT(refused({1, 97}), HasSubstr("found 97"));
}
