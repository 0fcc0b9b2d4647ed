// 08_batching: which batches it writes, what it computes, and what it refuses.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "chapters/program.hpp"
#include "gpt2/load.hpp"
#include "lab/machine_info.hpp"

namespace {

using support::note;

namespace fs = std::filesystem;
using testing::HasSubstr;

support::Outcome run(const std::string& options) {
    return support::run("08_batching", "--quick --shape own " + options);
}

support::Finished finish(const std::string& options) {
    return support::finish("08_batching", "--quick --shape own " + options);
}

template <class T>
const T& find(const std::vector<T>& all, const std::string& id) {
    for (const T& one : all)
        if (one.id == id) return one;
    throw std::runtime_error("no '" + id + "'");
}

}  // namespace

TEST(Batching, WritesEveryBatchSize) {
    const auto [out, results] =
        finish("--batch 6 --beats 2 --context 40 --long 70 --threads 1");
    std::set<std::string> rows, checks;
    for (const lab::Row& row : results.rows) rows.insert(row.id);
    for (const lab::Check& check : results.checks) checks.insert(check.id);
    for (const std::string size : {"1", "2", "4", "6"}) {
        EXPECT_EQ(find(results.rows, "beat_" + size).measured.runs % 2, 0) << size;
        EXPECT_TRUE(rows.contains("rate_" + size)) << size;
        EXPECT_EQ(find(results.checks, "same_" + size).detail,
                  "0 tokens, 0 floats differ");
    }
    for (const char* id : {"beat_1_long", "beat_6_long", "context_1_long",
                           "context_6_long", "batch_shared", "one_answer"})
        EXPECT_TRUE(rows.contains(id)) << id;
    for (const std::string size : {"1_long", "6_long"})
        EXPECT_TRUE(checks.contains("same_" + size) && checks.contains("bytes_" + size));
    EXPECT_FALSE(rows.contains("rate_3") || rows.contains("rate_8"));
    EXPECT_EQ(results.headline, "batch_shared");

    // Openings of 40, 39 ... 35 tokens, the last of each not yet read, then two beats:
    // 41 + 40 + 39 + 38 + 37 + 36 positions of 2 x 4 x 256 floats.
    const gpt2::Config config = gpt2::load_config(SOURCE_DIR "/data/models/story");
    const std::int64_t bytes = 231 * 2 * std::int64_t(config.n_layer) * config.n_embd * 4;
    EXPECT_EQ(find(results.checks, "bytes_6").detail, fmt::format("{0} and {0}", bytes));
}

TEST(Batching, PredictsFromTheLedger) {
    const lab::Results results = finish("--batch 5 --beats 2 --context 40").results;
    const gpt2::Config config = gpt2::load_config(SOURCE_DIR "/data/models/story");
    const ledger::Engine anywhere(config, gpt2::DType::f32, gpt2::DType::f32, {});
    const ledger::Step one{};
    const auto operations = anywhere.operations({&one, 1});
    // The knee gives away how fast memory was found to be beside the last batch; of that
    // machine the ledger predicts what stands in the table.
    ledger::Machine machine = results.machine.ceilings;
    machine.read_bandwidth = machine.multiply_add_peak * ledger::total_bytes(operations) /
                             ledger::total_flops(operations) / note(results, "knee_at");
    double beat = 0;
    for (const int past : {40, 41}) {
        std::vector<ledger::Step> steps;
        for (int i = 0; i < 5; ++i) steps.push_back({.past = past - 1 - i});
        beat += anywhere.on(machine).forward(steps) / 2;
    }
    EXPECT_NEAR(*find(results.rows, "beat_5").predicted / beat, 1, 1e-9);

    const lab::Exhibit& knee = *results.find_exhibit("knee");
    EXPECT_EQ(knee.columns, (std::vector<std::string>{"sequences", "predicted_seconds",
                                                      "measured_seconds"}));
    ASSERT_EQ(knee.rows.size(), 4u);
    double before = 0;
    for (std::size_t i = 0; i < knee.rows.size(); ++i) {
        const double n = std::get<double>(knee.rows[i][0]);
        const double predicted = std::get<double>(knee.rows[i][1]);
        EXPECT_EQ(n, (std::vector<double>{1, 2, 4, 5})[i]);
        EXPECT_GT(predicted, before);
        EXPECT_GT(std::get<double>(knee.rows[i][2]), 0);
        before = predicted;
        const lab::Row& rate = find(results.rows, fmt::format("rate_{}", n));
        EXPECT_DOUBLE_EQ(*rate.predicted, n / predicted);
    }
}

