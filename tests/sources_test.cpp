// What no source file may hold, since no compiler complains about it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "support.hpp"

namespace fs = std::filesystem;

// isspace() and its kind take an int from 0 to 255, and a char may be less than 0: what
// they read then lies in front of a table. They also ask the locale. For ASCII, compare;
// for characters, there is utf8proc.
TEST(Sources, NoLocaleDecidesAboutChars) {
    const std::regex classes(
        R"(\b(is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper))\()");
    int files = 0;
    for (const char* folder : {"lib", "chapters", "tests"})
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
            const std::string kind = entry.path().extension();
            if (kind != ".cpp" && kind != ".hpp" && kind != ".cu") continue;
            if (entry.path().filename() == "sources_test.cpp") continue;
            ++files;
            const std::string text = support::slurp(entry.path());
            std::smatch found;
            EXPECT_FALSE(std::regex_search(text, found, classes))
                << entry.path() << ": " << found.str();
        }
    EXPECT_GT(files, 200);
}
