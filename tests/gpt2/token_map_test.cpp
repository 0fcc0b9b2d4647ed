#include "gpt2/token_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gpt2/load.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

// P06 ... are cases of tests/data/cases.tsv.
namespace {

/// A tokenizer of single bytes, these words, and `<|endoftext|>` behind them.
Tokenizer vocabulary(const std::vector<std::string>& words, bool swap_two = false) {
    const support::TempDir folder;
    const nlohmann::json shipped = nlohmann::json::parse(
        support::slurp(data_directory() / "models/story/vocab.json"));
    nlohmann::json entries;
    std::string merges = "#version: 0.2\n";
    std::vector<std::string> names;
    for (const auto& [name, id] : shipped.items())
        if (id.get<int>() < 256) names.push_back(name);
    if (swap_two) std::swap(names[3], names[200]);
    for (const std::string& word : words) {
        names.push_back(word);
        merges += word.substr(0, 1) + " " + word.substr(1) + "\n";
    }
    names.push_back("<|endoftext|>");
    for (std::size_t id = 0; id < names.size(); ++id) entries[names[id]] = id;
    support::spew(folder / "vocab.json", entries.dump());
    support::spew(folder / "merges.txt", merges);
    return Tokenizer::load(folder.path());
}

}  // namespace

TEST(TokenMap, TiesTheShippedModels) {
    // The draft ends its texts with 4095, the widened target with 50256.
    const std::filesystem::path models = data_directory() / "models";
    const Tokenizer target = load_tokenizer(models / "story", {.shape = "small"});
    const Tokenizer draft = load_tokenizer(models / "story-draft");
    const TokenMap map(target, draft);
    EXPECT_EQ(map.to_target(4095), 50256);
    EXPECT_EQ(map.to_draft(50256), 4095);
    for (Token id = 0; id < 4095; ++id) {
        ASSERT_EQ(map.to_target(id), id);
        ASSERT_EQ(map.to_draft(id), id);
    }
    // P07: nobody's tokens.
    for (const Token id : {-1, 4096, 50255, 50257}) {
        EXPECT_FALSE(map.to_target(id)) << id;
    }
    for (const Token id : {-1, 4095, 50255, 50257}) {
        EXPECT_FALSE(map.to_draft(id)) << id;
    }
}

TEST(TokenMap, ComparesBytesNotIds) {
    // P06.
    const Tokenizer target = vocabulary({"th", "he", "in"});
    const Tokenizer swapped = vocabulary({"in", "th"}, true);
    const TokenMap map(target, swapped);
    int known = 0;
    for (Token id = 0; id < swapped.size(); ++id) {
        const auto same = map.to_target(id);
        ASSERT_TRUE(same);
        EXPECT_EQ(map.to_draft(*same), id);
        if (id == swapped.end_of_text()) continue;
        EXPECT_EQ(target.bytes(*same), swapped.bytes(id));
        known += *same != id;
    }
    EXPECT_GE(known, 4);  // two bytes and two words stand elsewhere
    const Token he = target.encode("he").at(0);
    EXPECT_FALSE(map.to_draft(he)) << "a token that the draft lacks";
}

TEST(TokenMap, RefusesADraftThatKnowsMore) {
    const Tokenizer target = vocabulary({"th"}), more = vocabulary({"th", "qx"});
    EXPECT_THAT(support::bad_input([&] { TokenMap(target, more); }),
                HasSubstr("draft: vocabulary: id 257: the target has no token of these 2 "
                          "bytes"));
    EXPECT_NO_THROW(TokenMap(more, target));
}
