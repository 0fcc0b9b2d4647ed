#include "gpt2/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "gpt2/sampler.hpp"
#include "ledger/cost.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const std::filesystem::path story = data_directory() / "models/story";

/// A copy of the shipped draft model that a test may damage.
struct Copy {
    Copy() {
        for (const char* file :
             {"config.json", "vocab.json", "merges.txt", "model.safetensors"})
            std::filesystem::copy_file(data_directory() / "models/story-draft" / file,
                                       dir / file);
    }
    std::string refused() const {
        return support::bad_input([&] {
            load_tokenizer(dir.path());
            load_model(dir.path());
        });
    }
    support::TempDir dir;
};

}  // namespace

TEST(Load, ShippedModels) {
    for (const char* name : {"story", "story-draft"}) {
        const auto directory = data_directory() / "models" / name;
        const auto model = load_model(directory);
        const Tokenizer tokenizer = load_tokenizer(directory);
        EXPECT_EQ(tokenizer.size(), model->config().n_vocab);
        EXPECT_EQ(tokenizer.end_of_text(), 4095);
        KvCache cache = model->new_cache();
        EXPECT_EQ(model->forward(tokenizer.encode("Once upon a time"), cache).rows(), 1);
    }
}

TEST(Load, WeightsTakeTheBytesThatTheLedgerSays) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::int8}) {
        LoadOptions options;
        options.dtype = dtype;
        const auto model = load_model(story, options);
        // This shape fills whole vectors, so nothing is padding.
        EXPECT_EQ(std::int64_t(model->weight_bytes()),
                  ledger::weight_bytes(model->config(), dtype))
            << name_of(dtype);
    }
}

TEST(Load, RandomWeightsOfAPreset) {
    LoadOptions options;
    options.shape = "small";
    options.dtype = DType::f16;
    const auto model = load_model("random", options);
    EXPECT_EQ(model->config(), preset("small"));
    EXPECT_EQ(load_tokenizer("random", options).size(), 50257);
    KvCache cache = model->new_cache();
    const std::vector<Token> tokens = {1, 2, 3};
    EXPECT_NO_THROW(argmax(model->forward(tokens, cache)[0]));
    EXPECT_THAT(support::bad_input([] { load_model("random"); }), HasSubstr("shape"));
}

TEST(Load, RefusesOptions) {
    const auto refused = [](auto change) {
        LoadOptions options;
        change(options);
        return support::bad_input([&] { load_model(story, options); });
    };
    EXPECT_THAT(refused([](LoadOptions& o) { o.shape = "huge"; }), HasSubstr("'huge'"));
    EXPECT_THAT(refused([](LoadOptions& o) { o.shape = "xl"; }),
                HasSubstr("multiple of 256"));
    EXPECT_THAT(refused([](LoadOptions& o) { o.device = "tpu"; }), HasSubstr("'tpu'"));
    EXPECT_THAT(refused([](LoadOptions& o) { o.threads = -1; }), HasSubstr("threads"));
    EXPECT_THAT(refused([](LoadOptions& o) { o.threads = 257; }), HasSubstr("found 257"));
    EXPECT_THAT(refused([](LoadOptions& o) { o.kv = DType::int8; }), HasSubstr("int8"));
}

TEST(Load, RefusesDamagedDirectories) {
    EXPECT_THAT(support::bad_input([] { load_model("/nowhere"); }),
                HasSubstr("/nowhere/config.json"));
    EXPECT_THAT(support::bad_input([] { load_tokenizer("/nowhere"); }),
                HasSubstr("/nowhere"));
    {
        const Copy copy;
        std::filesystem::remove(copy.dir / "model.safetensors");
        EXPECT_THAT(copy.refused(), HasSubstr("model.safetensors"));
    }
    {
        const Copy copy;
        std::filesystem::resize_file(copy.dir / "model.safetensors", 2000000);
        EXPECT_THAT(copy.refused(), HasSubstr("model.safetensors"));
    }
    {
        // Another model's vocabulary.
        const Copy copy;
        for (const char* file : {"vocab.json", "merges.txt"})
            std::filesystem::copy_file(data_directory() / "gpt2-vocab" / file,
                                       copy.dir / file,
                                       std::filesystem::copy_options::overwrite_existing);
        EXPECT_THAT(copy.refused(),
                    HasSubstr("expected 4096 entries (config.json), found 50257"));
    }
    {
        // Another model's shape.
        const Copy copy;
        std::filesystem::copy_file(story / "config.json", copy.dir / "config.json",
                                   std::filesystem::copy_options::overwrite_existing);
        EXPECT_THAT(copy.refused(), HasSubstr("wte.weight: expected shape [4096, 256]"));
    }
}

TEST(Load, DataDirectoryCanBeSet) {
    const support::TempDir dir;
    setenv("GPT2_DATA", dir.path().c_str(), 1);
    EXPECT_EQ(data_directory(), dir.path());
    unsetenv("GPT2_DATA");
    EXPECT_TRUE(exists(data_directory() / "published.json"));
}

// 43,008 rows of 50,257 scores are more than 2^31 numbers.
TEST(Load, LogitsAreIndexedBeyond32Bits) {
    try {
        Logits logits(42 * 1024, 50257);
        logits[42 * 1024 - 1][50256] = 7;
        logits[0][0] = 1;
        EXPECT_EQ(logits[42 * 1024 - 1][50256], 7);
        EXPECT_EQ(logits[42 * 1024 - 1].data() - logits[0].data(), 2161402799);
    } catch (const std::bad_alloc&) {
        GTEST_SKIP() << "no 8.6 GB of addresses here";
    }
}
