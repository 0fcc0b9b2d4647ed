#include "gpt2/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "gpt2/error.hpp"

// T01 ... are cases of tests/data/cases.tsv.

namespace gpt2 {
namespace {

using Ids = std::vector<Token>;

const std::string openai = SOURCE_DIR "/data/gpt2-vocab";
const std::string story = SOURCE_DIR "/data/models/story";

const Tokenizer& tokenizer() {
    static const Tokenizer loaded = Tokenizer::load(openai);
    return loaded;
}

Ids encode(const std::string& text) { return tokenizer().encode(text); }

Ids encode_special(const std::string& text) {
    return tokenizer().encode(text, Special::parse);
}

std::string repeat(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

TEST(Tokenizer, TableOfRightAnswers) {
    std::ifstream in(TEST_DATA "/gpt2_token_ids.tsv");
    std::string line;
    std::getline(in, line);
    int rows = 0;
    while (std::getline(in, line)) {
        const std::size_t first = line.find('\t');
        const std::size_t second = line.find('\t', first + 1);
        const auto text = nlohmann::json::parse(line.substr(0, first)).get<std::string>();
        const auto ids =
            nlohmann::json::parse(line.substr(first + 1, second - first - 1));
        EXPECT_EQ(encode(text), ids.get<Ids>()) << line;
        EXPECT_EQ(tokenizer().decode(ids.get<Ids>()), text);
        ++rows;
    }
    EXPECT_EQ(rows, 164);
}

TEST(Tokenizer, CasesWithOneRightAnswer) {
    const std::pair<std::string, Ids> cases[] = {
        {"a  b", {64, 220, 275}},  // T01
        {"  a", {220, 257}},
        {"a   b", {64, 220, 220, 275}},
        {"abc abc", {39305, 450, 66}},
        {repeat(" ", 16), Ids(16, 220)},
        {"\r\n", {201, 198}},  // T03
        {"\r\n\r\n", {201, 198, 201, 198}},
        {"hello\r\nworld", {31373, 201, 198, 6894}},
        {"\tif (x) {\r\n\t\treturn;\r\n\t}\r\n",
         {197, 361, 357, 87, 8, 1391, 201, 198, 197, 197, 7783, 26, 201, 198, 197, 92,
          201, 198}},
        {"\n\n", {628}},  // T04
        {"\n\n\n", {628, 198}},
        {"\n\nx", {198, 198, 87}},
        {"\n\n x", {628, 2124}},
        {" \n  x", {220, 198, 220, 2124}},
        {"  \n\n  \n\nx", {220, 220, 628, 220, 220, 198, 198, 87}},
        {"\n\n\u0085x", {628, 126, 227, 87}},  // T05
        {"\n\n\ufeffx", {198, 198, 171, 119, 123, 87}},
        {"\n\n\x1fx", {198, 198, 219, 87}},
        {"\n\n\u180ex", {198, 198, 157, 254, 236, 87}},
        {"\n\n\u200bx", {198, 198, 9525, 87}},
        {"\n\n\u00a0x", {628, 1849, 87}},
        {"\n\n\u3000x", {628, 5099, 222, 87}},
        {"\n\n\u2028x", {628, 447, 101, 87}},
        {"Pok\u00e9mon", {46602}},  // T06
        {"na\u00efve", {2616, 38776}},
        {"r\u00e9sum\u00e9", {29350, 16345, 2634}},
        {"S\u00e3o Paulo", {50, 28749, 34410}},
        {"jalape\u00f1o", {73, 282, 1758, 31329}},
        {"a\u00a0\u00a0b", {64, 1849, 1849, 65}},
        {"don't", {9099, 470}},  // T07
        {"we'll've", {732, 1183, 1053}},
        {"DON'T", {41173, 6, 51}},
        {" 'll", {705, 297}},
        {"it's 's", {270, 338, 705, 82}},
        {"'tis 'twas", {470, 271, 705, 4246, 292}},
        {"'\u017f", {6, 129, 123}},
        {"\u201cwrote jack a letter\u201d",  // T08
         {447, 250, 42910, 14509, 257, 3850, 447, 251}},
        {"don\u2019t", {9099, 447, 247, 83}},
        {"\u2019", {447, 247}},
        {"\u2014", {960}},
        {"\u2026", {1399}},
        {"1234567890", {10163, 2231, 30924, 3829}},  // T09
        {"BART is a seq2seq model.", {33, 7227, 318, 257, 33756, 17, 41068, 2746, 13}},
        {"x\u00b2y", {87, 31185, 88}},  // T10
        {"5\u00bd", {20, 23141}},
        {"10\u00b2", {940, 31185}},
        {"\u00b2\u00bd\u2167", {31185, 23141, 158, 227, 100}},
        {"\u0661\u0662\u0663", {149, 94, 149, 95, 149, 96}},
        {"\u3007\u4e00", {5099, 229, 31660}},
        {"\u4f60\u597d\u4e16\u754c",  // T11
         {19526, 254, 25001, 121, 10310, 244, 45911, 234}},
        {"\u4f60\u597d 123", {19526, 254, 25001, 121, 17031}},
        {"\u3053\u3093\u306b\u3061\u306f", {46036, 22174, 28618, 2515, 94, 31676}},
        {"\uc548\ub155", {168, 243, 230, 167, 227, 243}},
        {"hello \U0001F44B world \U0001F30D",  // T12
         {31373, 50169, 233, 995, 12520, 234, 235}},
        {"\U0001F44D\U0001F3FD", {41840, 235, 8582, 237, 121}},
        {" this is \U0001F999.cpp", {428, 318, 12520, 99, 247, 13, 20322}},
        {"##", {2235}},  // T22
        {"###", {21017}},
        {"####", {4242}},
        {"## Title", {2235, 11851}},
        {"Hello,", {15496, 11}},  // T25
        {"Hello", {15496}},
        {"lower newer", {21037, 15064}},
        {"rererere", {260, 260, 260, 260}},
        {"my", {1820}},  // T27
        {" my", {616}},
        {"can", {5171}},
        {" can", {460}},
        {"\u0120", {128, 254}},  // T32
        {"\u0120the", {128, 254, 1169}},
        {"\u010a", {128, 232}},
    };
    for (const auto& [text, ids] : cases) {
        EXPECT_EQ(encode(text), ids) << text;
        EXPECT_EQ(tokenizer().decode(ids), text);
    }
}

TEST(Tokenizer, T09RunsOfZeros) {
    const Ids ids[] = {{15},
                       {405},
                       {830},
                       {2388},
                       {20483},
                       {10535},
                       {24598},
                       {8269},
                       {10535, 830},
                       {8269, 405},
                       {8269, 830},
                       {8269, 2388},
                       {8269, 20483},
                       {8269, 10535},
                       {8269, 24598},
                       {25645},
                       {8269, 10535, 830}};
    for (int n = 1; n <= 17; ++n) EXPECT_EQ(encode(repeat("0", n)), ids[n - 1]);
}

TEST(Tokenizer, T26OverlappingPairs) {
    const Ids ids[] = {{64},           {7252},         {46071},
                       {24794},        {24794, 64},    {24794, 7252},
                       {24794, 46071}, {24794, 24794}, {24794, 24794, 64}};
    for (int n = 1; n <= 9; ++n) EXPECT_EQ(encode(repeat("a", n)), ids[n - 1]);
}

TEST(Tokenizer, T18EndOfTextOnlyWhenAsked) {
    EXPECT_EQ(encode("<|endoftext|>"), (Ids{27, 91, 437, 1659, 5239, 91, 29}));
    EXPECT_EQ(encode("a<|endoftext|>b"), (Ids{64, 27, 91, 437, 1659, 5239, 91, 29, 65}));
    EXPECT_EQ(encode("<|endoftext|><|endoftext|>"),
              (Ids{27, 91, 437, 1659, 5239, 91, 6927, 91, 437, 1659, 5239, 91, 29}));
    EXPECT_EQ(encode_special("hello <|endoftext|>"), (Ids{31373, 220, 50256}));
    EXPECT_EQ(encode_special("<<|endoftext|>>"), (Ids{27, 50256, 29}));
    EXPECT_EQ(encode_special("x\n\n<|endoftext|>"), (Ids{87, 628, 50256}));
    EXPECT_EQ(encode_special("<|endoftext|><|endoftext|>"), (Ids{50256, 50256}));
    EXPECT_EQ(encode_special("<|endoftext|"), encode("<|endoftext|"));
    EXPECT_EQ(tokenizer().decode(Ids{64, 50256}), "a<|endoftext|>");
}

// OpenAI's own procedure, written as plainly as it can be: find the pair of the lowest
// rank, join it everywhere, begin again.
Ids merge_plainly(const std::string& word) {
    static const auto ranks = [] {
        std::map<std::string, int> all;
        std::ifstream in(openai + "/merges.txt");
        std::string line;
        std::getline(in, line);
        while (std::getline(in, line)) all.emplace(line, int(all.size()));
        return all;
    }();
    static const auto ids = [] {
        std::ifstream in(openai + "/vocab.json");
        return nlohmann::json::parse(in).get<std::map<std::string, Token>>();
    }();
    std::vector<std::string> parts;
    for (const char c : word) parts.emplace_back(1, c);
    while (true) {
        std::pair<int, std::string> best{std::numeric_limits<int>::max(), ""};
        for (std::size_t i = 1; i < parts.size(); ++i)
            if (const auto rule = ranks.find(parts[i - 1] + " " + parts[i]);
                rule != ranks.end())
                best = std::min(best, {rule->second, rule->first});
        if (best.second.empty()) break;
        std::vector<std::string> joined;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (i + 1 < parts.size() && parts[i] + " " + parts[i + 1] == best.second) {
                joined.push_back(parts[i] + parts[i + 1]);
                ++i;
            } else {
                joined.push_back(parts[i]);
            }
        parts = joined;
    }
    Ids result;
    for (const std::string& part : parts) result.push_back(ids.at(part));
    return result;
}

TEST(Tokenizer, LongAndShortWordsMergeAsOpenAiDoes) {
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        const std::string letters = i % 2 ? "etaoinshr" : "ab";
        std::string word(1 + random() % 120, ' ');
        for (char& c : word) c = letters[random() % letters.size()];
        ASSERT_EQ(encode(word), merge_plainly(word)) << word;
    }
}

// Every step is the one before it with one rule applied to one pair, and the last is what
// encode() gives.
TEST(Tokenizer, MergeStepsLeadFromBytesToTokens) {
    std::mt19937 random(3);
    for (int i = 0; i < 500; ++i) {
        std::string word(1 + random() % 48, ' ');
        for (char& c : word) c = "etaoinshr"[random() % 9];
        if (i % 3 == 0) word[0] = ' ';
        if (word == " ") continue;
        const std::vector<MergeStep> steps = tokenizer().merge_steps(word);
        ASSERT_EQ(steps.back().tokens, encode(word)) << word;
        EXPECT_EQ(steps[0].rule, -1);
        ASSERT_EQ(steps[0].tokens.size(), word.size());
        for (std::size_t s = 1; s < steps.size(); ++s) {
            const Ids &before = steps[s - 1].tokens, &after = steps[s].tokens;
            ASSERT_EQ(before.size(), after.size() + 1);
            const auto merged = std::ranges::mismatch(before, after);
            EXPECT_EQ(tokenizer().bytes(*merged.in2),
                      std::string(tokenizer().bytes(merged.in1[0])) +
                          std::string(tokenizer().bytes(merged.in1[1])));
            EXPECT_TRUE(std::equal(merged.in1 + 2, before.end(), merged.in2 + 1));
            // OpenAI numbered the results of its rules in order, behind the 256 bytes.
            EXPECT_EQ(*merged.in2, 256 + steps[s].rule);
        }
    }
}

TEST(Tokenizer, MergeStepsOfAWordWithItsBlank) {
    const std::vector<MergeStep> steps = tokenizer().merge_steps(" the");
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[0].tokens, (Ids{220, 83, 71, 68}));
    EXPECT_EQ(steps[1].rule, 0);  // the first rule of all: a blank and t
    EXPECT_EQ(steps[1].tokens, (Ids{256, 71, 68}));
    EXPECT_EQ(steps[2].tokens, (Ids{256, 258}));
    EXPECT_EQ(steps[3].tokens, (Ids{262}));
    EXPECT_EQ(tokenizer().merge_steps("\xff").size(), 1u);
}

TEST(Tokenizer, MergeStepsRefuseWhatIsNotOnePiece) {
    EXPECT_NO_THROW(tokenizer().merge_steps(repeat("ab", 24)));
    for (const std::string& text : {std::string(), repeat("ab", 24) + "a",
                                    std::string("two words"), std::string("it's")})
        EXPECT_THROW(tokenizer().merge_steps(text), BadInput) << text;
}

TEST(Tokenizer, StoryVocabularyIsTheBeginningOfGpt2s) {
    const Tokenizer small = Tokenizer::load(story);
    EXPECT_EQ(small.size(), 4096);
    EXPECT_EQ(small.end_of_text(), 4095);
    for (Token id = 0; id < 4095; ++id) EXPECT_EQ(small.bytes(id), tokenizer().bytes(id));
    EXPECT_EQ(small.encode("the end<|endoftext|>", Special::parse),
              (Ids{1169, 886, 4095}));
}

TEST(Tokenizer, MoveEndOfText) {
    Tokenizer moved = Tokenizer::load(story);
    const Tokenizer copy = moved;
    moved.move_end_of_text(50256);
    EXPECT_EQ(moved.end_of_text(), 50256);
    EXPECT_EQ(moved.encode("a<|endoftext|>", Special::parse), (Ids{64, 50256}));
    EXPECT_EQ(moved.bytes(50256), "<|endoftext|>");
    EXPECT_THROW(moved.bytes(4095), BadInput);
    EXPECT_THROW(moved.bytes(4096), BadInput);
    EXPECT_EQ(copy.end_of_text(), 4095);
    for (const Token id : {-1, 0, 4094})
        EXPECT_THROW(moved.move_end_of_text(id), BadInput);
    moved.move_end_of_text(4095);
    EXPECT_EQ(moved.bytes(4095), "<|endoftext|>");
}

}  // namespace
}  // namespace gpt2
