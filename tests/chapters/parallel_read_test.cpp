// What 03_parallel_read finds does not depend on how it is run.

#include <gtest/gtest.h>

#include <algorithm>

#include "chapters/program.hpp"
#include "lab/results.hpp"

namespace {

lab::Results results(const std::string& options) {
    const support::TempDir dir;
    const std::string json = (dir / "results.json").string();
    const support::Outcome outcome = support::run(
        "03_parallel_read", "--quick --shape own " + options + " --json " + json);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    return lab::read_results(json);
}

double note(const lab::Results& results, const std::string& what) {
    for (const lab::Note& note : results.notes)
        if (note.what.find(what) != std::string::npos) return note.value;
    ADD_FAILURE() << "no note '" << what << "'";
    return 0;
}

}  // namespace

TEST(ParallelRead, MarksTheSameExercisesAlike) {
    const lab::Results one = results("--threads 1");
    EXPECT_EQ(note(one, "exercises in"), 1023);
    EXPECT_EQ(note(one, "knows nothing"), 12);  // log2 of the shipped 4,096 entries
    const double loss = note(one, "loss over 63");
    EXPECT_GT(loss, 0);
    EXPECT_LT(loss, 12);
    // The text is the same, and so are the bits: seed, threads and tails change nothing.
    EXPECT_EQ(note(results("--threads 3 --seed 7 --tails 3"), "loss over 63"), loss);
    // A cache of another precision is another model, a very near one.
    const double half = note(results("--kv f16"), "loss over 63");
    EXPECT_NE(half, loss);
    EXPECT_NEAR(half, loss, 0.01);
}

TEST(ParallelRead, TakesTheSmallestSizes) {
    for (const char* options :
         {"--longest 16 --tokens 1 --tails 1", "--longest 16 --tokens 15 --tails 1"})
        EXPECT_GT(note(results(options), "loss over 15"), 0) << options;
}

TEST(ParallelRead, RefusesMorePositionsThanItsTextHas) {
    for (const char* options : {"--tokens 64", "--longest 32 --tokens 32", "--tokens 0",
                                "--longest 1025", "--tails 0"}) {
        const support::Outcome outcome = support::run(
            "03_parallel_read", std::string("--quick --shape own ") + options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
}
