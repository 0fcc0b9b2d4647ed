// 15_gpu: what it counts, against counts made here, and what it refuses.

#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>

#include "chapters/program.hpp"

namespace {

using support::column;
using support::counted;
using support::note;

using testing::HasSubstr;
using Column = std::vector<double>;

support::Outcome run(const std::string& options) {
    return support::run("15_gpu", "--quick " + options);
}

support::Finished finish(const std::string& options) {
    return support::finish("15_gpu", "--quick " + options);
}

/// One run for several tests: on the kernels' machine a token takes its time.
const support::Finished& ran() {
    static const support::Finished finished =
        finish("--positions 70 --tokens 512 --multiprocessors 15");
    return finished;
}

/// Whether this build's kernels tell of their loads and stores.
bool counts(const lab::Results& results) { return results.find_exhibit("attend"); }

}  // namespace

TEST(GpuChapter, CountsOneBlockOfAttention) {
    const lab::Results& results = ran().results;
    if (!counts(results)) GTEST_SKIP() << "a sanitizer has the compiler's calls";
    // Three blocks of 32 positions: all their keys, 70 values, 64 channels of f32.
    EXPECT_EQ(counted(results, "attend_cache"), (96 + 70) * 64 * 4);
    EXPECT_EQ(counted(results, "attend_shuffles"), 3 * 10);
    EXPECT_EQ(counted(results, "attend_barriers"), 4);

    EXPECT_EQ(column(results, "attend", "weights"), Column(5, 0.0));
    EXPECT_EQ(column(results, "attend", "cache"), (Column{0, (96 + 70) * 256, 0, 0, 0}));
    EXPECT_EQ(column(results, "attend", "shuffles"), (Column{0, 30, 0, 0, 0}));
    EXPECT_EQ(column(results, "attend", "atomics"), (Column{0, 0, 0, 1, 0}));
    // The query; each lane of three warps reads it, and 70 weights; four warps' tops,
    // sums and values for each channel; one flag for 128 threads.
    EXPECT_EQ(column(results, "attend", "shared_reads"),
              (Column{0, 3 * 32 * 64 + 70 * 32, 64 * 4 * 3, 0, 128}));
    EXPECT_EQ(column(results, "attend", "shared_writes"),
              (Column{64, 3 * 32 + 4 + 4 + 128 * 2, 0, 1, 0}));
    // The sums of 64 channels, top and total; then the 64 channels and a zero.
    EXPECT_EQ(column(results, "attend", "stored"), (Column{0, 0, 66 * 4, 0, 65 * 4}));
    const Column other = column(results, "attend", "other");
    EXPECT_EQ(other.front(), 64 * 4);
    EXPECT_EQ(other.back(), 64 * 3 * 4);
}

TEST(GpuChapter, CountsEveryByteOfAToken) {
    const lab::Results& results = ran().results;
    if (!counts(results)) GTEST_SKIP() << "a sanitizer has the compiler's calls";
    // The shipped model: 4 layers of 256, 4,096 tokens; 64 positions, which are two
    // blocks.
    const Column bytes = column(results, "kernels", "counted");
    EXPECT_EQ(bytes, column(results, "kernels", "predicted"));
    const double d = 256, f = 4, layers = 4;
    EXPECT_EQ(bytes,
              (Column{2 * d * f, layers * (2 * d + 3 * d * d + 3 * d + 2 * d) * f,
                      layers * 64 * 2 * d * f, layers * (d * d + d) * f,
                      layers * (2 * d + 4 * d * d + 4 * d) * f,
                      layers * (4 * d * d + d) * f, (2 * d + 4096 * d + 4096) * f}));
    EXPECT_EQ(counted(results, "token_bytes"),
              std::accumulate(bytes.begin(), bytes.end(), 0.0));
    EXPECT_EQ(results.headline, "token_bytes");

    // 64 blocks; each asks for the input and for a norm's gain and bias.
    EXPECT_EQ(counted(results, "fc_weights"), (2 * d + 4 * d * d + 4 * d) * f);
    EXPECT_EQ(counted(results, "fc_again"), 63 * 3 * d * f);
    // The first weights are asked for before the input, the others when it is ready.
    const Column weights = column(results, "multiply", "weights");
    ASSERT_EQ(weights.size(), 4u);
    EXPECT_EQ(weights[0] + weights[3], (4 * d * d + 4 * d) * f);
    EXPECT_EQ(weights[2], 64 * 2 * d * f);  // each block's gain and bias

    // GPT-2 small, 511 positions behind it.
    const Column there = column(results, "kernels", "there");
    EXPECT_EQ(there[2], 12 * 512 * 2 * 768 * 4.0);
    EXPECT_EQ(there[6], (2 * 768 + 50257 * 768.0 + 50257) * 4);
    const Column share = column(results, "kernels", "share");
    EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 100, 1e-9);
    EXPECT_EQ(note(results, "share_head"), share[6]);
    EXPECT_EQ(note(results, "share_attention"), share[2]);
}

