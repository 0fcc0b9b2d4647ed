// Every chapter's program, from the outside: what it prints, writes and refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "chapters/program.hpp"
#include "lab/results.hpp"
#include "support.hpp"

using support::Outcome;
using support::run;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<std::string> chapters() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/chapters"))
        if (exists(entry.path() / "main.cpp")) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitizers make everything many times slower; the model's own shape is 29 times
// smaller.
const std::string quick = " --quick --shape own";
#else
const std::string quick = " --quick";
#endif

class Chapter : public testing::TestWithParam<std::string> {};

}  // namespace

TEST_P(Chapter, RunsQuicklyAndLeavesAResultsFile) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    const Outcome outcome = run(GetParam(), quick + " --json " + json);
    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;

    const lab::Results results = lab::read_results(json);
    EXPECT_EQ(results.chapter, GetParam());
    EXPECT_TRUE(results.quick);
    EXPECT_GT(results.machine.ceilings.read_bandwidth, 0);
    ASSERT_FALSE(results.checks.empty());
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
    EXPECT_THAT(results.keep, Not(testing::IsEmpty()));
    EXPECT_NE(results.headline_row(), nullptr);
    for (const lab::Row& row : results.rows) {
        EXPECT_GT(row.measured.runs, 0) << row.id;
        EXPECT_LE(row.measured.min, row.measured.median) << row.id;
        EXPECT_LE(row.measured.median, row.measured.max) << row.id;
        EXPECT_GT(row.predicted.value_or(1), 0) << row.id;
    }
    // Pages quote rows and notes by their ids.
    std::set<std::string> ids{""}, checks{""};
    for (const lab::Row& row : results.rows)
        EXPECT_TRUE(ids.insert(row.id).second) << row.what;
    for (const lab::Note& note : results.notes)
        EXPECT_TRUE(ids.insert(note.id).second) << note.what;
    for (const lab::Check& check : results.checks)
        EXPECT_TRUE(checks.insert(check.id).second) << check.what;
    // The title of the page, the program and its results are one.
    const std::string source = support::slurp(
        std::filesystem::path(SOURCE_DIR "/chapters") / GetParam() / "main.cpp");
    EXPECT_EQ(source.substr(0, source.find('\n')), "// " + results.title);
    EXPECT_THAT(outcome.out, HasSubstr(results.keep));
}

TEST_P(Chapter, ExplainsItself) {
    const Outcome outcome = run(GetParam(), "--help");
    EXPECT_EQ(outcome.status, 0);
    for (const char* option : {"--model", "--shape", "--device", "--dtype", "--kv",
                               "--threads", "--seed", "--quick", "--json", "--help"})
        EXPECT_THAT(outcome.out, HasSubstr(option));
    EXPECT_EQ(outcome.err, "");
}

TEST_P(Chapter, RefusesBadInputInOneLine) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    const std::string other = (dir / "model").string();
    std::filesystem::create_directory(other);
    support::spew(std::filesystem::path(other) / "config.json", "{\"vocab_size\": -1}");
    for (const std::string& arguments : std::vector<std::string>{
             "--wrong", "--shape tiny", "--dtype f64", "--kv int8", "--threads 0",
             "--threads 2x", "--threads 99999999999", "--threads -1", "--seed -1",
             "--device gpu", "stray", "--model /nowhere", "--model " + other, "--model",
             "--shape xl", "--quick --json /nowhere/results.json"}) {
        const bool elsewhere = arguments.find("--json") != std::string::npos;
        const Outcome outcome =
            run(GetParam(), arguments + (elsewhere ? "" : " --json " + json));
        EXPECT_EQ(outcome.status, 2) << arguments << "\n" << outcome.out << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1)
            << arguments << ": " << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(GetParam() + ": ")) << arguments;
        EXPECT_FALSE(std::filesystem::exists(json)) << arguments;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Chapter, testing::ValuesIn(chapters()),
                         [](const auto& chapter) { return chapter.param; });

TEST(Hello, StreamsWhatItWasAsked) {
    const Outcome outcome =
        run("00_hello", "--shape own --tokens 12 --prompt 'The king said to the'");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("\nThe king said to the"));
    EXPECT_THAT(outcome.out, HasSubstr("(12 tokens; end: length)"));
}

TEST(Hello, TheSeedDecidesWhatIsDrawn) {
    const auto text = [](const std::string& options) {
        const std::string out =
            run("00_hello",
                "--shape own --tokens 30 --temperature 1.2 --top-k 50 " + options)
                .out;
        const std::size_t begin = out.find("\n\n", out.find("model "));
        return out.substr(begin, out.find("tokens; end") - begin);
    };
    EXPECT_EQ(text("--seed 7"), text("--seed 7 --threads 1"));
    EXPECT_NE(text("--seed 7"), text("--seed 8"));
}

TEST(Hello, RefusesPromptsAndSamplers) {
    const auto refused = [](const std::string& arguments) {
        const Outcome outcome = run("00_hello", "--shape own " + arguments);
        EXPECT_EQ(outcome.status, 2) << arguments << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_THAT(refused("--prompt ''"), HasSubstr("prompt: empty"));
    EXPECT_THAT(refused("--prompt \"$(printf 'a\\377')\""),
                HasSubstr("--prompt: byte 1: expected UTF-8"));
    EXPECT_THAT(refused("--prompt \"$(yes word | head -n 3000 | tr '\\n' ' ')\""),
                HasSubstr("context of 1024"));
    refused("--tokens 0");
    refused("--temperature -1");
    refused("--temperature nan");
    refused("--top-p 1.5");
    refused("--top-k -1");
}
