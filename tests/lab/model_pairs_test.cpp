#include "lab/model_pairs.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/accelerators.hpp"
#include "support.hpp"

namespace {

using nlohmann::json;
using testing::EndsWith;

const std::filesystem::path shipped = SOURCE_DIR "/data/model_pairs.json";

/// What is said of the shipped file after a change.
std::string refused(const std::function<void(json&)>& change) {
    const support::TempDir dir;
    json all = json::parse(support::slurp(shipped));
    change(all);
    support::spew(dir / "pairs.json", all.dump());
    return support::bad_input([&] { lab::read_model_pairs(dir / "pairs.json"); });
}

}  // namespace

TEST(ModelPairs, TheShippedOnesAreAsPublished) {
    const std::vector<lab::ModelPair> pairs = lab::read_model_pairs(shipped);
    ASSERT_EQ(pairs.size(), 4u);
    const lab::Catalogue machines = lab::read_machines(SOURCE_DIR "/data/machines.json");
    for (const lab::ModelPair& pair : pairs) {
        EXPECT_LT(pair.small.parameters, pair.large.parameters) << pair.id;
        EXPECT_FALSE(pair.alike.empty()) << pair.id;
        for (const lab::PublicModel& model : {pair.small, pair.large}) {
            const std::string gpu = model.trained ? model.trained->gpu : "a100";
            EXPECT_TRUE(machines.accelerators.contains(gpu)) << model.id;
        }
    }
    const lab::ModelPair& first = pairs.front();
    EXPECT_EQ(first.large.name, "Gopher 280B");
    EXPECT_EQ(first.small.name, "Chinchilla 70B");
    EXPECT_DOUBLE_EQ(first.large.life().once, 5.04e23);
    EXPECT_DOUBLE_EQ(first.small.life().once, 5.88e23);
    // (5.88 - 5.04) x 10^23 over 2 x (280 - 70) x 10^9
    EXPECT_DOUBLE_EQ(*ledger::break_even(first.small.life(), first.large.life()), 2e11);
}

TEST(ModelPairs, ParametersCountedFromShapes) {
    const std::vector<lab::ModelPair> pairs = lab::read_model_pairs(shipped);
    const ledger::Transformer llama_7b{32, 4096, 32, 32, 128, 11008, 32000};
    const ledger::Transformer llama_13b{40, 5120, 40, 40, 128, 13824, 32000};
    EXPECT_EQ(pairs[1].small.parameters, double(llama_7b.parameters()));
    EXPECT_EQ(pairs[1].large.parameters, double(llama_13b.parameters()));
    EXPECT_EQ(pairs[2].small.parameters,
              double(lab::read_machines(SOURCE_DIR "/data/machines.json")
                         .models.at("8b")
                         .numbers.parameters()));
}

TEST(ModelPairs, RefusesOtherFilesInOneLine) {
    EXPECT_THAT(
        refused([](json& j) { j["models"][1]["tokens"] = "many"; }),
        EndsWith("pairs.json: models[1]: tokens: expected a number, found \"many\""));
    EXPECT_THAT(refused([](json& j) { j["models"][0]["parameters"] = 0; }),
                EndsWith("parameters: expected a number from 1 to 1e18, found 0"));
    EXPECT_THAT(
        refused([](json& j) { j["models"][0]["tokens"] = -3e11; }),
        EndsWith("tokens: expected a number from 1 to 1e18, found -300000000000.0"));
    EXPECT_THAT(refused([](json& j) { j["models"][2].erase("tokens"); }),
                EndsWith("models[2]: tokens: missing"));
    EXPECT_THAT(refused([](json& j) { j["models"][2]["token"] = 1; }),
                EndsWith("models[2]: unknown member 'token'"));
    EXPECT_THAT(refused([](json& j) { j["models"][2]["a\nb"] = 1; }),
                EndsWith("models[2]: unknown member 'a b'"));
    EXPECT_THAT(refused([](json& j) { j["models"][2] = 7; }),
                EndsWith("models[2]: expected an object, found 7"));
    EXPECT_THAT(refused([](json& j) { j["models"][2]["id"] = "gopher"; }),
                EndsWith("models[2]: id: expected an id of its own, found \"gopher\""));
    EXPECT_THAT(
        refused([](json& j) { j["models"][2]["id"] = "A B"; }),
        EndsWith("id: expected an id of small letters, digits and _, found \"A B\""));
    EXPECT_THAT(refused([](json& j) { j["models"][2]["name"] = ""; }),
                EndsWith("name: expected a text that is not empty, found \"\""));
    EXPECT_THAT(refused([](json& j) { j["models"][2]["source"] = "a friend"; }),
                EndsWith("source: expected an address that begins with https://, found "
                         "\"a friend\""));
    EXPECT_THAT(refused([](json& j) { j["models"][3]["trained"] = 5; }),
                EndsWith("models[3]: trained: expected an object, found 5"));
    EXPECT_THAT(refused([](json& j) { j["models"][3]["trained"]["hours"] = 0; }),
                EndsWith("trained: hours: expected a number from 1 to 1e18, found 0"));
    EXPECT_THAT(refused([](json& j) { j["models"][3].erase("trained"); }),
                EndsWith("models[3]: trained: missing"));
    EXPECT_THAT(
        refused([](json& j) { j["pairs"][1]["small"] = "llama_8b"; }),
        EndsWith("pairs[1]: small: expected the id of a model, found \"llama_8b\""));
    EXPECT_THAT(refused([](json& j) {
                    std::swap(j["pairs"][0]["small"], j["pairs"][0]["large"]);
                }),
                EndsWith("pairs[0]: small: expected a model of fewer parameters than "
                         "`large`, found \"gopher\""));
    EXPECT_THAT(
        refused([](json& j) { j["pairs"][1]["id"] = j["pairs"][0]["id"]; }),
        EndsWith("pairs[1]: id: expected an id of its own, found \"gopher_chinchilla\""));
    EXPECT_THAT(refused([](json& j) { j["pairs"][0].erase("alike"); }),
                EndsWith("pairs[0]: alike: missing"));
    EXPECT_THAT(refused([](json& j) { j["pairs"] = json::array(); }),
                EndsWith("pairs.json: pairs: expected a pair or more, found []"));
    EXPECT_THAT(refused([](json& j) { j["people"] = 1; }),
                EndsWith("pairs.json: unknown member 'people'"));
    EXPECT_THAT(refused([](json& j) { j = json::array({1}); }),
                EndsWith("pairs.json: expected an object, found [1]"));
}

TEST(ModelPairs, RefusesWhatIsNoJsonAndNoFile) {
    const support::TempDir dir;
    support::spew(dir / "pairs.json", "{\"models\": [");
    EXPECT_THAT(support::bad_input([&] { lab::read_model_pairs(dir / "pairs.json"); }),
                testing::HasSubstr("pairs.json: not JSON: "));
    EXPECT_THAT(support::bad_input([&] { lab::read_model_pairs(dir / "none.json"); }),
                testing::HasSubstr("none.json: cannot be opened: No such file"));
}