TEST(GpuChapter, CountsInHalfPrecisionToo) {
    const lab::Results results = finish("--dtype bf16 --kv f16 --words 5").results;
    EXPECT_EQ(counted(results, "graphs"), 3);
    if (!counts(results)) GTEST_SKIP() << "a sanitizer has the compiler's calls";
    EXPECT_EQ(counted(results, "attend_cache"), 2 * 96 * 64 * 2);
    EXPECT_EQ(counted(results, "fc_weights"), 4 * 256 * 256 * 2 + 6 * 256 * 4);
}

TEST(GpuChapter, CountsLaunchesAndBlocks) {
    const lab::Results& results = ran().results;
    EXPECT_EQ(counted(results, "graphs"), 2);
    EXPECT_EQ(counted(results, "graph_kernels"), 23);
    EXPECT_EQ(note(results, "kernels_there"), 63);
    EXPECT_EQ(note(results, "blocks_whole"), 12);
    EXPECT_EQ(note(results, "blocks_split"), 60);  // 4 x 15 / 12 for each head
    EXPECT_EQ(note(results, "walk_whole"), 512);
    EXPECT_EQ(note(results, "walk_split"), 128);  // of 16 blocks, the first four take 4
    EXPECT_EQ(results.checks_held(), int(results.checks.size()));
}

// The floors are the ledger's, from the data sheets and nothing else, and nothing here is
// said to have been measured on a GPU.
TEST(GpuChapter, FloorsFollowTheRidge) {
    const lab::Results& results = ran().results;
    const auto ids = column<std::string>(results, "floors", "id");
    const Column ridge = column(results, "floors", "ridge");
    const Column ratio = column(results, "floors", "ratio");
    const auto h100 = std::size_t(std::ranges::find(ids, "h100") - ids.begin());
    ASSERT_LT(h100, ids.size());
    EXPECT_NEAR(ridge[h100], 989e12 / 3350e9, 1e-9);
    EXPECT_EQ(note(results, "ratio_h100"), ratio[h100]);
    // 123.5 million weights of 2 bytes, biases and scores of 4, 511 positions of 36 KiB.
    EXPECT_NEAR(note(results, "beat_h100") * 3350e9, 266.6e6, 0.1e6);
    EXPECT_EQ(ids.front(), "here");

    EXPECT_THAT(ran().out, HasSubstr("From data sheets, not measured"));
    EXPECT_FALSE(results.machine.gpu);
    for (const lab::Row& row : results.rows)
        EXPECT_EQ(row.what.find("GPU"), row.what.npos);
}

TEST(GpuChapter, ShowsWhatWasRecordedOnAGpu) {
    lab::Results results = ran().results;
    const support::TempDir dir;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SOURCE_DIR "/data")))
        if (entry.path().filename() != "results")
            std::filesystem::create_symlink(entry.path(), dir / entry.path().filename());
    std::filesystem::create_directories(dir / "results/a-processor");
    std::filesystem::create_directories(dir / "results/a-gpu");
    support::spew(dir / "results/a-processor/15_gpu.json", lab::to_json(results));
    lab::GpuCeilings& gpu = results.machine.gpu.emplace();
    gpu = {"Example GPU", 1, 1, 1, 1, 1, 1, 1};
    support::spew(dir / "results/a-gpu/15_gpu.json", lab::to_json(results));
    setenv("GPT2_DATA", dir.path().c_str(), 1);
    const std::string out = run("--words 3").out;
    unsetenv("GPT2_DATA");
    const std::string said =
        "Measured on another machine, an Example GPU, " + results.date;
    EXPECT_THAT(out, HasSubstr(said));
    EXPECT_EQ(out.find("Measured on", out.find(said) + 1), out.npos) << "one of the two";
}

TEST(GpuChapter, RefusesWhatCannotBe) {
    for (const char* options :
         {"--tokens 2", "--tokens 1024", "--positions 31", "--positions 256", "--words 2",
          "--words 201", "--multiprocessors 0", "--dtype int8"}) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
    EXPECT_THAT(run("--dtype int8").err, HasSubstr("expected f32, f16 or bf16"));
    if (const support::Outcome none = run("--device cuda"); none.status != 0) {
        EXPECT_EQ(none.status, 77) << none.err;
        EXPECT_EQ(std::ranges::count(none.err, '\n'), 1) << none.err;
    }
}
