// The program that writes a model as files, and what it wrote, read back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "chapters/program.hpp"
#include "gpt2/load.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

namespace {

const std::filesystem::path story = data_directory() / "models/story-draft";

/// Every number of both, compared bit by bit.
void expect_equal(const Weights& a, const Weights& b) {
    ASSERT_EQ(a.config(), b.config());
    for (const Part part : all_parts())
        for (int layer = 0; layer < (is_per_layer(part) ? a.config().n_layer : 1);
             ++layer) {
            const Shape shape = shape_of(part, a.config());
            std::vector<float> x(std::size_t(shape.rows) * std::size_t(shape.columns));
            std::vector<float> y = x;
            a.read(part, layer, 0, x);
            b.read(part, layer, 0, y);
            EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0)
                << name_of(part, layer);
        }
}

support::Outcome run(const std::string& arguments) {
    return support::run("export_model", arguments);
}

}  // namespace

TEST(SaveWeights, AnyShapeReadsBackToTheBit) {
    // Among them what could be taken for a vector.
    for (const Config& config :
         {Config{97, 16, 8, 2, 2}, Config{5, 1, 4, 1, 1}, Config{1, 3, 2, 1, 2}}) {
        const support::TempDir dir;
        const auto weights = random_weights(config, 7);
        save_weights(*weights, dir / "new" / "folder");
        expect_equal(*load_weights(dir / "new" / "folder"), *weights);
    }
}

TEST(SaveWeights, SaysWhereItCannotWrite) {
    const support::TempDir dir;
    support::spew(dir / "file", "");
    const auto weights = random_weights({5, 4, 4, 1, 1}, 7);
    EXPECT_THAT(support::bad_input([&] { save_weights(*weights, dir / "file"); }),
                HasSubstr("file: "));
    std::filesystem::create_directories(dir / "config.json");
    EXPECT_THAT(support::bad_input([&] { save_weights(*weights, dir.path()); }),
                HasSubstr("config.json: cannot be written: "));
}

TEST(ExportModel, WritesTheModelAsItIs) {
    const support::TempDir dir;
    const auto outcome =
        run("--model " + story.string() + " --out " + (dir / "out").string());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_equal(*load_weights(dir / "out"), *load_weights(story));
}

TEST(ExportModel, WritesItWidened) {
    const support::TempDir dir;
    const auto outcome = run("--model " + story.string() +
                             " --shape small --seed 3 --out " + (dir / "out").string());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    LoadOptions options;
    options.shape = "small";
    options.seed = 3;
    expect_equal(*load_weights(dir / "out"), *open_weights(story, options));
}

TEST(ExportModel, RefusesInOneLine) {
    const support::TempDir dir;
    const std::string out = " --out " + (dir / "out").string();
    for (const std::string& arguments :
         {std::string(), std::string("--shape small"), "--shape tiny" + out,
          "--seed -1" + out, "--what" + out, "--model /nonexistent" + out,
          "--out " + story.string()}) {
        const auto outcome = run(arguments);
        EXPECT_EQ(outcome.status, 2) << arguments;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
    EXPECT_FALSE(exists(dir / "out"));
    EXPECT_EQ(run("--help").status, 0);
}
