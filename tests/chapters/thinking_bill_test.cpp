// 11_thinking_bill: the course's sums, the same for other numbers, what is counted of the
// real ways, and what is refused.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "chapters/program.hpp"
#include "lab/published.hpp"

namespace {

using support::counted;

using testing::HasSubstr;
using testing::StartsWith;

support::Outcome run(const std::string& options) {
    return support::run("11_thinking_bill", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("11_thinking_bill", "--quick --shape own " + options).results;
}

std::map<std::string, double> notes(const lab::Results& results) {
    std::map<std::string, double> all;
    for (const lab::Note& note : results.notes) all[note.id] = note.value;
    return all;
}

struct Moment {
    std::vector<double> seconds;
    double held;
};

std::vector<Moment> moments(const lab::Results& results, const std::string& id,
                            const std::string& way) {
    std::vector<Moment> all;
    for (const lab::Cells& cells : results.find_exhibit(id)->rows) {
        if (std::get<std::string>(cells[0]) != way) continue;
        Moment moment{{}, std::get<double>(cells.back())};
        for (std::size_t i = 1; i + 1 < cells.size(); ++i)
            moment.seconds.push_back(std::get<double>(cells[i]));
        all.push_back(moment);
    }
    return all;
}

}  // namespace

TEST(ThinkingBill, TheCoursesFiguresComeOut) {
    const lab::Results results = finish("");
    std::map<std::string, double> found = notes(results);
    int compared = 0;
    for (const auto& [id, figure] :
         lab::read_published(SOURCE_DIR "/data/published.json"))
        for (const char* family : {"thinking_params_", "latency_abc_", "tokens_abc_",
                                   "capacity_abc_", "first_token", "easy_hard_"})
            if (id.starts_with(family) && figure.value) {
                ASSERT_TRUE(found.contains(id)) << id;
                EXPECT_NEAR(found[id], *figure.value, *figure.tolerance) << id;
                ++compared;
            }
    EXPECT_EQ(compared, 38);
    EXPECT_NEAR(found["q1"], 132, 0.5);
    EXPECT_NEAR(found["q1_capacity"], 4, 0.5);
    EXPECT_NEAR(found["q2"], 4.1, 0.05);
    EXPECT_NEAR(found["q2_cache"], 9.6, 0.05);
    EXPECT_EQ(results.headline, "real_b_capacity_over_a");
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
    EXPECT_EQ(results.checks.size(), 42u + 5);
}

// Three ways to add up B: rounded, not rounded, pass by pass.
TEST(ThinkingBill, ShowsWhereTheCourseRounds) {
    std::map<std::string, double> found = notes(finish(""));
    EXPECT_DOUBLE_EQ(found["capacity_abc_b"], 1.1 * 63);
    EXPECT_DOUBLE_EQ(found["capacity_abc_c"], 0.8 * 2.96);
    EXPECT_NEAR(found["capacity_abc_b_unrounded"], 69.76, 0.005);
    EXPECT_NEAR(found["capacity_abc_b_summed"], 71.29, 0.005);
    EXPECT_NEAR(found["capacity_abc_c_shared_over_a"], 1.3052 / 0.2814, 0.01);
    EXPECT_DOUBLE_EQ(found["one_more_easy"], 400'000);
    EXPECT_NEAR(found["one_more_hard"], 4'000 / 0.6, 1e-6);
    EXPECT_DOUBLE_EQ(found["q2_even"], 140);
}

TEST(ThinkingBill, AWrongFigureIsFoundOut) {
    const support::TempDir data;
    for (const char* folder : {"models", "texts"})
        std::filesystem::create_directory_symlink(
            SOURCE_DIR "/data/" + std::string(folder), data / folder);
    std::string published = support::slurp(SOURCE_DIR "/data/published.json");
    for (const char* printed : {"\"value\": 71.3,", "\"value\": 132,"}) {
        const std::size_t at = published.find(printed);
        ASSERT_NE(at, std::string::npos);
        published.insert(at + 9, "1");
    }
    support::spew(data / "published.json", published);
    setenv("GPT2_DATA", data.path().c_str(), 1);
    const support::Outcome outcome = run("");
    unsetenv("GPT2_DATA");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("71.2885 GB·s, the course's 171.3"));
    EXPECT_THAT(outcome.out, HasSubstr("132.018 s, the course's 1132"));
}

// One token in, and 4 out: a sum that fits on a line. Nothing is held to the course.
TEST(ThinkingBill, AddsUpOtherNumbers) {
    const lab::Results results = finish(
        "--weights 2 --bandwidth 1 --cache 1000 --prompt 1 --answer 1 --thinking 3 "
        "--copies 2 --many 3 --easy 50 --easy-thinking 50");
    std::map<std::string, double> found = notes(results);
    EXPECT_DOUBLE_EQ(found["asked_latency_abc_a"], 3e-3);
    EXPECT_DOUBLE_EQ(found["asked_latency_abc_b"], (3 + 4 + 5 + 6) * 1e-3);
    EXPECT_DOUBLE_EQ(found["asked_latency_abc_c"], 4e-3);
    EXPECT_DOUBLE_EQ(found["asked_first_token_b_silence"], 18e-3);
    EXPECT_DOUBLE_EQ(found["asked_tokens_abc_b"], 4);
    EXPECT_DOUBLE_EQ(found["asked_capacity_abc_b_peak"], 5);
    EXPECT_DOUBLE_EQ(found["asked_capacity_abc_b_summed"],
                     (1 * 3 + 2 * 4 + 3 * 5 + 4 * 6) * 1e-3);
    EXPECT_DOUBLE_EQ(found["asked_capacity_abc_b"], 3 * 18e-3);
    EXPECT_DOUBLE_EQ(found["asked_capacity_abc_c_shared_peak"], 3);
    EXPECT_DOUBLE_EQ(found["asked_capacity_abc_c_shared_summed"], 3e-3);
    EXPECT_DOUBLE_EQ(found["asked_q2"], 5e-3);
    EXPECT_DOUBLE_EQ(found["asked_q1"], (3 + 4 + 5 + 6 + 7 + 8 + 9) * 1e-3);
    EXPECT_FALSE(found.contains("one_more_easy"));  // thinking gains nothing there
    EXPECT_FALSE(found.contains("latency_abc_a"));
    for (const lab::Check& check : results.checks)
        EXPECT_THAT(check.id, Not(StartsWith("latency"))) << check.id;
    // The smallest and the largest are still numbers.
    finish("--weights 0.001 --bandwidth 10000 --cache 0.000001 --prompt 1 --answer 1");
    finish(
        "--weights 100000 --bandwidth 0.001 --cache 1000 --prompt 1000000 "
        "--answer 1000000 --thinking 1000000 --copies 10000 --many 10000");
}

TEST(ThinkingBill, CountsTheRealWays) {
    const lab::Results results = finish(
        "--real-prompt 40 --real-answer 5 --real-thinking 30 --real-copies 3 --kv f16");
    const double kv =
        2 * 4 * 256 * 2;  // keys and values, 4 layers of 256, two bytes each
    EXPECT_EQ(counted(results, "real_a_cache"), (40 + 5 - 1) * kv);
    EXPECT_EQ(counted(results, "real_b_cache"), (40 + 35 - 1) * kv);
    EXPECT_EQ(counted(results, "real_c_cache"), (40 + 3 * 4) * kv);
    EXPECT_EQ(counted(results, "real_a_blocks"), 2);
    EXPECT_EQ(counted(results, "real_b_blocks"), 3);
    EXPECT_EQ(counted(results, "real_c_blocks"), 1 + 3);
    for (const char* id : {"real_a", "real_b", "real_c"}) {
        const auto row = std::ranges::find(results.rows, id, &lab::Row::id);
        ASSERT_NE(row, results.rows.end());
        EXPECT_GT(*row->predicted, 0);
    }
    const auto check =
        std::ranges::find(results.checks, "real_c_counts", &lab::Check::id);
    ASSERT_NE(check, results.checks.end());
    EXPECT_THAT(check->detail, StartsWith("52 tokens read"));  // 40 + 3 x 4
}

TEST(ThinkingBill, CopiesEveryPartialBlock) {
    // The prompt fills its blocks: nothing is copied. One token more: each has its own.
    EXPECT_EQ(counted(finish("--real-prompt 64 --real-answer 2 --real-thinking 1 "
                             "--real-copies 5"),
                      "real_c_blocks"),
              2 + 5);
    EXPECT_EQ(counted(finish("--real-prompt 31 --real-answer 2 --real-thinking 1 "
                             "--real-copies 5 --dtype int8 --threads 1"),
                      "real_c_blocks"),
              5);
}

TEST(ThinkingBill, ItsPicturesGrow) {
    const lab::Results results = finish("--real-answer 3 --real-thinking 60");
    const auto check = [&](const std::string& id, const std::string& way,
                           std::size_t count, double first, double last) {
        const std::vector<Moment> all = moments(results, id, way);
        ASSERT_EQ(all.size(), count) << way;
        EXPECT_DOUBLE_EQ(all.front().held, first) << way;
        EXPECT_DOUBLE_EQ(all.back().held, last) << way;
        for (const double seconds : all.front().seconds) EXPECT_EQ(seconds, 0);
        for (std::size_t i = 1; i < all.size(); ++i) {
            EXPECT_GT(all[i].held, all[i - 1].held);
            for (std::size_t k = 0; k < all[i].seconds.size(); ++k)
                EXPECT_GT(all[i].seconds[k], all[i - 1].seconds[k]);
        }
    };
    check("course", "a", 41, 0.05, 0.15);
    check("course", "b", 41, 0.05, 2.15);
    check("course", "c", 41, 0.4, 1.2);
    check("course", "shared", 41, 0.05, 0.85);
    const double token = moments(results, "growth", "real_a")[0].held / 100;
    check("growth", "real_a", 4, 100 * token, 103 * token);
    check("growth", "real_b", 41, 100 * token, 163 * token);
    check("growth", "real_c", 4, 100 * token, 124 * token);
    EXPECT_NEAR(moments(results, "course", "b").back().seconds[0], 63.42, 0.01);
}

TEST(ThinkingBill, RefusesWhatMakesNoSense) {
    const auto refused = [](const std::string& options) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(refused("--real-prompt 100 --real-thinking 900 --real-answer 25"),
              "11_thinking_bill: --real-prompt, --real-thinking, --real-answer: they ask "
              "for 1025 positions, but the context has 1024\n");
    EXPECT_THAT(refused("--weights 0"), HasSubstr("--weights"));
    EXPECT_THAT(refused("--bandwidth nan"), HasSubstr("--bandwidth"));
    for (const char* options :
         {"--weights inf", "--bandwidth 0", "--cache -1", "--prompt 0", "--answer 0",
          "--thinking 0", "--thinking 1000001", "--copies 1", "--many 10001",
          "--easy 101", "--easy-thinking -1", "--hard x", "--hard-thinking 1e9",
          "--real-prompt 0", "--real-answer 1", "--real-thinking 0", "--real-copies 1",
          "--real-copies 33"})
        refused(options);
}
