// 09_prefix_cache: what it counts, against counts made here, and what it refuses.

#include <gmock/gmock.h>

#include <map>

#include "chapters/program.hpp"

namespace {

using support::column;
using support::counted;

using testing::HasSubstr;
using Column = std::vector<double>;

support::Outcome run(const std::string& options) {
    return support::run("09_prefix_cache", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("09_prefix_cache", "--quick --shape own " + options).results;
}

}  // namespace

TEST(PrefixCacheChapter, CountsTheCourseSizes) {
    const lab::Results results = finish(
        "--opening 640 --question 16 --samples 8 --prompt 100 --rounds 20 --task 64 "
        "--action 8 --result 20 --turns 20 --message 16 --answer 8");
    EXPECT_EQ(counted(results, "opening_read"), 16);
    EXPECT_EQ(counted(results, "changed_start_read"), 656);
    EXPECT_EQ(counted(results, "changed_end_read"), 656 - 608);
    EXPECT_EQ(counted(results, "samples_without_read"), 800);
    EXPECT_EQ(counted(results, "samples_with_read"), 100 + 7 * 4);
    EXPECT_EQ(counted(results, "shared_prompt"), 6.25);

    // 20 x 64 + 28 x 190, and each round without the whole blocks of the one before.
    int known = 0;
    for (int k = 1; k < 20; ++k) known += (64 + 28 * (k - 1) + 7) / 32 * 32;
    EXPECT_EQ(counted(results, "agent_without_read"), 6600);
    EXPECT_EQ(counted(results, "agent_with_read"), 6600 - known);
    // Dollars for a thousand agents, at 2 dollars a million in, 10 out, 0.20 cached.
    EXPECT_NEAR(counted(results, "agent_without_bill"), 13.2 + 1.6, 1e-12);
    EXPECT_NEAR(counted(results, "agent_with_bill"),
                (6600 - known) * 2e-3 + known * 0.2e-3 + 1.6, 1e-12);
    EXPECT_NEAR(counted(results, "agent_growth"), 14.8 / (1900 * 2e-3 + 0.8), 1e-12);

    EXPECT_EQ(counted(results, "talk_without_read"), 20 * 16 + 24 * 190);
    EXPECT_EQ(counted(results, "talk_short_read"), 20 * 16);
    EXPECT_NEAR(counted(results, "talk_short_bill"), 0.64 + 1.6, 1e-12);
    EXPECT_NEAR(counted(results, "long_talk"), (9.76 + 1.6) / 2.24, 1e-12);
    EXPECT_EQ(results.headline, "agent_saves");
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
}

TEST(PrefixCacheChapter, ItsPicturesCountBlocks) {
    const lab::Results results = finish("--opening 150 --question 10");
    const Column place = column(results, "changed", "place");
    const Column read = column(results, "changed", "read");
    EXPECT_EQ(read, column(results, "changed", "predicted_read"));
    ASSERT_EQ(place.size(), 4u);
    EXPECT_EQ(place.front(), 4);
    EXPECT_EQ(place.back(), 146);
    for (std::size_t i = 0; i < place.size(); ++i)
        EXPECT_EQ(read[i], 160 - int(place[i]) / 32 * 32);
    for (const char* name : {"predicted_seconds", "seconds"})
        for (const double seconds : column(results, "changed", name))
            EXPECT_GT(seconds, 0);

    EXPECT_EQ(column(results, "agent", "round"), (Column{1, 2, 3, 4, 5}));
    EXPECT_EQ(column(results, "agent", "prompt"), (Column{40, 56, 72, 88, 104}));
    EXPECT_EQ(column(results, "agent", "read_without"), (Column{40, 56, 72, 88, 104}));
    // 43, 59, 75 and 91 positions were kept: 1, 1, 2 and 2 blocks.
    EXPECT_EQ(column(results, "agent", "read_with"), (Column{40, 24, 40, 24, 40}));
    for (const char* name : {"seconds_without", "seconds_with"})
        for (const double seconds : column(results, "agent", name)) EXPECT_GT(seconds, 0);
}

TEST(PrefixCacheChapter, TakesTheSmallestAndOtherSizes) {
    const lab::Results least = finish(
        "--opening 16 --question 1 --samples 2 --prompt 2 --rounds 2 --task 1 --action 1 "
        "--result 1 --turns 2 --message 1 --answer 1");
    EXPECT_EQ(counted(least, "opening_read"), 17);  // no block is full
    EXPECT_EQ(counted(least, "samples_with_read"), 4);
    EXPECT_EQ(counted(least, "agent_with_read"), 1 + 3);
    const lab::Results odd = finish(
        "--opening 65 --question 40 --samples 3 --prompt 33 --rounds 3 --kv f16 "
        "--dtype int8 --threads 1 --seed 5 --billed 'Claude Opus 5.5'");
    EXPECT_EQ(counted(odd, "opening_read"), 105 - 64);
    EXPECT_EQ(counted(odd, "samples_with_read"), 33 + 2);
    // 40, 56 and 72 in, 12 out, at 4 and 20 dollars.
    EXPECT_NEAR(counted(odd, "agent_without_bill"), 168 * 4e-3 + 12 * 20e-3, 1e-12);
}

TEST(PrefixCacheChapter, BillsFromAnyList) {
    const support::TempDir dir;
    support::spew(dir / "list.json", R"([{"model": "x", "date": "2026-11-30",
        "source": "here", "input": "0.5", "output": "0", "cached_input": "0"}])");
    const std::string list = " --prices " + (dir / "list.json").string();
    const lab::Results results = finish("--billed x" + list);
    EXPECT_NEAR(counted(results, "agent_without_bill"), 360 * 0.5e-3, 1e-12);
    EXPECT_NEAR(counted(results, "agent_with_bill"), 168 * 0.5e-3, 1e-12);
    EXPECT_EQ(run(list).err, "09_prefix_cache: " + (dir / "list.json").string() +
                                 ": no price of 'Claude Sonnet 5.5'; there are 'x'\n");
    support::spew(dir / "list.json", R"([{"model": "x", "date": "2026-11-30",
        "source": "here", "input": "0.0009", "output": "1", "cached_input": "0"}])");
    EXPECT_EQ(run("--billed x" + list).err,
              "09_prefix_cache: " + (dir / "list.json").string() +
                  ": x: input: expected 0.001 dollars or more\n");
}

TEST(PrefixCacheChapter, RefusesWhatTheContextCannotHold) {
    const auto refused = [](const std::string& options) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(refused("--opening 1000 --question 17"),
              "09_prefix_cache: --opening, --question: they ask for 1025 positions, but "
              "the context has 1024\n");
    EXPECT_EQ(refused("--rounds 100"),
              "09_prefix_cache: --rounds, --task, --action, --result: they ask for 1628 "
              "positions, but the context has 1024\n");
    EXPECT_THAT(refused("--turns 60"), HasSubstr("--turns, --message, --answer: they"));
    for (const char* options :
         {"--opening 15", "--question 0", "--samples 1", "--samples 17", "--prompt 1",
          "--rounds 1", "--task 0", "--action 0", "--result 0", "--turns 1",
          "--message 0", "--answer 0", "--billed ''", "--prices /nowhere.json",
          "--prices /"})
        refused(options);
}
