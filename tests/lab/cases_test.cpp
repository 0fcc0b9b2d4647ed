// tests/cases.md against the faults that it answers, and against the tests that it names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "support.hpp"

namespace {

namespace fs = std::filesystem;

std::multiset<std::string> matches(const std::string& text, const std::string& pattern,
                                   const std::string& form) {
    std::multiset<std::string> found;
    const std::regex regex(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
        found.insert(at->format(form));
    return found;
}

TEST(Cases, EachIsAnsweredOnce) {
    const std::string list = support::slurp(fs::path(TEST_DATA) / "cases.tsv");
    const std::string answers = support::slurp(fs::path(SOURCE_DIR) / "tests/cases.md");
    const auto asked = matches(list, "\\n([A-Z][0-9]{2})\\t", "$1");
    EXPECT_GT(asked.size(), 80u);
    EXPECT_EQ(matches(answers, "\\n\\| ([A-Z][0-9]{2}) \\|", "$1"), asked);
    EXPECT_THAT(matches(answers, "\\n\\| ([A-Z][0-9]{2}) \\|\\s*\\|\\s*\\|", "$1"),
                testing::IsEmpty())
        << "neither a test nor a reason";
}

TEST(Cases, TheTestsAreThere) {
    std::string all;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / "tests"))
        if (entry.path().extension() == ".cpp") all += support::slurp(entry.path());
    const auto written =
        matches(all, "TEST(?:_F|_P)?\\(\\s*(\\w+),\\s*(\\w+)\\)", "$1.$2");
    const auto named = matches(support::slurp(fs::path(SOURCE_DIR) / "tests/cases.md"),
                               "`(\\w+\\.\\w+)`", "$1");
    EXPECT_GT(named.size(), 60u);
    for (const std::string& name : named) EXPECT_TRUE(written.contains(name)) << name;
}

}  // namespace
