// 13_train_or_serve: the course's figures, the sums behind the pictures, what it refuses.
// Nothing here depends on how long anything took.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "chapters/program.hpp"

namespace {

using support::column;
using support::note;
using support::row;

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using Column = std::vector<double>;

const std::filesystem::path shipped = SOURCE_DIR "/data/model_pairs.json";

support::Outcome run(const std::string& options) {
    return support::run("13_train_or_serve", "--quick --beats 2 " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("13_train_or_serve", "--quick --beats 2 " + options).results;
}

std::string refused(const std::string& options) {
    const support::Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 2) << options << outcome.out;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    return outcome.err;
}

}  // namespace

TEST(TrainOrServeChapter, TheCoursesFiguresComeOut) {
    const lab::Results results = finish("");
    for (const auto& [id, value] :
         {std::pair{"break_even", 50.0}, {"break_even_cost", 200.0}, {"q4", 200.0}}) {
        const lab::Row& figure = row(results, id);
        EXPECT_EQ(figure.predicted, value) << id;
        EXPECT_EQ(figure.measured.median, value) << id;  // paid use by use
        ASSERT_TRUE(figure.published && figure.published->value) << id;
        EXPECT_NEAR(figure.measured.median, *figure.published->value,
                    *figure.published->tolerance);
    }
    for (const auto& [id, value] : {std::pair{"break_even_large_once", 100.0},
                                    {"break_even_large_use", 2.0},
                                    {"break_even_small_once", 150.0},
                                    {"break_even_small_use", 1.0},
                                    {"q4_small_once", 300.0}})
        EXPECT_EQ(note(results, id), value) << id;
    EXPECT_EQ(results.headline, "break_even");
    EXPECT_EQ(results.checks.size(), 6u);
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
}

TEST(TrainOrServeChapter, TheirLivesCrossInThePicture) {
    const lab::Results results = finish("");
    const Column uses = column(results, "lives", "uses");
    const Column large = column(results, "lives", "large");
    const Column small = column(results, "lives", "small");
    const Column dearer = column(results, "lives", "dearer");
    ASSERT_EQ(uses.size(), 51u);
    EXPECT_EQ(uses.front(), 0);
    EXPECT_EQ(uses.back(), 250);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        EXPECT_DOUBLE_EQ(large[i], 100 + 2 * uses[i]);
        EXPECT_EQ(large[i] < small[i], uses[i] < 50);
        EXPECT_EQ(large[i] < dearer[i], uses[i] < 200);
    }
}

TEST(TrainOrServeChapter, TakesOtherCosts) {
    const lab::Results results = finish(
        "--large-once 10 --large-use 1.5 --small-once 31 --small-use 1 "
        "--dearer-once 10");
    EXPECT_EQ(row(results, "break_even").predicted, 42);
    EXPECT_EQ(row(results, "break_even").measured.median, 42);
    EXPECT_EQ(row(results, "break_even_cost").predicted, 73);
    EXPECT_EQ(row(results, "q4").predicted, 0);
    // The course's figures are not its own here, and are not compared.
    EXPECT_EQ(results.checks.size(), 3u);
    EXPECT_EQ(results.checks_held(), 3);
    // Sums of fractions.
    const lab::Results fractions = finish(
        "--large-once 0.1 --large-use 0.3 --small-once 0.7 --small-use 0.1 "
        "--together 2 --threads 1 --kv f16 --dtype int8 --seed 3");
    EXPECT_NEAR(*row(fractions, "break_even").predicted, 3, 1e-9);
    EXPECT_EQ(fractions.checks_held(), int(fractions.checks.size()));
}

TEST(TrainOrServeChapter, CountsTheShippedModels) {
    const lab::Results results = finish("--longer 20");
    EXPECT_NEAR(note(results, "train_large_flops"), 6 * 4470272 * 9.8e6 / 1e12, 1e-9);
    EXPECT_NEAR(note(results, "train_small_flops"), 6 * 1052160 * 5.1e6 / 1e12, 1e-9);
    EXPECT_EQ(note(results, "train_large"), 72);
    EXPECT_EQ(note(results, "train_longer"), 260);
    EXPECT_NEAR(note(results, "even_flops"),
                6 * (1052160 * 5.1e6 * 20 - 4470272 * 9.8e6) / (2 * (4470272 - 1052160)),
                1e-3);
    const Column once = column(results, "machine", "once");
    EXPECT_EQ(once, (Column{72 * 60, 260 * 60, 72 * 60, 260 * 60}));
    EXPECT_EQ(column<std::string>(results, "machine", "who"),
              (std::vector<std::string>{"large_alone", "small_alone", "large_together",
                                        "small_together"}));
    // The prediction is the break-even of what the ledger predicts for a token.
    const Column use = column(results, "machine", "predicted_use");
    if (const auto& rows = results.rows;
        std::ranges::count(rows, "even_alone", &lab::Row::id) == 1) {
        EXPECT_NEAR(*row(results, "even_alone").predicted,
                    (260 - 72) * 60 / (use[0] - use[1]), 1e-3);
    }
}

