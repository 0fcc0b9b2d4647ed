#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "gpt2/error.hpp"
#include "gpt2/tokenizer.hpp"

// What must hold for any bytes, whole and streamed. T21 ... are cases of
// tests/data/cases.tsv.

namespace gpt2 {
namespace {

using Ids = std::vector<Token>;
using namespace std::string_literals;

const std::string openai = SOURCE_DIR "/data/gpt2-vocab";
const std::string story = SOURCE_DIR "/data/models/story";

const Tokenizer& tokenizer() {
    static const Tokenizer loaded = Tokenizer::load(openai);
    return loaded;
}

Ids encode(const std::string& text) { return tokenizer().encode(text); }

std::string repeat(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::string utf8(char32_t c) {
    if (c < 0x80) return {char(c)};
    const auto tail = [&](int shift) { return char(0x80 | (c >> shift & 63)); };
    if (c < 0x800) return {char(0xc0 | c >> 6), tail(0)};
    if (c < 0x10000) return {char(0xe0 | c >> 12), tail(6), tail(0)};
    return {char(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

void expect_round_trip(const Tokenizer& with, const std::string& bytes) {
    const Ids ids = with.encode(bytes);
    ASSERT_EQ(with.decode(ids), bytes);
    StreamDecoder stream(with);
    std::string streamed;
    for (const Token id : ids) streamed += stream.push(id);
    ASSERT_EQ(streamed + stream.finish(), bytes);
}

TEST(TokenizerBytes, T21LongRuns) {
    const std::pair<std::string, int> runs[] = {
        {"A", 43000},        {"\n", 50000},  {"Z", 131072}, {" ", 100000},
        {".", 100000},       {"a", 1000000}, {"0", 30001},  {"\u4e00", 30000},
        {"ab\u00e9", 99999}, {"'s", 9999},   {"\xff", 9999}};
    for (const auto& [text, times] : runs)
        expect_round_trip(tokenizer(), repeat(text, times));
    EXPECT_EQ(encode(repeat(" ", 100000)), Ids(100000, 220));
    EXPECT_EQ(encode(repeat("a", 1000000)), Ids(250000, 24794));
    EXPECT_EQ(encode(repeat("\n", 50000)), Ids(25000, 628));
}

TEST(TokenizerBytes, T33SingleBytes) {
    std::vector<bool> seen(256);
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, char(byte));
        const Ids ids = encode(text);
        ASSERT_EQ(ids.size(), 1u);
        ASSERT_LT(ids[0], 256);
        seen[ids[0]] = true;
        EXPECT_EQ(tokenizer().bytes(ids[0]), text);
    }
    EXPECT_EQ(seen, std::vector<bool>(256, true));
    EXPECT_EQ(encode("!"), Ids{0});
    EXPECT_EQ(encode("\0"s), Ids{188});
    EXPECT_EQ(encode(" "), Ids{220});
    EXPECT_EQ(encode("\n"), Ids{198});
}

TEST(TokenizerBytes, T33EveryEntryRoundTrips) {
    for (const std::string& directory : {openai, story}) {
        const Tokenizer with = Tokenizer::load(directory);
        for (Token id = 0; id < with.size(); ++id)
            expect_round_trip(with, std::string(with.bytes(id)));
    }
}

TEST(TokenizerBytes, T33RandomTextAndRandomBytesRoundTrip) {
    std::mt19937 random(2);
    const Tokenizer small = Tokenizer::load(story);
    for (int i = 0; i < 10000; ++i) {
        std::string bytes, text;
        for (std::size_t n = random() % 40; n > 0; --n) {
            bytes += char(random());
            char32_t c = random() % (i % 2 ? 0x3000 : 0x110000);
            if (c >= 0xd800 && c < 0xe000) c = ' ';
            text += utf8(c);
        }
        expect_round_trip(tokenizer(), bytes);
        expect_round_trip(tokenizer(), text);
        expect_round_trip(small, bytes + text);
    }
}

TEST(TokenizerBytes, InvalidUtf8IsKeptAndEndsAWord) {
    // Cut, overlong, surrogate, beyond U+10FFFF: none of their bytes is a letter.
    for (const std::string bad : {"\xff", "\xe4\xb8", "\xc0\xaf", "\xed\xa0\x80",
                                  "\xf4\x90\x80\x80", "\x80", "\xf0\x9f\x98"}) {
        expect_round_trip(tokenizer(), "ab" + bad + "cd");
        Ids expected = encode("hello");
        const Ids middle = encode(bad), last = encode("hello");
        expected.insert(expected.end(), middle.begin(), middle.end());
        expected.insert(expected.end(), last.begin(), last.end());
        EXPECT_EQ(encode("hello" + bad + "hello"), expected);
    }
}

TEST(TokenizerBytes, T31IdsOutsideTheVocabulary) {
    for (const Token id : {-1, 50257, 50303, std::numeric_limits<Token>::max(),
                           std::numeric_limits<Token>::min()}) {
        EXPECT_THROW(tokenizer().decode(Ids{64, id}), BadInput);
        EXPECT_THROW(StreamDecoder(tokenizer()).push(id), BadInput);
        try {
            tokenizer().bytes(id);
            ADD_FAILURE() << "no error";
        } catch (const BadInput& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(id)));
        }
    }
    EXPECT_EQ(tokenizer().decode(Ids{}), "");
    EXPECT_EQ(encode(""), Ids{});
}

TEST(TokenizerBytes, T29StreamHoldsBackAnOpenCharacter) {
    StreamDecoder stream(tokenizer());
    EXPECT_EQ(stream.push(31373), "hello");
    EXPECT_EQ(stream.push(50169), " ");
    EXPECT_EQ(stream.push(233), "\U0001F44B");
    EXPECT_EQ(stream.push(995), " world");
    EXPECT_EQ(stream.finish(), "");

    EXPECT_EQ(stream.push(31373), "hello");
    EXPECT_EQ(stream.push(50169), " ");
    EXPECT_EQ(stream.finish(), "\xf0\x9f\x91");
    EXPECT_EQ(stream.finish(), "");

    EXPECT_EQ(stream.push(8582), "");
    EXPECT_EQ(stream.push(198), "\xf0\x9f\n");
    EXPECT_EQ(stream.finish(), "");
}

TEST(TokenizerBytes, StreamReleasesWhatCanNeverBecomeACharacter) {
    // Fed byte by byte: what comes out at each.
    const std::vector<std::string> cases[] = {
        {"\xc3", "", "\xa9", "\xc3\xa9"},
        {"\xc0", "\xc0", "\xaf", "\xaf"},
        {"\xe0", "", "\x9f", "\xe0\x9f"},
        {"\xed", "", "\xa0", "\xed\xa0"},
        {"\xf0", "", "\x8f", "\xf0\x8f"},
        {"\xf4", "", "\x90", "\xf4\x90"},
        {"\xf5", "\xf5", "\x80", "\x80"},
        {"\xe4", "", "\xe4", "\xe4", "\xb8", "", "\xad", "\xe4\xb8\xad"},
        {"\xf4", "", "\x8f", "", "\xbf", "", "\xbf", "\xf4\x8f\xbf\xbf"},
    };
    for (const std::vector<std::string>& steps : cases) {
        StreamDecoder stream(tokenizer());
        for (std::size_t i = 0; i < steps.size(); i += 2)
            EXPECT_EQ(stream.push(encode(steps[i])[0]), steps[i + 1]);
        EXPECT_EQ(stream.finish(), "");
    }
}

}  // namespace
}  // namespace gpt2
