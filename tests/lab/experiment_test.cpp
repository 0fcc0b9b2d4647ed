#include "lab/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <set>
#include <span>
#include <thread>

#include "gpt2/error.hpp"

namespace {

namespace fs = std::filesystem;
using lab::Experiment;
using lab::Measured;
using namespace std::chrono_literals;

struct Ran {
    int status;
    std::string out, err;
};

/// Runs a program in this process.
Ran run(const std::function<void(Experiment&)>& experiment,
        std::vector<std::string> words = {}) {
    const lab::Program program{.name = "99_test",
                               .title = "A test",
                               .question = "Does it work?",
                               .experiment = experiment,
                               .shape = "own"};
    std::vector<const char*> argv{"99_test"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = lab::run(int(argv.size()), argv.data(), program);
    std::string out = testing::internal::GetCapturedStdout();
    return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

const auto nothing = [](Experiment&) {};

TEST(Run, ErrorsBecomeOneLineAndAStatus) {
    const auto status = [](const auto& thrown) {
        const Ran ran = run([&](Experiment&) { throw thrown; });
        EXPECT_EQ(ran.err.rfind("99_test: ", 0), 0u) << ran.err;
        EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
        return ran.status;
    };
    EXPECT_EQ(status(gpt2::BadInput("bad\ninput")), 2);
    EXPECT_EQ(status(gpt2::Unavailable("no weights")), 77);
    EXPECT_EQ(status(gpt2::Error("broken")), 1);
    EXPECT_EQ(status(std::bad_alloc()), 2);
    EXPECT_EQ(status(std::runtime_error("other")), 1);
}

TEST(Run, BadOptionsEndBeforeAnyWork) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"--threads", "12x"},
                                               {"--unknown"},
                                               {"--json", "/none/at/all.json"},
                                               {"--json", "/dev/null"}}) {
        bool ran_at_all = false;
        const Ran ran = run([&](Experiment&) { ran_at_all = true; }, words);
        EXPECT_EQ(ran.status, 2);
        EXPECT_FALSE(ran_at_all);
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    }
    const Ran help = run(nothing, {"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out.rfind("A test", 0), 0u);
}

TEST(Run, AMissingModelIsBadInput) {
    const auto load = [](Experiment& lab) { lab.load_model(); };
    EXPECT_EQ(run(load, {"--model", "/none"}).status, 2);
}

TEST(Run, WritesResultsAlsoWhereACheckFailsButNotOnAnError) {
    const fs::path file = fs::path(testing::TempDir()) / "experiment_test.json";
    fs::remove(file);
    const std::vector<std::string> words{"--quick", "--threads", "1", "--json", file};

    EXPECT_EQ(run([](Experiment&) { throw gpt2::BadInput("x"); }, words).status, 2);
    EXPECT_FALSE(fs::exists(file));

    const Ran failing = run(
        [](Experiment& lab) {
            lab.row("read_512", "reading", "token/s", 8.0, 16 / Measured{1, 2, 4, 3});
            lab.row("write_511", "writing", "token/s", 2.0, 16 / Measured{8, 8, 8, 2});
            lab.ratio("read_over_write", "reading over writing", "read_512", "write_511");
            lab.note("kv_per_token", "a figure", 36864, "bytes");
            lab.note("count", "a count", 265956864);
            lab.exhibit("points", {"x", "name"}, {{1.0, "a"}, {2.5, "unseen"}});
            lab.check("good", "what holds", true);
            lab.check("bad", "what does not", lab::Outcome{false, "7 differ"});
            lab.keep("Keep this.");
        },
        words);
    EXPECT_EQ(failing.status, 1);
    for (const char* part : {"FAILED  what does not: 7 differ", "265,956,864", "36 KiB",
                             "4 (2..8)", "Keep this.", "machine  "})
        EXPECT_NE(failing.out.find(part), std::string::npos) << part << failing.out;

    const lab::Results results = lab::read_results(file);
    EXPECT_EQ(results.chapter, "99_test");
    EXPECT_TRUE(results.quick);
    EXPECT_EQ(results.headline, "read_over_write");
    EXPECT_EQ(results.rows.at(2).predicted, 4);
    EXPECT_EQ(results.rows.at(2).measured.median, 4);
    EXPECT_EQ(results.rows.at(2).published->value, 60.6);
    EXPECT_EQ(results.machine.threads, 1);
    EXPECT_GT(results.machine.ceilings.read_bandwidth, 0);
    EXPECT_EQ(results.date.size(), 20u);
    EXPECT_FALSE(results.commit.empty());
    EXPECT_FALSE(results.model);
    EXPECT_EQ(results.find_exhibit("points")->rows.at(1), (lab::Cells{2.5, "unseen"}));
    EXPECT_EQ(failing.out.find("unseen"), std::string::npos);
    EXPECT_TRUE(results.notes.at(0).published);
    EXPECT_FALSE(results.notes.at(1).published);
    fs::remove(file);
}

TEST(Experiment, MemoryIsLookedAtBesideEachMeasurement) {
    const auto looks = [](Experiment& lab) {
        const double before = lab.machine().read_bandwidth;
        lab.time([] {});
        EXPECT_EQ(lab.machine().read_bandwidth, before) << "no model, no look";

        const auto model = lab.load_model({.shape = "own"});
        const ledger::Engine& engine = lab.engine();
        std::vector<double> seen;
        const auto look = [&](const auto& work) {
            work();
            seen.push_back(lab.machine().read_bandwidth);
            EXPECT_EQ(engine.machine().read_bandwidth, seen.back());
            EXPECT_EQ(engine.machine().threads, lab.threads());
        };
        const auto long_one = [] { std::this_thread::sleep_for(1.1s); };
        look([&] { lab.look_at_memory(); });
        look([&] { lab.time([] {}); });  // the look before is good for a second
        EXPECT_EQ(seen[0], seen[1]);
        look([&] { lab.time(long_one); });
        look([&] { lab.look_at_memory(); });
        // Two looks never give the same to the last bit of a double.
        EXPECT_EQ(std::set<double>(seen.begin(), seen.end()).size(), 3u);
        const double middle = lab.results().machine.ceilings.read_bandwidth;
        EXPECT_GE(middle, std::min(before, std::ranges::min(seen)));
        EXPECT_LE(middle, std::max(before, std::ranges::max(seen)));
    };
    EXPECT_EQ(run(looks, {"--quick"}).status, 0);
}

TEST(Experiment, AnExhibitThatCannotBeDrawnIsRefused) {
    run([](Experiment& lab) {
        lab.exhibit("a", {"x"}, {});
        EXPECT_THROW(lab.exhibit("a", {"x"}, {}), gpt2::Error);
        EXPECT_THROW(lab.exhibit("b", {"x"}, {{1.0, 2.0}}), gpt2::Error);
        EXPECT_THROW(lab.exhibit("b", {"x"}, {{double(NAN)}}), gpt2::Error);
        EXPECT_THROW(lab.exhibit("b", {"x", "x"}, {}), gpt2::Error);
        EXPECT_THROW(lab.exhibit("", {"x"}, {}), gpt2::Error);
        EXPECT_EQ(lab.results().exhibits.size(), 1u);
    });
}

TEST(Experiment, TheHeadlineCanBeNamed) {
    run([](Experiment& lab) {
        const Measured one{1, 1, 1, 1};
        lab.row("a", "a", "s", 1.0, one);
        EXPECT_EQ(lab.results().headline, "a");
        lab.row("b", "b", "s", {}, one);
        EXPECT_EQ(lab.results().headline, "a");
        lab.ratio("r", "r", "a", "b");
        EXPECT_EQ(lab.results().headline, "r");
        EXPECT_FALSE(lab.results().rows.back().predicted);
        lab.headline("b");
        lab.ratio("q", "q", "a", "b");
        EXPECT_EQ(lab.results().headline, "b");
        EXPECT_THROW(lab.headline("none"), gpt2::Error);
        EXPECT_THROW(lab.ratio("x", "x", "a", "none"), gpt2::Error);
        EXPECT_THROW(lab.row("z", "z", "token/s", 1.0, 1 / Measured{0, 0, 0, 1}),
                     gpt2::Error);
        EXPECT_THROW(lab.engine(), gpt2::Error);
    });
}

TEST(SameLogits, CountsFloatsWhoseBitsDiffer) {
    const std::vector<float> a{0.0f, 1.0f, NAN, -INFINITY}, b{-0.0f, 1.0f, NAN, INFINITY};
    EXPECT_EQ(lab::differing_floats(a, a), 0);
    EXPECT_EQ(lab::differing_floats(a, b), 2);  // equal as numbers is not enough
    EXPECT_EQ(lab::differing_floats({}, {}), 0);
}

TEST(Experiment, LoadsTheModelAndTheTextThatGoesWithIt) {
    const Ran ran = run([](Experiment& lab) {
        const auto model = lab.load_model();
        const auto text = lab.text("article.txt", 40);
        ASSERT_EQ(text.size(), 40u);
        EXPECT_THROW(lab.text("article.txt", 100'000'000), gpt2::BadInput);
        EXPECT_THROW(lab.text("none.txt", 1), gpt2::BadInput);
        EXPECT_EQ(lab.results().model->origin, "data/models/story");
        EXPECT_GT(lab.engine().forward({.tokens = 1, .past = 3, .rows = 1}), 0);

        const lab::Outcome same = lab::same_logits(*model, text);
        EXPECT_TRUE(same.holds);
        EXPECT_EQ(same.detail, "0 of 4,096 floats differ in their bits");

        int runs = 0;
        const Measured measured = lab.time([&] { ++runs; });
        EXPECT_EQ(runs, measured.runs + 1);
    });
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("data/models/story"), std::string::npos);
}

