// The table in the README is what the recorded results say, not what somebody typed.

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/report.hpp"
#include "lab/results.hpp"
#include "support.hpp"

namespace {

constexpr const char* machine = "amd-epyc-2-cores";  // whose results the README shows

/// Chapters' results have a number in front; compare.json is no chapter's.
bool is_chapter(const std::string& name) {
    return name.ends_with(".json") && name[0] >= '0' && name[0] <= '9';
}

std::string table_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (is_chapter(entry.path().filename())) files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<lab::Results> all;
    for (const auto& file : files) all.push_back(lab::read_results(file));
    return lab::summary(all);
}

}  // namespace

TEST(Readme, ShowsTheRecordedResults) {
    const std::filesystem::path recorded =
        std::string(SOURCE_DIR "/data/results/") + machine;
    const std::string table = "```\n" + table_of(recorded) + "```\n";
    for (const char* readme : {"/README.md", "/README.zh.md"})
        EXPECT_TRUE(support::slurp(SOURCE_DIR + std::string(readme)).find(table) !=
                    std::string::npos)
            << readme << ": put the output of build/release/bin/summary "
            << "data/results/" << machine << "/[0-9]*.json there";
}

TEST(Readme, NamesEveryChapter) {
    for (const auto& entry :
         std::filesystem::directory_iterator(SOURCE_DIR "/chapters")) {
        if (!is_directory(entry.path())) continue;
        const std::string line = "| `" + entry.path().filename().string() + "` |";
        for (const char* readme : {"/README.md", "/README.zh.md"})
            EXPECT_TRUE(support::slurp(SOURCE_DIR + std::string(readme)).find(line) !=
                        std::string::npos)
                << readme << ": " << line;
    }
}
