// The grader against students who do what they should not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "chapters/program.hpp"
#include "homework/archive.hpp"
#include "homework/show.hpp"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* right_halves =
    "#include <vector>\nnamespace homework { inline std::vector<double> halves("
    "const std::vector<float>& all) { std::vector<double> h; for (float x : all) "
    "h.push_back(double(x) / 2); return h; } }\n";

struct Grade {
    int status;
    std::string out;
    nlohmann::json json;

    const nlohmann::json& task(int i) const { return json["chapters"][0]["tasks"][i]; }
    double points() const { return json["points"]; }
    std::string found() const { return task(0)["failure"]["found"]; }
};

class Grader : public testing::Test {
protected:
    const support::TempDir folder_;

    void SetUp() override { fs::create_directories(folder_ / "files"); }

    void write(const std::string& name, const std::string& text) {
        support::spew(folder_ / "files" / name, text);
    }

    /// Grades a `twice` that consists of this, beside a right `halves`.
    Grade grade(const std::string& twice, const std::string& options = "") {
        write("halves.hpp", right_halves);
        write("twice.hpp", twice);
        return grade_files(options);
    }

    Grade grade_files(const std::string& options = "") {
        const fs::path json = folder_ / "grades.json";
        fs::remove(json);
        const bool named = options.find("--language") != std::string::npos;
        const support::Outcome ran =
            support::run("grade_fixture",
                         "--chapter 99 --files " + (folder_ / "files").string() +
                             " --build " + (folder_ / "build").string() + " --json " +
                             json.string() + (named ? " " : " --language en ") + options);
        Grade result{ran.status, ran.out + ran.err, {}};
        if (fs::exists(json)) result.json = nlohmann::json::parse(support::slurp(json));
        return result;
    }

    /// A function `twice` with this body.
    static std::string twice(const std::string& body, const std::string& before = "") {
        return before + "\nnamespace homework { inline int twice(int x) { " + body +
               " } }\n";
    }
};

TEST_F(Grader, GivesAllPointsToWhatIsRight) {
    const Grade all = grade(twice("return x + x;"));
    EXPECT_EQ(all.status, 0) << all.out;
    EXPECT_EQ(all.points(), 9);
    EXPECT_EQ(all.json["of"], 9);
    EXPECT_GT(all.task(1)["speed"], 0);
}

TEST_F(Grader, SaysWhatWasExpectedAndFound) {
    const Grade wrong = grade(twice("return x;"));
    EXPECT_EQ(wrong.status, 1);
    EXPECT_EQ(wrong.points(), 5);
    for (const char* part : {"twice: three twice is six", "given     3", "expected  6",
                             "found     3", "hint      Add it to itself."})
        EXPECT_THAT(wrong.out, HasSubstr(part));
}

TEST_F(Grader, FreshCasesCatchAnswersByHeart) {
    const Grade heart = grade(twice("return x == 3 ? 6 : 0;"));
    EXPECT_EQ(heart.task(0)["points"], 0);
    EXPECT_EQ(heart.task(0)["failure"]["what"], "any number twice");
    // The same seed asks the same.
    const auto given = [&](const char* seed) {
        return grade(twice("return x == 3 ? 6 : 1;"), seed).task(0)["failure"]["given"];
    };
    EXPECT_EQ(given("--seed 7"), given("--seed 7"));
    EXPECT_NE(given("--seed 7"), given("--seed 8"));
}

TEST_F(Grader, WhatDoesNotCompileCostsItsTaskOnly) {
    const Grade broken = grade("this is not C++\n");
    EXPECT_EQ(broken.points(), 5);
    EXPECT_EQ(broken.task(0)["failure"]["what"], "the file compiles");
    EXPECT_THAT(broken.out, HasSubstr("twice.hpp:1"));
    write("twice.hpp", "");
    EXPECT_EQ(grade_files().task(0)["points"], 0);
    fs::remove(folder_ / "files/twice.hpp");
    EXPECT_EQ(grade_files().task(0)["failure"]["found"], "no such file");
}

