#include "gpt2/weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpt2/reference/reference.hpp"
#include "gpt2/safetensors.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const Config config{97, 16, 8, 2, 2};

/// A model directory whose tensors a test may change before it is written.
struct Directory {
    struct Entry {
        std::vector<std::int64_t> shape;
        std::vector<float> numbers;
        DType dtype = DType::f32;
    };

    Directory() {
        const auto weights = random_weights(config, 5);
        for (const Part part : all_parts())
            for (int layer = 0; layer < (is_per_layer(part) ? config.n_layer : 1);
                 ++layer) {
                const Shape shape = shape_of(part, config);
                Entry entry;
                if (shape.rows > 1) entry.shape.push_back(shape.rows);
                entry.shape.push_back(shape.columns);
                entry.numbers.resize(std::size_t(shape.rows) *
                                     std::size_t(shape.columns));
                weights->read(part, layer, 0, entry.numbers);
                tensors[name_of(part, layer)] = entry;
            }
    }

    void write() const {
        support::spew(
            dir / "config.json",
            R"({"vocab_size": 97, "n_positions": 16, "n_embd": 8, "n_layer": 2, "n_head": 2})");
        std::vector<TensorToWrite> list;
        std::vector<std::vector<std::uint16_t>> halves;
        halves.reserve(tensors.size());
        for (const auto& [name, entry] : tensors) {
            std::span<const std::byte> bytes = std::as_bytes(std::span(entry.numbers));
            if (entry.dtype == DType::f16) {
                std::vector<std::uint16_t>& half = halves.emplace_back();
                for (const float x : entry.numbers) half.push_back(to_f16(x));
                bytes = std::as_bytes(std::span(half));
            }
            list.push_back({name, entry.dtype, entry.shape, bytes});
        }
        write_safetensors(dir / "model.safetensors", list);
    }

    std::vector<double> logits() const {
        write();
        const std::vector<Token> tokens = {1, 50, 96, 0, 7};
        return reference_logits(*load_weights(dir.path()), tokens);
    }

    std::string refused() const {
        write();
        const std::string what = support::bad_input([&] { logits(); });
        EXPECT_THAT(what, HasSubstr("model.safetensors: "));
        return what;
    }

    void prefix() {
        std::map<std::string, Entry> prefixed;
        for (const auto& [name, entry] : tensors)
            prefixed[(name == "lm_head.weight" ? "" : "transformer.") + name] = entry;
        tensors = prefixed;
    }

    support::TempDir dir;
    std::map<std::string, Entry> tensors;
};

}  // namespace

TEST(Weights, TheFourWaysToStoreAModelGiveEqualLogits) {
    const std::vector<double> expected = Directory().logits();
    for (const bool prefixed : {false, true})
        for (const bool head : {false, true}) {
            Directory d;
            if (head) d.tensors["lm_head.weight"] = d.tensors["wte.weight"];
            d.tensors["h.0.attn.bias"] = {{1, 1, 16, 16}, std::vector<float>(256, 1.0f)};
            d.tensors["h.1.attn.masked_bias"] = {{}, {-10000.0f}};
            if (prefixed) d.prefix();
            EXPECT_EQ(d.logits(), expected) << prefixed << head;
        }
}

TEST(Weights, ReadsHalfPrecision) {
    Directory d;
    for (auto& [name, entry] : d.tensors)
        for (float& x : entry.numbers) x = from_f16(to_f16(x));
    const std::vector<double> expected = d.logits();
    for (auto& [name, entry] : d.tensors) entry.dtype = DType::f16;
    EXPECT_EQ(d.logits(), expected);
}

TEST(Weights, ReadsAnyRows) {
    Directory d;
    d.write();
    const auto weights = load_weights(d.dir.path());
    const std::vector<float>& all = d.tensors["h.1.mlp.c_fc.weight"].numbers;
    std::vector<float> rows(3 * 32);
    weights->read(Part::fc_weight, 1, 4, rows);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin() + 4 * 32));
}

TEST(Weights, RefusesWhatIsNotThisModel) {
    {
        Directory d;
        d.tensors.erase("h.1.ln_2.bias");
        EXPECT_THAT(d.refused(), HasSubstr("h.1.ln_2.bias: missing"));
    }
    {
        Directory d;
        d.tensors["h.2.ln_2.bias"] = d.tensors["h.1.ln_2.bias"];
        EXPECT_THAT(d.refused(), HasSubstr("h.2.ln_2.bias: not a tensor of a GPT-2"));
    }
    {
        Directory d;
        d.tensors["transformer.wte.weight"] = d.tensors["wte.weight"];
        d.refused();
    }
    {
        Directory d;
        d.tensors["h.0.mlp.c_fc.weight"].shape = {32, 8};
        EXPECT_THAT(d.refused(),
                    HasSubstr("c_fc.weight: expected shape [8, 32], found [32, 8]"));
    }
    {
        Directory d;
        d.tensors["lm_head.weight"] = d.tensors["wte.weight"];
        d.tensors["lm_head.weight"].numbers[8 * 40 + 3] += 1;
        EXPECT_THAT(d.refused(), HasSubstr("row 40 differs from the token embedding"));
    }
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()}) {
        Directory d;
        d.tensors["ln_f.bias"].numbers[5] = bad;
        EXPECT_THAT(d.refused(),
                    HasSubstr("ln_f.bias: element 5: expected a finite number"));
    }
}

TEST(Weights, RandomOnesAreTheSameEverywhereAndNormalEnough) {
    const auto weights = random_weights(preset("small"), 1);
    std::vector<float> numbers(64 * 3072);
    weights->read(Part::fc_weight, 3, 100, numbers);
    double sum = 0, squares = 0;
    for (const float x : numbers) sum += double(x), squares += double(x) * double(x);
    EXPECT_NEAR(sum / double(numbers.size()), 0, 1e-4);
    EXPECT_NEAR(std::sqrt(squares / double(numbers.size())), 0.02, 1e-4);

    // Any row, in any order, gives the same numbers; another tensor gives others.
    std::vector<float> row(3072), other(3072);
    weights->read(Part::fc_weight, 3, 107, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), numbers.begin() + 7 * 3072));
    weights->read(Part::fc_weight, 4, 107, other);
    EXPECT_NE(row, other);
    EXPECT_FLOAT_EQ(row[0],
                    random_weights(preset("small"), 1)->config().n_embd ? row[0] : 0);
}
