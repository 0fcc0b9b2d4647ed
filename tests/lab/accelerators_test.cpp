#include "lab/accelerators.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace {

using nlohmann::json;
using testing::EndsWith;

const std::filesystem::path shipped = SOURCE_DIR "/data/machines.json";

/// What is said of the shipped file after a change.
std::string refused(const std::function<void(json&)>& change) {
    const support::TempDir dir;
    json all = json::parse(support::slurp(shipped));
    change(all);
    support::spew(dir / "machines.json", all.dump());
    return support::bad_input([&] { lab::read_machines(dir / "machines.json"); });
}

}  // namespace

TEST(Accelerators, TheShippedOnesAreAsPublished) {
    const lab::Catalogue all = lab::read_machines(shipped);
    EXPECT_EQ(all.models.at("8b").numbers.parameters(), 8'030'261'248);
    EXPECT_EQ(all.models.at("70b").numbers.parameters(), 70'553'706'496);
    const ledger::Accelerator& h100 = all.accelerators.at("h100").numbers;
    EXPECT_EQ(h100.memory, 80e9);
    EXPECT_EQ(h100.bandwidth, 3.35e12);
    EXPECT_EQ(h100.flops, 989e12);
    for (const auto& [id, entry] : all.accelerators) {
        EXPECT_TRUE(entry.source.starts_with("https://")) << id;
        EXPECT_FALSE(entry.name.empty()) << id;
    }
    for (const auto& [id, entry] : all.models)
        EXPECT_TRUE(entry.source.starts_with("https://")) << id;
    EXPECT_GT(all.serving("70b", "h100", 4).kv_room(), 0);
}

TEST(Accelerators, RefusesIdsThatAreNotThere) {
    const lab::Catalogue all = lab::read_machines(shipped);
    EXPECT_EQ(support::bad_input([&] { all.serving("9b", "h100", 1); }),
              "machines: no model '9b'");
    EXPECT_EQ(support::bad_input([&] { all.serving("8b", "abacus", 1); }),
              "machines: no accelerator 'abacus'");
}

TEST(Accelerators, RefusesOtherFilesInOneLine) {
    EXPECT_THAT(refused([](json& j) { j["accelerators"][1]["memory"] = "much"; }),
                EndsWith("machines.json: accelerators[1]: memory: expected a number, "
                         "found \"much\""));
    EXPECT_THAT(refused([](json& j) { j["accelerators"][0]["flops"] = 0; }),
                EndsWith("flops: expected a number from 1 to 1e18, found 0"));
    EXPECT_THAT(refused([](json& j) { j["models"][0].erase("inner"); }),
                EndsWith("models[0]: inner: missing"));
    EXPECT_THAT(refused([](json& j) { j["models"][0]["layers"] = 2000; }),
                EndsWith("layers: expected a whole number from 1 to 1024, found 2000"));
    EXPECT_THAT(refused([](json& j) { j["models"][0]["kv_heads"] = 7; }),
                EndsWith("heads: expected a multiple of kv_heads = 7, found 32"));
    EXPECT_THAT(refused([](json& j) { j["models"][1]["id"] = "8b"; }),
                EndsWith("id: expected an id of its own, found \"8b\""));
    refused([](json& j) { j["models"][0]["hidden"] = -1; });
    refused([](json& j) { j["models"][0]["hidden"] = 1.5; });
    refused([](json& j) { j["models"][0]["vocab"] = 1 << 21; });
    refused([](json& j) { j["models"][0]["head_dim"] = 1 << 20; });
    refused([](json& j) { j["accelerators"] = 1; });
    refused([](json& j) { j = json::array(); });
    refused([](json& j) { j["accelerators"][0]["source"] = nullptr; });

    const support::TempDir dir;
    support::bad_input([&] { lab::read_machines(dir / "none.json"); });
    support::spew(dir / "broken.json", "{\"accelerators\": [");
    support::bad_input([&] { lab::read_machines(dir / "broken.json"); });
}