TEST(TrainOrServeChapter, AModelAsItWasTrainedWidened) {
    // At another shape a token is dearer; what was trained stays.
    const lab::Results own = finish(""), wide = finish("--shape small --together 2");
    EXPECT_EQ(note(own, "even_flops"), note(wide, "even_flops"));
    EXPECT_EQ(wide.model->parameters, 124439808);
    EXPECT_EQ(wide.checks_held(), int(wide.checks.size()));
}

TEST(TrainOrServeChapter, PublicPairsCross) {
    const lab::Results results = finish("");
    EXPECT_NEAR(note(results, "pair_gopher_chinchilla"), 200, 1e-9);
    const double llama =
        3 * (6738415616 * 2e12 - 13015864320 * 1e12) / (13015864320 - 6738415616.0) / 1e9;
    EXPECT_NEAR(note(results, "pair_llama_13b_llama2_7b"), llama, 1e-6);
    EXPECT_NEAR(note(results, "pair_chinchilla_llama3_8b"),
                3 * (8030261248 * 15e12 - 70e9 * 1.4e12) / (70e9 - 8030261248.0) / 1e9,
                1e-6);
    EXPECT_EQ(note(results, "pair_gpt3_llama_13b"), 0);
    // 6 N D over 312 TFLOP/s, of the hours that the papers print.
    EXPECT_NEAR(note(results, "share_llama_13b"),
                100 * 6 * 13015864320e12 / 312e12 / 3600 / 135168, 1e-6);
    // One at a time a token is a trip of the weights: 2 bytes each at 2,039 GB/s.
    EXPECT_NEAR(
        note(results, "pair_llama_13b_llama2_7b_1"),
        (184320 - 135168) * 3600.0 / (2 * (13015864320 - 6738415616.0) / 2039e9) / 1e9,
        1e-6);
    // 256 at a time it is arithmetic: 2 FLOPs a parameter at 312 TFLOP/s.
    EXPECT_NEAR(
        note(results, "pair_llama_13b_llama2_7b_256"),
        (184320 - 135168) * 3600.0 / (2 * (13015864320 - 6738415616.0) / 312e12) / 1e9,
        1e-6);
    EXPECT_EQ(column(results, "gpu", "people"), (Column{1, 16, 64, 256}));
    const Column even = column(results, "gpu", "even");
    EXPECT_TRUE(std::ranges::is_sorted(even));
    EXPECT_EQ(column<std::string>(results, "pairs", "id").size(), 4u);
}

TEST(TrainOrServeChapter, TakesOtherPairs) {
    const support::TempDir dir;
    json all = json::parse(support::slurp(shipped));
    all["pairs"] = json::array({all["pairs"][0]});
    all["models"][1]["tokens"] = 100e9;  // a Gopher that was trained less
    support::spew(dir / "pairs.json", all.dump());
    const lab::Results results = finish("--pairs " + (dir / "pairs.json").string());
    EXPECT_NEAR(note(results, "pair_gopher_chinchilla"), 1000, 1e-6);
    EXPECT_TRUE(column(results, "gpu", "even").empty());
    all["models"][3]["trained"]["gpu"] = "abacus";
    all["pairs"][0]["small"] = "llama_13b";
    support::spew(dir / "pairs.json", all.dump());
    EXPECT_THAT(refused("--pairs " + (dir / "pairs.json").string()),
                EndsWith("pairs.json: llama_13b: machines.json has no GPU 'abacus'\n"));
    all["models"][3]["tokens"] = true;
    support::spew(dir / "pairs.json", all.dump());
    EXPECT_EQ(refused("--pairs " + (dir / "pairs.json").string()),
              "13_train_or_serve: " + (dir / "pairs.json").string() +
                  ": models[3]: tokens: expected a number, found true\n");
}

TEST(TrainOrServeChapter, RefusesWhatCannotBe) {
    EXPECT_EQ(refused("--small-use 2"),
              "13_train_or_serve: --small-use: a small model that is no cheaper to use "
              "pays back nothing\n");
    EXPECT_THAT(
        refused("--small-use 1.99999 --small-once 1000"),
        HasSubstr("--dearer-once: paid back only after 9e+07 uses, expected at most"));
    EXPECT_THAT(
        refused("--small " SOURCE_DIR "/data/models/story"),
        HasSubstr("--small: expected a model that writes for less than the large"));
    for (const char* options :
         {"--large-once -1", "--large-use nan", "--small-once inf", "--small-use x",
          "--dearer-once 1e7", "--large-minutes -1", "--small-minutes ''", "--longer 0",
          "--large-seen 0", "--small-seen -1", "--together 1", "--together 65",
          "--beats 0", "--beats 513", "--small /nowhere", "--pairs /nowhere.json",
          "--pairs /", "--uses 5"})
        refused(options);
}