TEST_F(Grader, ACrashCostsItsTaskOnly) {
    const std::string abort = twice("std::abort();", "#include <cstdlib>");
    EXPECT_THAT(grade(abort).found(), HasSubstr("crash: Aborted"));
    const Grade null = grade(twice("int* volatile p = nullptr; return *p + x;"));
    EXPECT_THAT(null.found(), HasSubstr("crash: Segmentation fault"));
    EXPECT_EQ(null.points(), 5);
    const std::string thrown =
        twice("throw std::runtime_error(\"lost\");", "#include <stdexcept>");
    EXPECT_THAT(grade(thrown).found(), HasSubstr("an exception: lost"));
}

TEST_F(Grader, AnEndlessLoopIsEnded) {
    const Grade loop =
        grade(twice("volatile int y = x; while (y == x) {} return y;"), "--seconds 0.5");
    EXPECT_EQ(loop.found(), "none within 0.5 seconds");
    const Grade asleep = grade(twice("std::signal(SIGTERM, SIG_IGN); for (;;) pause();",
                                     "#include <unistd.h>\n#include <csignal>"),
                               "--seconds 0.5");
    EXPECT_EQ(asleep.found(), "none within 0.5 seconds");
    EXPECT_EQ(asleep.points(), 5);
}

TEST_F(Grader, EndingEarlyIsNoPass) {
    EXPECT_EQ(grade(twice("std::exit(0);", "#include <cstdlib>")).found(),
              "the program ended, with status 0");
    const Grade before = grade(twice(
        "return x;", "#include <cstdlib>\nstatic const int now = (std::exit(0), 0);"));
    EXPECT_EQ(before.task(0)["points"], 0);
}

TEST_F(Grader, WhatIsPrintedOrSentIsNoPass) {
    const std::string prints = twice(
        "std::puts(\"twice 4 of 4\\npoints 9 of 9\"); return x;", "#include <cstdio>");
    const Grade printed = grade(prints);
    EXPECT_EQ(printed.points(), 5);
    EXPECT_EQ(printed.status, 1);
    EXPECT_THAT(printed.out, HasSubstr("    | points 9 of 9"));
    // Into every file that is open: that is taken for an answer, and is none.
    const std::string sends = twice(
        "for (int f = 0; f < 64; ++f) if (write(f, \"\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\", "
        "10)) {} "
        "return x;",
        "#include <unistd.h>");
    EXPECT_EQ(grade(sends, "--seconds 1").points(), 5);
}

TEST_F(Grader, LimitsHold) {
    const std::string memory = twice(
        "std::vector<char*> all; for (;;) { all.push_back(new char[1 << 24]); "
        "all.back()[0] = 1; } return x;",
        "#include <vector>");
    EXPECT_THAT(grade(memory).found(), HasSubstr("bad_alloc"));
    const std::string chatty = twice(
        "for (;;) std::puts(\"and so on and so on\"); return x;", "#include <cstdio>");
    EXPECT_EQ(grade(chatty).found(), "too much printed");
}

TEST_F(Grader, AnotherTypeIsNamed) {
    const Grade changed =
        grade("namespace homework { inline double twice(double x) { return 2 * x; } }\n");
    EXPECT_EQ(changed.task(0)["failure"]["expected"], "int(int)");
    EXPECT_EQ(changed.found(), "double(double)");
}

