#include "lab/visible.hpp"

#include <gtest/gtest.h>

using lab::visible;

TEST(Visible, LeavesWhatHasAShape) {
    for (const char* text : {"", "much", "a|b~", "读便宜", "é", "🚀", "“…”", "²"})
        EXPECT_EQ(visible(text), text);
}

TEST(Visible, SpellsWhatHasNone) {
    EXPECT_EQ(visible(" much"), "␣much");
    EXPECT_EQ(visible("  \r\n\t"), "␣␣\\r\\n\\t");
    EXPECT_EQ(visible("\\n"), "\\\\n");
    EXPECT_EQ(visible(std::string_view("\0\x1b[31m\x7f", 7)), "\\u{0}\\u{1b}[31m\\u{7f}");
    EXPECT_EQ(visible("👨\u200d👩"), "👨\\u{200d}👩");
    EXPECT_EQ(visible("❤\ufe0f"), "❤\\u{fe0f}");
    EXPECT_EQ(visible("e\u0301\u00a0\u2028\u009b\u202e"),
              "e\\u{301}\\u{a0}\\u{2028}\\u{9b}\\u{202e}");
}

TEST(Visible, SpellsBytesThatAreNoCharacter) {
    EXPECT_EQ(visible("\xe8\xaf"), "\\xe8\\xaf");
    EXPECT_EQ(visible("a\xffz"), "a\\xffz");
    EXPECT_EQ(visible("\xe8\xaf\xbb\xe4"), "读\\xe4");
    EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a surrogate pair
}
