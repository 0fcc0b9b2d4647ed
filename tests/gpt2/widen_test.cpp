// A narrow model at a larger shape computes the same function.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gpt2/load.hpp"
#include "gpt2/reference/reference.hpp"
#include "gpt2/sampler.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const Config narrow{40, 32, 16, 2, 2};

double widest_difference(const Config& wide, std::uint64_t seed) {
    const auto tokens = support::random_tokens(32, narrow.n_vocab - 1, unsigned(seed));
    const auto expected = reference_logits(*random_weights(narrow, seed), tokens);
    const auto widened =
        reference_logits(*widen(random_weights(narrow, seed), wide, seed), tokens);
    double most = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t)
        for (int v = 0; v < wide.n_vocab; ++v) {
            const double logit = widened[t * std::size_t(wide.n_vocab) + std::size_t(v)];
            const bool last = v == wide.n_vocab - 1;
            if (!last && v >= narrow.n_vocab - 1) {
                EXPECT_NEAR(logit, -100, 1e-2) << "new token " << v;
                continue;
            }
            const int from = last ? narrow.n_vocab - 1 : v;
            most = std::max(
                most,
                std::abs(logit -
                         expected[t * std::size_t(narrow.n_vocab) + std::size_t(from)]));
        }
    return most;
}

}  // namespace

TEST(Widen, ComputesTheSameFunction) {
    for (const int r : {2, 3, 5})
        for (const int n_vocab : {40, 41, 97})
            EXPECT_LT(widest_difference({n_vocab, 32, 16 * r, 2 + r, 2 * r}, 3), 1e-5)
                << r << " times, " << n_vocab << " tokens";
}

TEST(Widen, RefusesShapesThatDoNotFit) {
    const auto refused = [](Config wide) {
        return support::bad_input([&] { widen(random_weights(narrow, 1), wide, 1); });
    };
    EXPECT_THAT(refused({40, 32, 24, 2, 3}), HasSubstr("multiple of 16"));
    EXPECT_THAT(refused({40, 32, 16, 3, 2}), HasSubstr("at least twice"));
    EXPECT_THAT(refused({40, 32, 32, 2, 2}),
                HasSubstr("channels of a head: expected 8, found 16"));
    EXPECT_THAT(refused({40, 64, 32, 2, 4}), HasSubstr("n_ctx"));
    EXPECT_THAT(refused({40, 32, 32, 1, 4}), HasSubstr("n_layer"));
    EXPECT_THAT(refused({39, 32, 32, 2, 4}), HasSubstr("n_vocab"));
}

// The shipped model at exactly GPT-2 small's shape writes the very same words.
TEST(Widen, TheShippedModelWritesTheSameWordsAtGpt2SmallsShape) {
    const auto directory = data_directory() / "models/story";
    LoadOptions wide;
    wide.shape = "small";
    EXPECT_EQ(load_config(directory, wide), preset("small"));
    EXPECT_EQ(parameters(load_config(directory, wide)), 124439808);

    const auto own = load_model(directory), small = load_model(directory, wide);
    const Tokenizer tokenizer = load_tokenizer(directory);
    const Tokenizer wide_tokenizer = load_tokenizer(directory, wide);
    EXPECT_EQ(wide_tokenizer.end_of_text(), 50256);

    std::vector<Token> tokens = tokenizer.encode("It was a dark night, and the old man");
    KvCache own_cache = own->new_cache(), small_cache = small->new_cache();
    std::vector<Token> next = tokens;
    double most = 0;
    for (int i = 0; i < 300; ++i) {
        const Logits a = own->forward(next, own_cache),
                     b = small->forward(next, small_cache);
        for (std::size_t v = 0; v < 4095; ++v)
            most = std::max(most, double(std::abs(a[0][v] - b[0][v])));
        for (std::size_t v = 4095; v < 50256; ++v) EXPECT_LT(b[0][v], -90) << v;
        most = std::max(most, double(std::abs(a[0][4095] - b[0][50256])));
        const Token chosen = argmax(a[0]);
        ASSERT_EQ(chosen == 4095 ? 50256 : chosen, argmax(b[0])) << "token " << i;
        // An end of text is where the two vocabularies differ; go on with a word.
        next = {chosen == 4095 ? Token(11) : chosen};
    }
    EXPECT_LT(most, 1e-3);
    EXPECT_GT(most, 0);
}
