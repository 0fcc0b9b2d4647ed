// The table in the README is what the recorded results say, not what somebody typed.

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/report.hpp"
#include "lab/results.hpp"
#include "support.hpp"

namespace {

constexpr const char* machine = "amd-epyc-2-cores";  // whose results the README shows

std::string table_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
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
            << "data/results/" << machine << "/*.json there";
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
