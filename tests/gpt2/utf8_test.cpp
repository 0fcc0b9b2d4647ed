#include "gpt2/utf8.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

using namespace gpt2;

TEST(Utf8, AcceptsTextAndNamesTheFirstBadByte) {
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {""sv, "plain"sv, "\0"sv, "\u00e9\u4f60\U0001f30d"sv, "\U0010ffff"sv})
        EXPECT_NO_THROW(check_utf8(text, "text"));
    const auto refused = [](std::string_view text) {
        return support::bad_input([&] { check_utf8(text, "text.txt"); });
    };
    EXPECT_EQ(refused("ab\xff"), "text.txt: byte 2: expected UTF-8, found 0xff");
    for (const std::string_view bad : {"\x80"sv, "\xc3"sv, "\xe4\xbd"sv, "\xc0\xaf"sv,
                                       "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv})
        EXPECT_THAT(refused(bad), testing::HasSubstr("byte 0"));
}