TEST(Batching, ComputesTheCoursesSumsAndWhatFits) {
    const auto [out, results] = finish("--batch 2");
    EXPECT_THAT(out, HasSubstr("\n 1 together  2.800 s + 1 x 39,900 x 0.5 MB / (1 TB/s) "
                               "= 2.820 s\n"));
    EXPECT_THAT(out, HasSubstr("\n64 together  2.800 s + 64 x 39,900 x 0.5 MB / (1 TB/s) "
                               "= 4.077 s\n"));
    EXPECT_NEAR(note(results, "q2_with_1"), 2.81995, 1e-9);
    EXPECT_NEAR(note(results, "q2_with_8"), 2.9596, 1e-9);
    EXPECT_NEAR(note(results, "q2"), 4.0768, 1e-9);
    EXPECT_DOUBLE_EQ(note(results, "q2_cache"), 9.6);
    EXPECT_TRUE(find(results.checks, "q2").holds);
    EXPECT_TRUE(find(results.checks, "q2_cache").holds);

    // 64 GB for caches, 131,072 bytes a token; 150 FLOPs a byte, one FLOP a byte each.
    EXPECT_EQ(note(results, "fit_rented"), 3);
    EXPECT_NEAR(note(results, "knee_rented"), 150, 1e-9);
    EXPECT_NEAR(note(results, "even_rented"), 64e9 / 131072 / 150, 1e-6);
    int rented = 0;
    for (const lab::Cells& row : results.find_exhibit("fit")->rows)
        if (std::get<std::string>(row[0]) == "rented") {
            const double tokens = std::get<double>(row[1]);
            EXPECT_EQ(std::get<double>(row[2]), std::floor(64e9 / 131072 / tokens));
            EXPECT_NEAR(std::get<double>(row[3]), 150, 1e-9);
            ++rented;
        }
    EXPECT_EQ(rented, 11);  // 128 to 131,072 tokens
}

// A course that printed another figure would not be reproduced.
TEST(Batching, FailsWhereTheCourseDiffers) {
    const support::TempDir data;
    for (const char* folder : {"models", "texts", "gpt2-vocab"})
        fs::create_directory_symlink(fs::path(SOURCE_DIR "/data") / folder,
                                     data / folder);
    std::string published = support::slurp(SOURCE_DIR "/data/published.json");
    const std::string printed = "\"value\": 4.1,";
    const std::size_t at = published.find(printed, published.find("\"id\": \"q2\""));
    ASSERT_NE(at, std::string::npos);
    support::spew(data / "published.json",
                  published.replace(at, printed.size(), "\"value\": 4.2,"));
    setenv("GPT2_DATA", data.path().c_str(), 1);
    const support::Outcome outcome = run("--batch 1 --beats 1");
    unsetenv("GPT2_DATA");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("4.0768 s, the course's 4.2"));
}

TEST(Batching, TakesTheSmallestAndOtherSizes) {
    for (const char* options :
         {"--batch 1 --beats 1 --context 4 --long 4",
          "--batch 3 --beats 5 --context 33 --long 1000 --kv f16 --dtype int8",
          "--batch 70 --beats 1 --context 8 --long 5 --threads 1"}) {
        const lab::Results results = finish(options).results;
        EXPECT_EQ(results.checks_held(), int(results.checks.size())) << options;
        EXPECT_GT(find(results.rows, "batch_shared").measured.min, 0) << options;
        EXPECT_GT(find(results.rows, "context_1_long").measured.min, 0) << options;
    }
}

TEST(Batching, RefusesWhatHasNoRoom) {
    const support::Outcome outcome = run("--context 1000 --beats 26");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "08_batching: --context, --long, --beats: they ask for 1025 positions, but "
              "the context has 1024\n");
    // Before the large model is loaded.
    if (lab::memory_bytes() < 150'000'000'000) {
        const support::Outcome large =
            support::run("08_batching", "--shape large --batch 256 --context 950");
        EXPECT_EQ(large.status, 2);
        EXPECT_EQ(large.err,
                  "08_batching: --batch, --context, --long, --beats: they ask for "
                  "84.6 GiB, over half of the memory\n");
    }
    for (const char* options :
         {"--batch 0", "--batch 257", "--context 3", "--context 1001", "--long 3",
          "--long 1001", "--beats 0", "--beats 101", "--batch 8x", "--batch"})
        EXPECT_EQ(run(options).status, 2) << options;
}
