// 16_many_people: what it simulates, and what it refuses.

#include <gmock/gmock.h>

#include <algorithm>

#include "chapters/program.hpp"

namespace {

using support::note;

support::Outcome run(const std::string& options) {
    return support::run("16_many_people", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("16_many_people", "--quick --shape own " + options).results;
}

std::vector<double> column(const lab::Results& results, const std::string& id,
                           std::size_t column) {
    std::vector<double> cells;
    for (const lab::Cells& row : results.find_exhibit(id)->rows)
        cells.push_back(std::get<double>(row.at(column)));
    return cells;
}

}  // namespace

TEST(ManyPeople, SimulatesTheSameWhateverThisMachineDoes) {
    const lab::Results results = finish("--prompt 8 --answer 5");
    const lab::Results again = finish("--prompt 20 --answer 9 --threads 1");
    for (const char* id : {"people_8b_1x_h100", "people_8b_1x_l4", "people_8b_1x_a100",
                           "people_8b_4x_h100", "people_70b_1x_mi300x",
                           "people_70b_4x_h100", "people_70b_8x_h100", "thinking_0",
                           "thinking_10", "thinking_100", "queue_70_simulated"}) {
        EXPECT_GT(note(results, id), 0) << id;
        EXPECT_EQ(note(results, id), note(again, id)) << id;
    }
    // More memory, bandwidth and arithmetic serve more people; thinkers leave room for
    // fewer.
    EXPECT_GT(note(results, "people_8b_1x_h100"), note(results, "people_8b_1x_a100"));
    EXPECT_GT(note(results, "people_8b_1x_a100"), note(results, "people_8b_1x_l4"));
    EXPECT_GT(note(results, "people_70b_8x_h100"), note(results, "people_70b_4x_h100"));
    EXPECT_EQ(note(results, "people_8b_1x_h100"), note(results, "thinking_0"));
    EXPECT_GT(note(results, "thinking_0"), note(results, "thinking_10"));
    EXPECT_GT(note(results, "thinking_10"), note(results, "thinking_100"));
}

TEST(ManyPeople, HasThePicturesNumbers) {
    const lab::Results results = finish("--seed 5");
    EXPECT_EQ(results.find_exhibit("loads")->rows.size(), 15u);
    EXPECT_EQ(results.find_exhibit("people")->rows.size(), 7u);
    EXPECT_EQ(column(results, "queue", 0), (std::vector<double>{0.5, 0.7, 0.9}));
    EXPECT_EQ(column(results, "thinking", 0),
              (std::vector<double>{0, 0.05, 0.1, 0.2, 1}));
    for (const std::size_t i : {0, 1})
        EXPECT_TRUE(std::ranges::is_sorted(column(results, "curve", i)));
    for (const std::size_t i : {2, 4}) {  // a mean and its 95th percentile
        const std::vector<double> mean = column(results, "curve", i),
                                  p95 = column(results, "curve", i + 1);
        for (std::size_t k = 0; k < mean.size(); ++k) EXPECT_GT(mean[k], 0);
        EXPECT_LT(p95.front(), p95.back());
    }
    EXPECT_LE(column(results, "people", 3).front(), 1);    // first tokens in a second,
    EXPECT_LE(column(results, "people", 4).front(), 0.1);  // beats in a tenth
}

TEST(ManyPeople, AStricterPromiseServesFewer) {
    const lab::Results strict = finish("--beat 0.004");
    // 16 GB at 300 GB/s take longer than that: nobody.
    EXPECT_EQ(note(strict, "people_8b_1x_l4"), 0);
    EXPECT_GT(note(strict, "people_8b_4x_h100"), 0);
    const lab::Results slow = finish("--every 30 --together 32");
    EXPECT_LT(note(slow, "people_8b_1x_h100"), 5000);
}

TEST(ManyPeople, RefusesWhatCannotBeServed) {
    const support::Outcome outcome =
        run("--prompt 120 --answer 120 --model " SOURCE_DIR "/data/models/story");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const char* options :
         {"--prompt 0", "--prompt 121", "--answer 1", "--seconds 0", "--simulated 0",
          "--together 0", "--first 0", "--beat -1", "--every 0", "--every nan"}) {
        const support::Outcome refused = run(options);
        EXPECT_EQ(refused.status, 2) << options;
        EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    }
}

TEST(ManyPeople, RefusesABrokenListOfMachines) {
    const support::TempDir dir;
    std::filesystem::create_directory_symlink(SOURCE_DIR "/data/models", dir / "models");
    std::filesystem::create_directory_symlink(SOURCE_DIR "/data/texts", dir / "texts");
    setenv("GPT2_DATA", dir.path().c_str(), 1);
    const support::Outcome missing = run("");
    support::spew(dir / "machines.json", "{\"accelerators\": 7, \"models\": []}");
    const support::Outcome broken = run("");
    unsetenv("GPT2_DATA");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.err, testing::HasSubstr("machines.json: cannot be opened"));
    EXPECT_EQ(broken.status, 2);
    EXPECT_THAT(broken.err,
                testing::HasSubstr("machines.json: accelerators: expected a list"));
    EXPECT_EQ(std::ranges::count(broken.err, '\n'), 1) << broken.err;
}
