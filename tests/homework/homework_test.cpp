// Every chapter's homework: a starter fails each of its tasks, a solution passes them
// all, and typical mistakes are caught and named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "chapters/program.hpp"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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
    const support::TempDir folder_;
    std::string said_;  // by the grader, the last time

    nlohmann::json grade(const fs::path& files, const std::string& task = "") {
        const fs::path json = folder_ / "grades.json";
        fs::remove(json);
        const support::Outcome ran = support::run(
            "grade", "--strict --language en --seconds 60 --chapter " + GetParam() +
                         " --files " + files.string() + " --build " +
                         (folder_ / "build").string() + " --json " + json.string() +
                         (task.empty() ? "" : " --task " + task));
        said_ = ran.out + ran.err;
        EXPECT_LT(ran.status, 2) << said_;
        return fs::exists(json) ? nlohmann::json::parse(support::slurp(json))
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
        EXPECT_THAT(said_, HasSubstr(std::string(task["name"]) + ": "));
    }
}

TEST_P(Homework, TheSolutionPassesEveryTask) {
    const fs::path files = homework_of(GetParam()) / "solution";
    if (!fs::exists(files)) GTEST_SKIP() << "handed out without solutions";
    for (const auto& task : grade(files)["chapters"][0]["tasks"])
        EXPECT_TRUE(task["failure"].is_null()) << said_;
}

TEST_P(Homework, TypicalMistakesAreCaughtAndNamed) {
    const fs::path list = homework_of(GetParam()) / "tests/mistakes.json";
    if (!fs::exists(list)) GTEST_SKIP() << "handed out without solutions";
    const auto mistakes = nlohmann::json::parse(support::slurp(list));
    EXPECT_GE(mistakes.size(), 3u);
    for (const auto& one : mistakes) {
        const std::string file = one["file"], from = one["from"], to = one["to"];
        SCOPED_TRACE(std::string(one["mistake"]));
        const fs::path files = folder_ / "files";
        fs::remove_all(files);
        fs::copy(homework_of(GetParam()) / "solution", files);
        std::string text = support::slurp(files / file);
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << "found nothing to plant it into";
        EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "found two places";
        support::spew(files / file, text.replace(at, from.size(), to));
        const auto grades = grade(files, fs::path(file).stem());
        const auto& failure = grades["chapters"][0]["tasks"][0]["failure"];
        ASSERT_FALSE(failure.is_null()) << "not caught";
        EXPECT_THAT(std::string(failure["what"]), HasSubstr(std::string(one["caught"])))
            << said_;
    }
}

// The README promises what the grader gives.
TEST_P(Homework, TheReadmesHaveEveryTaskWithItsPoints) {
    const auto grades = grade(homework_of(GetParam()) / "starter");
    for (const char* name : {"README.md", "README.zh.md"}) {
        const std::string text = support::slurp(homework_of(GetParam()) / name);
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
    // So does the page for teachers.
    std::string row = "| " + GetParam().substr(0, 2) + " | ";
    for (const auto& task : grades["chapters"][0]["tasks"])
        row += (row.ends_with("| ") ? "`" : ", `") + std::string(task["name"]) + "` " +
               std::to_string(int(task["of"]));
    for (const char* language : {"en", "zh"})
        EXPECT_THAT(
            support::slurp(fs::path(SOURCE_DIR) / "book" / language / "teachers.md"),
            HasSubstr(row + " |"));
}

INSTANTIATE_TEST_SUITE_P(Chapters, Homework, testing::ValuesIn(chapters()),
                         [](const auto& name) { return name.param; });

}  // namespace
