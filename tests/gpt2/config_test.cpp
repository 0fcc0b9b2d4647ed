#include "gpt2/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

std::string refused(const std::string& json) {
    const support::TempDir dir;
    support::spew(dir / "config.json", json);
    const std::string what =
        support::bad_input([&] { read_config(dir / "config.json"); });
    EXPECT_THAT(what, HasSubstr("config.json: "));
    return what;
}

Config accepted(const std::string& json) {
    const support::TempDir dir;
    support::spew(dir / "config.json", json);
    return read_config(dir / "config.json");
}

const std::string start =
    R"({"vocab_size": 97, "n_positions": 16, "n_embd": 8, "n_layer": 1, "n_head": 2)";

}  // namespace

TEST(Config, CountsParametersAsTheReleasedFilesDo) {
    EXPECT_EQ(parameters(preset("small")), 124439808);
    EXPECT_EQ(parameters(preset("medium")), 354823168);
    EXPECT_EQ(parameters(preset("large")), 774030080);
    EXPECT_EQ(parameters(preset("xl")), 1557611200);
    EXPECT_EQ(body_parameters(preset("small")), 85056000);
    EXPECT_THAT(support::bad_input([] { preset("tiny"); }), HasSubstr("'tiny'"));
    for (const std::string& name : preset_names()) EXPECT_EQ(preset(name).head_dim(), 64);
}

TEST(Config, ReadsWhatHuggingFaceWrites) {
    const Config expected{97, 16, 8, 1, 2};
    EXPECT_EQ(accepted(start + "}"), expected);
    EXPECT_EQ(accepted(start + R"(, "n_inner": null, "n_ctx": 16, "resid_pdrop": 0.1})"),
              expected);
    EXPECT_EQ(accepted(start + R"(, "n_inner": 32, "activation_function": "gelu_new"})"),
              expected);
    EXPECT_EQ(accepted(start + R"(, "layer_norm_epsilon": 1e-05, "model_type": "gpt2"})"),
              expected);
}

TEST(Config, RefusesOtherModels) {
    EXPECT_THAT(refused(start + R"(, "n_inner": 48})"),
                HasSubstr("n_inner: expected 32, found 48"));
    EXPECT_THAT(refused(start + R"(, "activation_function": "gelu"})"),
                HasSubstr("gelu_new"));
    EXPECT_THAT(refused(start + R"(, "layer_norm_epsilon": 1e-6})"),
                HasSubstr("layer_norm_epsilon"));
    EXPECT_THAT(refused(start + R"(, "model_type": "llama"})"), HasSubstr("llama"));
    EXPECT_THAT(refused(start + R"(, "scale_attn_by_inverse_layer_idx": true})"),
                HasSubstr("found true"));
    EXPECT_THAT(refused(start + R"(, "tie_word_embeddings": false})"),
                HasSubstr("tie_word"));
}

TEST(Config, RefusesBadFiles) {
    EXPECT_THAT(refused(""), HasSubstr("not JSON"));
    EXPECT_THAT(refused("{"), HasSubstr("not JSON"));
    EXPECT_THAT(refused("[]"), HasSubstr("expected an object"));
    EXPECT_THAT(refused("\xff"), HasSubstr("not JSON"));
    EXPECT_THAT(refused(std::string(100000, '[')), HasSubstr("not JSON"));
    EXPECT_THAT(refused(start), HasSubstr("not JSON"));
    EXPECT_THAT(refused(R"({"vocab_size": 97})"), HasSubstr("n_ctx: missing"));
    const auto with = [](const char* value) {
        return std::string(R"({"vocab_size": 97, "n_positions": 16, "n_embd": )") +
               value + R"(, "n_layer": 1, "n_head": 2})";
    };
    for (const char* bad :
         {"0", "-8", "8.5", "\"8\"", "null", "1e99", "99999999999999999999", "true"})
        EXPECT_THAT(refused(with(bad)), HasSubstr("n_embd: expected 1 to")) << bad;
    EXPECT_THAT(refused(with("9")), HasSubstr("a multiple of n_head = 2, found 9"));
    EXPECT_THAT(support::bad_input([] { read_config("/nowhere/config.json"); }),
                HasSubstr("/nowhere/config.json: cannot be opened"));
}
