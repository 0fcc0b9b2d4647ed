// The reference and the CPU engine against Hugging Face's GPT-2 (tests/golden/README.md).

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/generate.hpp"
#include "gpt2/load.hpp"
#include "gpt2/reference/reference.hpp"
#include "gpt2/safetensors.hpp"
#include "support.hpp"

using namespace gpt2;

namespace {

const std::filesystem::path golden = TEST_DATA "/golden";

std::vector<float> read(const Safetensors& file, const char* name) {
    const Safetensors::Tensor* tensor = file.find(name);
    if (!tensor) throw std::runtime_error(std::string("no tensor ") + name);
    std::vector<float> numbers(std::size_t(tensor->elements()));
    file.read(*tensor, 0, numbers);
    return numbers;
}

std::vector<Token> read_tokens(const Safetensors& file, const char* name) {
    const std::vector<float> numbers = read(file, name);
    return {numbers.begin(), numbers.end()};
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(double(a[i]) - double(b[i])));
    return most;
}

}  // namespace

TEST(Golden, RandomModelsOfManyShapes) {
    int models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(golden)) {
        if (!exists(entry.path() / "model.safetensors")) continue;
        SCOPED_TRACE(entry.path().filename());
        ++models;
        const Safetensors file(entry.path() / "golden.safetensors");
        const std::vector<Token> tokens = read_tokens(file, "tokens");
        const std::vector<float> expected = read(file, "logits");

        const auto weights = load_weights(entry.path());
        EXPECT_LT(largest_difference(reference_logits(*weights, tokens), expected), 1e-5);

        const auto model = cpu::load(*weights, DType::f32, DType::f32, 2);
        KvCache cache = model->new_cache();
        const Logits logits = model->forward(tokens, cache, Rows::all);
        std::vector<float> flat;
        for (int r = 0; r < logits.rows(); ++r)
            flat.insert(flat.end(), logits[r].begin(), logits[r].end());
        EXPECT_LT(largest_difference(flat, expected), 1e-4);
    }
    EXPECT_GE(models, 9);
}

TEST(Golden, ShippedModels) {
    for (const char* name : {"story", "story-draft"}) {
        SCOPED_TRACE(name);
        const auto directory = data_directory() / "models" / name;
        const Safetensors file(golden / name / "golden.safetensors");
        const std::string bytes = support::slurp(directory / "model.safetensors");
        const unsigned sum = std::accumulate(
            bytes.begin(), bytes.end(), 0u,
            [](unsigned s, char c) { return s + static_cast<unsigned char>(c); });
        ASSERT_EQ(float(sum % (1u << 24)), read(file, "model_byte_sum")[0])
            << "the model has changed: make the golden files again";

        const std::vector<Token> tokens = read_tokens(file, "tokens");
        const std::vector<Token> argmaxes = read_tokens(file, "argmax");
        const auto model = load_model(directory);
        KvCache cache = model->new_cache();
        const Logits logits = model->forward(tokens, cache, Rows::all);
        for (int t = 0; t < logits.rows(); ++t)
            EXPECT_EQ(argmax(logits[t]), argmaxes[t]) << "position " << t;
        EXPECT_LT(
            largest_difference(logits[logits.rows() - 1], read(file, "last_logits")),
            1e-4);

        KvCache fresh = model->new_cache();
        EXPECT_EQ(generate(*model, fresh, tokens, {.max_tokens = 32}).tokens,
                  read_tokens(file, "greedy"));
    }
}
