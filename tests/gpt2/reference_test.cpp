// What the reference's heads look at.

#include "gpt2/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gpt2/load.hpp"
#include "support.hpp"

using namespace gpt2;

namespace {

/// A model of one layer, written out: the tensors that a test does not set are 0.
class Given : public Weights {
public:
    explicit Given(const Config& config) : Weights(config, "given") {}

    std::map<Part, std::vector<float>> parts;

    void read(Part part, int, int first_row, std::span<float> out) const override {
        const auto found = parts.find(part);
        std::ranges::fill(out, 0.0f);
        if (found == parts.end()) return;
        const auto begin = found->second.begin() +
                           std::ptrdiff_t(first_row) * shape_of(part, config()).columns;
        std::copy_n(begin, out.size(), out.begin());
    }
};

}  // namespace

TEST(Reference, EveryPositionSpreadsAWeightOfOneBehindNothingAhead) {
    const auto weights = open_weights(data_directory() / "models/story");
    const Config& config = weights->config();
    const std::size_t n = 9;
    const auto tokens = support::random_tokens(int(n), config.n_vocab, 5);
    const std::vector<double> all = reference_attention(*weights, tokens);
    ASSERT_EQ(all.size(), std::size_t(config.n_layer * config.n_head) * n * n);
    for (std::size_t row = 0; row < all.size() / n; ++row) {
        double sum = 0;
        for (std::size_t key = 0; key < n; ++key) {
            const double weight = all[row * n + key];
            EXPECT_GE(weight, 0);
            if (key > row % n) {
                EXPECT_EQ(weight, 0);
            }
            sum += weight;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
    }
    // A longer text changes nothing before it: here are the first 4 rows of a head.
    const auto begin = reference_attention(*weights, std::span(tokens).first(4));
    for (std::size_t query = 0; query < 4; ++query)
        for (std::size_t key = 0; key < 4; ++key)
            EXPECT_NEAR(begin[query * 4 + key], all[query * n + key], 1e-12);
}

// One layer, two heads of one number each, worked out by hand. Layer norm makes (1, -1)
// of the first token and (-1, 1) of the second, but for its epsilon.
TEST(Reference, WeightsAreWhatTheFormulaGives) {
    Given weights({.n_vocab = 2, .n_ctx = 4, .n_embd = 2, .n_layer = 1, .n_head = 2});
    weights.parts[Part::token_embedding] = {100, 0, 0, 100};
    weights.parts[Part::ln_1_gain] = {1, 1};
    // Columns: queries of both heads, their keys, their values.
    weights.parts[Part::attn_weight] = {1, 0, 2, 0, 0, 0,  //
                                        0, 3, 0, 0, 0, 0};
    const std::vector<Token> tokens{0, 1, 0};
    const std::vector<double> all = reference_attention(weights, tokens);
    ASSERT_EQ(all.size(), 18u);
    // Head 0: query x, key 2 x, x = 1, -1, 1. So the scores of position 1 are -2, 2, of
    // position 2 are 2, -2, 2.
    const double e = std::exp(4.0), tolerance = 1e-6;
    EXPECT_EQ(all[0], 1);
    EXPECT_NEAR(all[3], 1 / (1 + e), tolerance);
    EXPECT_NEAR(all[4], e / (1 + e), tolerance);
    EXPECT_NEAR(all[6], e / (2 * e + 1), tolerance);
    EXPECT_NEAR(all[7], 1 / (2 * e + 1), tolerance);
    EXPECT_NEAR(all[8], all[6], tolerance);
    // Head 1 has keys of 0: it looks at all alike.
    EXPECT_NEAR(all[9 + 3], 0.5, tolerance);
    for (int key = 0; key < 3; ++key) EXPECT_NEAR(all[9 + 6 + key], 1.0 / 3, tolerance);
}

TEST(Reference, RefusesWhatItCannotRead) {
    const auto weights = open_weights(data_directory() / "models/story");
    const std::vector<Token> outside{0, weights->config().n_vocab};
    const std::vector<Token> many(std::size_t(weights->config().n_ctx) + 1);
    EXPECT_THROW(reference_attention(*weights, {}), BadInput);
    EXPECT_THROW(reference_attention(*weights, outside), BadInput);
    EXPECT_THROW(reference_attention(*weights, many), BadInput);
}