TEST_F(Grader, RightButSlowKeepsItsPoints) {
    write("twice.hpp", twice("return 2 * x;"));
    write(
        "halves.hpp",
        "#include <chrono>\n#include <thread>\n#include <vector>\nnamespace homework { "
        "inline std::vector<double> halves(const std::vector<float>& all) { "
        "std::vector<double> h; for (float x : all) h.push_back(double(x) / 2); "
        "if (all.size() > 100000) std::this_thread::sleep_for(std::chrono::seconds(1)); "
        "return h; } }\n");
    const Grade slow = grade_files("--task halves --seconds 60");
    EXPECT_TRUE(slow.task(0)["failure"].is_null());
    EXPECT_GE(slow.task(0)["points"], 3);
    EXPECT_EQ(slow.json["of"], 5);
    // Fast and wrong is worth nothing.
    write(
        "halves.hpp",
        "#include <vector>\nnamespace homework { inline std::vector<double> halves("
        "const std::vector<float>& all) { std::vector<double> h; if (all.size() > 5000) "
        "return h; for (float x : all) h.push_back(double(x) / 2); return h; } }\n");
    const Grade wrong = grade_files("--task halves");
    EXPECT_EQ(wrong.task(0)["points"], 0);
    EXPECT_EQ(wrong.task(0)["failure"]["what"], "the answers are right on the clock too");
}

TEST_F(Grader, WritesGradescopesForm) {
    const fs::path file = folder_ / "results.json";
    grade(twice("return x;"), "--gradescope " + file.string());
    const auto json = nlohmann::json::parse(support::slurp(file));
    EXPECT_EQ(json["score"], 5);
    EXPECT_EQ(json["tests"][0]["name"], "99_fixture twice");
    EXPECT_EQ(json["tests"][0]["score"], 0);
    EXPECT_EQ(json["tests"][0]["max_score"], 4);
    EXPECT_EQ(json["tests"][1]["status"], "passed");
}

TEST_F(Grader, RefusesWhatItDoesNotKnow) {
    write("twice.hpp", twice("return 2 * x;"));
    for (const char* options :
         {"--task none", "--language fr", "--seed -1", "--chapter 98"}) {
        const Grade refused = grade_files(options);
        EXPECT_EQ(refused.status, 2) << options << refused.out;
        EXPECT_EQ(std::count(refused.out.begin(), refused.out.end(), '\n'), 1)
            << refused.out;
    }
    EXPECT_THAT(grade_files("--language zh --task halves").out,
                HasSubstr("提示      除以二。"));
}

struct Mixed {
    int number;
    std::vector<std::string> texts;
    std::optional<double> maybe;
    bool truth;
};

TEST(Archive, BringsBackWhatWasPut) {
    const std::vector<Mixed> all{{-3, {"a", "", std::string("\0b", 2)}, 2.5, true},
                                 {7, {}, std::nullopt, false}};
    std::string bytes;
    homework::put(bytes, all);
    std::vector<Mixed> back;
    std::string_view in = bytes;
    homework::get(in, back);
    EXPECT_TRUE(in.empty());
    EXPECT_TRUE(homework::same(all, back, 0));
    EXPECT_EQ(homework::show(all),
              "[{-3, [\"a\", \"\", \"\\x00b\"], 2.5, true}, {7, [], none, false}]");
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        in = std::string_view(bytes).substr(0, cut);
        EXPECT_THROW(homework::get(in, back), homework::Malformed) << cut;
    }
    // A length that nothing backs allocates nothing.
    std::string huge;
    homework::put(huge, ~std::uint64_t(0));
    in = huge;
    EXPECT_THROW(homework::get(in, back), homework::Malformed);
}

TEST(Same, ComparesNumbersWithinTheirTolerance) {
    EXPECT_TRUE(homework::same(100.0, 100.5, 0.01));
    EXPECT_FALSE(homework::same(100.0, 102.0, 0.01));
    EXPECT_FALSE(homework::same(0.0, std::nan(""), 1e9));
    EXPECT_FALSE(homework::same(double(INFINITY), 1.0, 1e9));
    EXPECT_TRUE(homework::same(INFINITY, INFINITY, 0));
    EXPECT_FALSE(homework::same(std::vector<int>{1}, std::vector<int>{1, 2}, 0));
}

}  // namespace
