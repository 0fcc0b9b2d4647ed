// Every benchmark runs, and says what it measured. How fast does not matter here.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "chapters/program.hpp"

namespace {

using nlohmann::json;

/// The counters that a benchmark of this name must have.
std::vector<std::string> counters_of(const std::string& name) {
    const auto is = [&](const char* group) { return name.starts_with(group); };
    if (is("tokenizer")) return {"MB/s"};
    if (is("layer_norm") || is("gelu") || is("softmax")) return {"GB/s"};
    if (is("start")) return {"GB/s", "reading"};
    if (is("attention/block")) return {"flops", "GFLOP/s"};
    return {"bytes", "flops", "GB/s", "GFLOP/s"};
}

TEST(Bench, EachRunsAndCounts) {
    const support::TempDir dir;
    const auto file = dir / "bench.json";
    const auto outcome = support::run("bench", "--quick --json " + file.string());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json all = json::parse(support::slurp(file));
    std::set<std::string> groups;
    for (const json& run : all.at("benchmarks")) {
        const std::string name = run.at("name");
        groups.insert(name.substr(0, name.find('/')));
        EXPECT_THAT(outcome.out, testing::HasSubstr(name.substr(0, name.rfind('/'))));
        std::vector<std::string> positive = counters_of(name);
        positive.insert(positive.end(), {"real_time", "ceiling_GB/s", "ceiling_GFLOP/s"});
        for (const std::string& counter : positive) {
            ASSERT_TRUE(run.contains(counter)) << name << ": " << counter;
            EXPECT_GT(run.at(counter).get<double>(), 0) << name << ": " << counter;
        }
    }
    std::set<std::string> expected{"attention",  "decode", "gelu",
                                   "layer_norm", "matmul", "prefill",
                                   "softmax",    "start",  "tokenizer"};
    if (all.at("context").at("openblas") != "none") expected.insert("openblas");
    EXPECT_EQ(groups, expected);
}

TEST(Bench, RunsTheOnesThatMatch) {
    const auto outcome = support::run("bench", "--quick --filter '^(gelu|softmax)'");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, testing::HasSubstr("\ngelu"));
    EXPECT_THAT(outcome.out, testing::HasSubstr("\nsoftmax"));
    EXPECT_THAT(outcome.out, testing::Not(testing::HasSubstr("\nlayer_norm")));
}

TEST(Bench, RefusesWhatItCannotDo) {
    for (const char* arguments :
         {"--filter nothing", "--filter '('", "--threads 0",
          "--json /no/such/folder/file", "--benchmark_filter=gelu"}) {
        const auto outcome = support::run("bench", std::string("--quick ") + arguments);
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_THAT(outcome.err, testing::StartsWith("bench: ")) << arguments;
    }
}

}  // namespace
