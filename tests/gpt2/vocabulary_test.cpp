#include "gpt2/vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "gpt2/error.hpp"
#include "gpt2/tokenizer.hpp"

// U05, T22, ... are cases of tests/data/cases.tsv.

namespace gpt2 {
namespace {

using Ids = std::vector<Token>;
using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string openai = SOURCE_DIR "/data/gpt2-vocab";

std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

const std::string& openai_vocab() {
    static const std::string text = read(openai + "/vocab.json");
    return text;
}

const std::string& openai_merges() {
    static const std::string text = read(openai + "/merges.txt");
    return text;
}

// A directory for one test; its files go with it.
class Folder {
public:
    Folder()
        : path_(fs::path(testing::TempDir()) /
                (std::string("vocabulary_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
                 std::to_string(getpid()))) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
    }

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

Tokenizer load(const std::string& vocab, const std::string& merges) {
    const Folder folder;
    folder.write("vocab.json", vocab);
    folder.write("merges.txt", merges);
    return Tokenizer::load(folder.path());
}

Tokenizer load(const json& tokenizer_json) {
    const Folder folder;
    folder.write("tokenizer.json", tokenizer_json.dump());
    return Tokenizer::load(folder.path());
}

// The one line with which loading fails.
template <typename... Files>
std::string failure(const Files&... files) {
    try {
        load(files...);
    } catch (const BadInput& error) {
        EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
        EXPECT_LT(std::string(error.what()).size(), 500u);
        return error.what();
    }
    return "no error";
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

// GPT-2's tokenizer.json, the merges as "a b".
const json& one_file() {
    static const json object = [] {
        json merges = json::array();
        for (const std::string& line : lines(openai_merges()))
            if (!line.starts_with("#version")) merges.push_back(line);
        return json{
            {"model",
             {{"type", "BPE"},
              {"vocab", json::parse(openai_vocab())},
              {"merges", std::move(merges)}}},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
            {"added_tokens",
             {{{"id", 50256}, {"content", "<|endoftext|>"}, {"special", true}}}}};
    }();
    return object;
}

// The 256 bytes with GPT-2's ids, "he" = 256 and the end of text.
const json& small_vocab() {
    static const json small = [] {
        const json all = json::parse(openai_vocab());
        json vocab;
        for (const auto& [spelling, id] : all.items())
            if (id < 256) vocab[spelling] = id;
        vocab["he"] = 256;
        vocab["<|endoftext|>"] = 257;
        return vocab;
    }();
    return small;
}

json small_one_file() {
    return {{"model", {{"vocab", small_vocab()}, {"merges", {"h e"}}}}};
}

TEST(Vocabulary, U05EscapedOrNot) {
    const json vocab = json::parse(openai_vocab());
    std::string slashes = vocab.dump(-1, ' ', true);
    for (std::size_t at = 0; (at = slashes.find('/', at)) != slashes.npos; at += 2)
        slashes.insert(at, "\\");
    EXPECT_NE(slashes.find("\\u0120"), slashes.npos);
    for (const std::string& text : {slashes, vocab.dump()}) {
        const Tokenizer tokenizer = load(text, openai_merges());
        EXPECT_EQ(tokenizer.size(), 50257);
        EXPECT_EQ(tokenizer.encode("hello world"), (Ids{31373, 995}));
        EXPECT_EQ(tokenizer.encode("a/\"b"), (Ids{64, 30487, 65}));
    }
}

TEST(Vocabulary, T22HeaderAndRulesThatBeginWithAHash) {
    const std::string headless = openai_merges().substr(openai_merges().find('\n') + 1);
    for (const std::string& merges : {openai_merges(), headless}) {
        const Tokenizer tokenizer = load(openai_vocab(), merges);
        EXPECT_EQ(tokenizer.encode("##"), Ids{2235});
        EXPECT_EQ(tokenizer.encode("###"), Ids{21017});
        EXPECT_EQ(tokenizer.encode("####"), Ids{4242});
        EXPECT_EQ(tokenizer.encode("## Title"), (Ids{2235, 11851}));
        EXPECT_EQ(tokenizer.encode(" the"), Ids{262});
    }
}

TEST(Vocabulary, T23LineEnds) {
    ASSERT_EQ(openai_merges().back(), '\n');
    const std::string cut = openai_merges().substr(0, openai_merges().size() - 1);
    std::string windows;
    for (const std::string& line : lines(openai_merges())) windows += line + "\r\n";
    for (const std::string& merges : {cut, windows}) {
        const Tokenizer tokenizer = load(openai_vocab(), merges);
        EXPECT_EQ(tokenizer.encode(" gazed"), Ids{50255});
        EXPECT_EQ(tokenizer.encode(" the"), Ids{262});
    }
}

TEST(Vocabulary, T24MergesInBothShapes) {
    json pairs = one_file();
    for (json& rule : pairs["model"]["merges"]) {
        const auto text = rule.get<std::string>();
        const std::size_t blank = text.find(' ');
        rule = {text.substr(0, blank), text.substr(blank + 1)};
    }
    for (const json& object : {one_file(), pairs}) {
        const Tokenizer tokenizer = load(object);
        EXPECT_EQ(tokenizer.size(), 50257);
        EXPECT_EQ(tokenizer.encode("hello world"), (Ids{31373, 995}));
        EXPECT_EQ(tokenizer.encode("## Title"), (Ids{2235, 11851}));
    }
    for (const json& rule : {json(7), json({"h"}), json({"h", "e", "x"}), json({"h", 1}),
                             json(nullptr), json({{"h", "e"}, {"x", "y"}})}) {
        json object = small_one_file();
        object["model"]["merges"][0] = rule;
        EXPECT_THAT(failure(object), HasSubstr("/model/merges/0")) << rule;
    }
}

TEST(Vocabulary, T27AddPrefixSpace) {
    json object = one_file();
    object["pre_tokenizer"]["add_prefix_space"] = true;
    const Tokenizer tokenizer = load(object);
    EXPECT_EQ(tokenizer.encode("my"), Ids{616});
    EXPECT_EQ(tokenizer.encode(" my"), Ids{616});
    EXPECT_EQ(tokenizer.encode("a<|endoftext|>b", Special::parse),
              (Ids{257, 50256, 275}));
    EXPECT_EQ(tokenizer.encode(""), Ids{});
    object["pre_tokenizer"]["add_prefix_space"] = "yes";
    EXPECT_THAT(failure(object), HasSubstr("add_prefix_space"));
}

TEST(Vocabulary, EndOfTextMayBeAnAddedTokenOnly) {
    json object = small_one_file();
    object["model"]["vocab"].erase("<|endoftext|>");
    EXPECT_THAT(failure(object), HasSubstr("<|endoftext|>: expected an entry"));
    object["added_tokens"] = {{{"id", 257}, {"content", "<|endoftext|>"}}};
    const Tokenizer tokenizer = load(object);
    EXPECT_EQ(tokenizer.size(), 258);
    EXPECT_EQ(tokenizer.end_of_text(), 257);
}

TEST(Vocabulary, TwoFilesBeforeOne) {
    const Folder folder;
    folder.write("tokenizer.json", small_one_file().dump());
    EXPECT_EQ(Tokenizer::load(folder.path()).size(), 258);
    folder.write("vocab.json", openai_vocab());
    EXPECT_EQ(Tokenizer::load(folder.path()).size(), 258);
    folder.write("merges.txt", openai_merges());
    EXPECT_EQ(Tokenizer::load(folder.path()).size(), 50257);
}

TEST(Vocabulary, EndOfTextMayStandFirst) {
    json vocab = small_vocab();
    for (json& id : vocab) id = id.get<int>() + 1;
    vocab["<|endoftext|>"] = 0;
    Tokenizer tokenizer = load(vocab.dump(), "h e\n");
    EXPECT_EQ(tokenizer.end_of_text(), 0);
    EXPECT_EQ(tokenizer.encode("he"), Ids{257});
    EXPECT_THROW(tokenizer.move_end_of_text(257), BadInput);
    tokenizer.move_end_of_text(258);
    EXPECT_THROW(tokenizer.bytes(0), BadInput);
    EXPECT_EQ(tokenizer.bytes(258), "<|endoftext|>");
}

// An entry that its own bytes do not merge to is decoded, never encoded.
TEST(Vocabulary, AnEntryWithoutARule) {
    const Tokenizer tokenizer = load(small_vocab().dump(), "");
    EXPECT_EQ(tokenizer.encode("he"), (Ids{71, 68}));
    EXPECT_EQ(tokenizer.decode(Ids{256}), "he");
}

TEST(Vocabulary, MissingFiles) {
    const Folder folder;
    EXPECT_THROW(Tokenizer::load(folder.path()), BadInput);
    EXPECT_THROW(Tokenizer::load(folder.path() / "none"), BadInput);
    folder.write("vocab.json", openai_vocab());
    EXPECT_THROW(Tokenizer::load(folder.path()), BadInput);
    fs::create_directory(folder.path() / "merges.txt");
    EXPECT_THROW(Tokenizer::load(folder.path()), BadInput);
}

TEST(Vocabulary, FilesTooLargeAreNotRead) {
    const Folder folder;
    folder.write("vocab.json", "{}");
    folder.write("merges.txt", "");
    fs::resize_file(folder.path() / "vocab.json", std::uintmax_t(1) << 40);
    EXPECT_THROW(Tokenizer::load(folder.path()), BadInput);
}

TEST(Vocabulary, BadJson) {
    const std::string deep = std::string(1000000, '[');
    std::string objects = "{";
    for (int i = 0; i < 100000; ++i) objects += "\"a\":{";
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("{\"a\": 0,}"), std::string("[]"),
          std::string("null"), std::string("3"), std::string("{\"\xff\": 0}"),
          std::string("{\"\\ud800\": 0}"), std::string("{\"a\": 0} x"), deep, objects,
          "{\"" + std::string(1000000, 'a'), std::string("\0\0\0\0", 4)})
        EXPECT_THAT(failure(text, ""), HasSubstr("vocab.json: "));
}

TEST(Vocabulary, BadEntries) {
    const auto with = [](const char* spelling, const json& id) {
        json vocab = small_vocab();
        vocab[spelling] = id;
        return failure(vocab.dump(), "");
    };
    for (const json& id : {json(-1), json(1.0), json(1e30), json("1"), json(nullptr),
                           json(true), json::array(), json(std::uint64_t(-1)),
                           json(std::int64_t(1) << 32), json(1 << 20)})
        EXPECT_THAT(with("th", id), HasSubstr("\"th\": expected an id")) << id;
    EXPECT_THAT(with("th", 259), HasSubstr("\"th\": 259 entries"));         // a gap
    EXPECT_THAT(with("th", 256), HasSubstr("id 256: expected one entry"));  // twice
    EXPECT_THAT(with("t h", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(with("t\n", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(with("\u4e00", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(with("\u00ad", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(with("\u0144", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(with("", 258), HasSubstr("characters that stand for bytes"));
    EXPECT_THAT(failure("{}", ""), HasSubstr("byte 0x00: expected an entry"));

    json vocab = small_vocab();
    vocab.erase("A");
    vocab["<|endoftext|>"] = 32;
    vocab["he"] = 256;
    EXPECT_THAT(failure(vocab.dump(), ""), HasSubstr("byte 0x41: expected an entry"));
}

TEST(Vocabulary, AKeyTwice) {
    std::string text = small_vocab().dump();
    text.pop_back();
    EXPECT_THAT(failure(text + ",\"he\":258}", ""), HasSubstr("\"he\" stands twice"));
}

TEST(Vocabulary, BadMerges) {
    const std::pair<const char*, const char*> cases[] = {
        {"h e\nhe\n", "merges.txt: line 2: expected two entries"},
        {"h e\nh  e\n", "line 2"},
        {"h e x\n", "line 1"},
        {" h e\n", "line 1"},
        {"h e \n", "line 1"},
        {"#version: 0.2\nh e\nt h\n",
         "line 3: expected entries of the vocabulary, "
         "found \"th\""},
        {"h qq\n", "found \"qq\""},
        {"#version: 0.2\n#version: 0.2\n", "line 2"},
        {"h e\nh e\n", "line 2: expected a new pair"},
        {"\xef\xbb\xbfh e\n", "line 1"},
        {"h\te\n", "line 1"},
        {"h \xff\n", "line 1"},
    };
    for (const auto& [merges, message] : cases)
        EXPECT_THAT(failure(small_vocab().dump(), std::string(merges)),
                    HasSubstr(message));
    EXPECT_THAT(failure(small_vocab().dump(), std::string("h e\0\n", 5)),
                HasSubstr("line 1"));
    EXPECT_THAT(failure(small_vocab().dump(), std::string(1000000, 'x')),
                HasSubstr("line 1"));
    EXPECT_EQ(load(small_vocab().dump(), "#version: 0.2\n\nh e\n\n").encode("he"),
              Ids{256});
}

TEST(Vocabulary, BadTokenizerJson) {
    const std::pair<std::function<void(json&)>, const char*> cases[] = {
        {[](json& t) { t.erase("model"); }, "/model/vocab: expected an object"},
        {[](json& t) { t["model"] = 3; }, "/model/vocab"},
        {[](json& t) { t["model"]["vocab"] = json::array(); }, "/model/vocab"},
        {[](json& t) { t["model"].erase("merges"); }, "/model/merges: expected an array"},
        {[](json& t) { t["model"]["merges"] = "h e"; }, "/model/merges"},
        {[](json& t) { t["model"]["merges"] = {"t h"}; }, "/model/merges/0"},
        {[](json& t) { t["model"]["type"] = "Unigram"; }, "/model/type"},
        {[](json& t) { t["model"]["dropout"] = 0.1; }, "/model/dropout"},
        {[](json& t) { t["model"]["byte_fallback"] = true; }, "/model/byte_fallback"},
        {[](json& t) { t["model"]["end_of_word_suffix"] = "</w>"; },
         "end_of_word_suffix"},
        {[](json& t) {
             t["pre_tokenizer"] = {{"type", "Whitespace"}};
         },
         "/pre_tokenizer"},
        {[](json& t) { t["pre_tokenizer"] = "ByteLevel"; }, "/pre_tokenizer"},
        {[](json& t) {
             t["normalizer"] = {{"type", "NFC"}};
         },
         "/normalizer"},
        {[](json& t) { t["added_tokens"] = 1; }, "/added_tokens: expected an array"},
        {[](json& t) { t["added_tokens"] = {1}; }, "/added_tokens"},
        {[](json& t) {
             t["added_tokens"] = {{{"id", 258}, {"content", "[PAD]"}}};
         },
         "expected no token but <|endoftext|>, found \"[PAD]\""},
        {[](json& t) {
             t["added_tokens"] = {{{"id", 7}, {"content", "<|endoftext|>"}}};
         },
         "expected the id in /model/vocab, found 7"},
    };
    for (const auto& [change, message] : cases) {
        json object = small_one_file();
        change(object);
        EXPECT_THAT(failure(object), HasSubstr(message)) << object["pre_tokenizer"];
    }
}

}  // namespace
}  // namespace gpt2