TEST(Experiment, LoadsVariantsAndDescribesTheOneLoadedLast) {
    const Ran ran = run(
        [](Experiment& lab) {
            const ledger::Step step{.tokens = 1, .past = 0, .rows = 1};
            const std::size_t f32 = lab.load_model()->weight_bytes();
            const double bytes = lab.engine().bytes_per_token(step);

            // Half the bytes of the matrices; what stays f32 is under a tenth.
            const std::size_t f16 =
                lab.load_model({.dtype = gpt2::DType::f16})->weight_bytes();
            EXPECT_NEAR(double(f16) / double(f32), 0.5, 0.05);
            EXPECT_NEAR(lab.engine().bytes_per_token(step) / bytes, 0.5, 0.05);

            lab.load_model({.kv = gpt2::DType::f16});
            const double f32_cache = bytes,
                         f16_cache = lab.engine().bytes_per_token(step);
            EXPECT_EQ(f32_cache - f16_cache,
                      2 * 4 * 256 * 2);  // a key and a value, 4 layers

            const auto wide = lab.load_model({.shape = "small"});
            EXPECT_EQ(wide->config().n_embd, 768);
            EXPECT_GT(lab.engine().bytes_per_token(step), 20 * bytes);

            lab.load_model({.threads = 2});
            EXPECT_EQ(lab.engine().machine().threads, 2);
            lab.load_model();
            EXPECT_EQ(lab.engine().machine().threads, 1);
            EXPECT_EQ(lab.engine().bytes_per_token(step), bytes);

            EXPECT_THROW(lab.load_model({.shape = "xxl"}), gpt2::BadInput);
            EXPECT_THROW(lab.load_model({.threads = 100'000}), gpt2::BadInput);

            // The results file names the model that the options ask for.
            EXPECT_EQ(lab.results().model->shape, "own");
            EXPECT_EQ(lab.results().model->dtype, "f32");
            EXPECT_EQ(lab.results().machine.threads, 1);
        },
        {"--threads", "1"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("2 of "), std::string::npos) << ran.out;
}

TEST(Experiment, ChecksWhatTheCoursePrints) {
    const Ran ran = run([](Experiment& lab) {
        lab.check_published("floor_140", 70.4);
        EXPECT_EQ(lab.results().checks.back().id, "floor_140");
        EXPECT_TRUE(lab.results().checks.back().holds);
        lab.check_published("floor_140", 70.6);
        EXPECT_FALSE(lab.results().checks.back().holds);
        lab.check_published("floor_140", 0.07);  // the course's own misprint
        EXPECT_FALSE(lab.results().checks.back().holds);
        EXPECT_THROW(lab.check_published("read_512", 5947), gpt2::Error);  // a timing
        EXPECT_THROW(lab.check_published("none", 1), gpt2::Error);
        lab.note("floor_140", "a floor", 0.07, "s");
    });
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_NE(ran.out.find("70 µs (an erratum)"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("70.6 ms, the course's 70 give or take 0.5"),
              std::string::npos)
        << ran.out;
}

}  // namespace
