// Every chapter's homework: a starter fails each of its tasks, a solution passes them
// all, and typical mistakes are caught and named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

fs::path homework_of(const std::string& chapter) {
    return fs::path(SOURCE_DIR) / "chapters" / chapter / "homework";
}

std::vector<std::string> chapters() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / "chapters"))
        if (fs::exists(entry.path() / "homework/tests/tasks.cpp"))
            names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

class Homework : public testing::TestWithParam<std::string> {
protected:
    fs::path folder_;

    void SetUp() override {
        // It ends in the chapter's name, behind a slash.
        std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        std::ranges::replace(test, '/', '_');
        folder_ = fs::path(testing::TempDir()) / ("homework_" + test);
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }

    nlohmann::json grade(const fs::path& files, const std::string& task = "") {
        const fs::path json = folder_ / "grades.json";
        fs::remove(json);
        const std::string command =
            std::string(PROGRAMS) +
            "/grade --strict --language en --seconds 60 --chapter " + GetParam() +
            " --files " + files.string() + " --build " + (folder_ / "build").string() +
            " --json " + json.string() + (task.empty() ? "" : " --task " + task) + " > " +
            (folder_ / "log").string() + " 2>&1";
        const int status = std::system(command.c_str());
        EXPECT_LT(WEXITSTATUS(status), 2) << text_of(folder_ / "log");
        return fs::exists(json) ? nlohmann::json::parse(std::ifstream(json))
                                : nlohmann::json();
    }
};

TEST_P(Homework, TheStarterCompilesAndFailsEveryTask) {
    const auto grades = grade(homework_of(GetParam()) / "starter");
    ASSERT_FALSE(grades.is_null());
    EXPECT_EQ(grades["points"], 0);
    for (const auto& task : grades["chapters"][0]["tasks"]) {
        ASSERT_FALSE(task["failure"].is_null()) << task;
        EXPECT_NE(task["failure"]["what"], "the file compiles") << task;
        EXPECT_THAT(text_of(folder_ / "log"),
                    HasSubstr(std::string(task["name"]) + ": "));
    }
}

TEST_P(Homework, TheSolutionPassesEveryTask) {
    const fs::path files = homework_of(GetParam()) / "solution";
    if (!fs::exists(files)) GTEST_SKIP() << "handed out without solutions";
    for (const auto& task : grade(files)["chapters"][0]["tasks"])
        EXPECT_TRUE(task["failure"].is_null()) << text_of(folder_ / "log");
}

TEST_P(Homework, TypicalMistakesAreCaughtAndNamed) {
    const fs::path list = homework_of(GetParam()) / "tests/mistakes.json";
    if (!fs::exists(list)) GTEST_SKIP() << "handed out without solutions";
    const auto mistakes = nlohmann::json::parse(std::ifstream(list));
    EXPECT_GE(mistakes.size(), 3u);
    for (const auto& one : mistakes) {
        const std::string file = one["file"], from = one["from"], to = one["to"];
        SCOPED_TRACE(std::string(one["mistake"]));
        const fs::path files = folder_ / "files";
        fs::remove_all(files);
        fs::copy(homework_of(GetParam()) / "solution", files);
        std::string text = text_of(files / file);
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << "found nothing to plant it into";
        EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "found two places";
        std::ofstream(files / file) << text.replace(at, from.size(), to);
        const auto grades = grade(files, fs::path(file).stem());
        const auto& failure = grades["chapters"][0]["tasks"][0]["failure"];
        ASSERT_FALSE(failure.is_null()) << "not caught";
        EXPECT_THAT(std::string(failure["what"]), HasSubstr(std::string(one["caught"])))
            << text_of(folder_ / "log");
    }
}

// The README promises what the grader gives.
TEST_P(Homework, TheReadmesHaveEveryTaskWithItsPoints) {
    const auto grades = grade(homework_of(GetParam()) / "starter");
    for (const char* name : {"README.md", "README.zh.md"}) {
        const std::string text = text_of(homework_of(GetParam()) / name);
        int sum = 0;
        for (const auto& task : grades["chapters"][0]["tasks"]) {
            const std::string row = "| `" + std::string(task["name"]) + "` | " +
                                    std::to_string(int(task["of"])) + " |";
            EXPECT_THAT(text, HasSubstr(row)) << name;
            EXPECT_THAT(text, HasSubstr("scripts/grade " + GetParam().substr(0, 2) + " " +
                                        std::string(task["name"])))
                << name;
            sum += int(task["of"]);
        }
        EXPECT_EQ(sum, 10) << "a chapter's homework is worth ten points";
    }
}

INSTANTIATE_TEST_SUITE_P(Chapters, Homework, testing::ValuesIn(chapters()),
                         [](const auto& name) { return name.param; });

}  // namespace
