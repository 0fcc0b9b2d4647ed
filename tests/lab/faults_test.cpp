// What a machine does to programs: full disks, folders that cannot be written to, ends in
// the middle, files that change while they are read. Files are written whole or not at
// all, and no part of one is left.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <random>
#include <thread>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/file.hpp"
#include "gpt2/load.hpp"
#include "lab/guarded.hpp"
#include "lab/results.hpp"
#include "support.hpp"

using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

const fs::path draft = gpt2::data_directory() / "models/story-draft";

std::ptrdiff_t files_in(const support::TempDir& dir) {
    return std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator());
}

/// Runs `work` in a process of its own.
template <class F>
pid_t start(F work) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
        const int status = work();
        std::fflush(nullptr);
        _exit(status);
    }
    return child;
}

int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/// A chapter's program, with results that go to `json`.
pid_t start_chapter(const fs::path& json) {
    return start([&] {
        for (const int to : {STDOUT_FILENO, STDERR_FILENO})
            if (!freopen("/dev/null", "w", to == STDOUT_FILENO ? stdout : stderr))
                return 126;
        execl(PROGRAMS "/01_tokens", "01_tokens", "--quick", "--shape", "own", "--json",
              json.c_str(), nullptr);
        return 127;
    });
}

/// Ends with the message on stderr and the status of a program whose disk has room for
/// `most` bytes a file.
struct Cramped {
    int status;
    std::string err;
};
template <class F>
Cramped with_room_for(rlim_t most, F work) {
    const support::TempDir dir;
    const fs::path said = dir / "said";
    const int status = wait_for(start([&] {
        if (!freopen(said.c_str(), "w", stderr)) return 126;
        return lab::guarded("program", [&] {
            const rlimit limit{most, most};
            setrlimit(RLIMIT_FSIZE, &limit);
            work();
            return 0;
        });
    }));
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, support::slurp(said)};
}

}  // namespace

TEST(Faults, AFullDiskLeavesWhatWasThere) {
    const support::TempDir dir;
    const fs::path file = dir / "results.json";
    gpt2::write_file(file, "before");
    const std::string large(100'000, 'x');
    const Cramped cramped = with_room_for(5000, [&] { gpt2::write_file(file, large); });
    EXPECT_EQ(cramped.status, 2);
    EXPECT_EQ(cramped.err,
              "program: " + file.string() + ": cannot be written: File too large\n");
    EXPECT_EQ(support::slurp(file), "before");
    EXPECT_EQ(files_in(dir), 1);

    // A model: the weights are what does not fit, so nothing that looks like one is left.
    const support::TempDir other;
    EXPECT_EQ(
        with_room_for(
            5000, [&] { gpt2::save_weights(*gpt2::load_weights(draft), other.path()); })
            .status,
        2);
    EXPECT_FALSE(fs::exists(other / "model.safetensors"));
    EXPECT_EQ(files_in(other), 1) << "config.json";

    // What a program prints is part of its result.
    const auto say_much = [] {
        return std::system(PROGRAMS "/export_model --help >/dev/full 2>/dev/null");
    };
    EXPECT_EQ(WEXITSTATUS(say_much()), 2);
}

TEST(Faults, FoldersThatCannotBeWrittenTo) {
    const support::TempDir dir;
    fs::create_directory(dir / "closed");
    fs::permissions(dir / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    // Nobody can make a file in /proc, not even root, who may do so in a closed folder.
    std::vector<fs::path> folders{"/proc", dir / "none"};
    if (geteuid() != 0) folders.push_back(dir / "closed");
    for (const fs::path& folder : folders) {
        const std::string path = (folder / "results.json").string();
        for (const auto& write : std::initializer_list<std::function<void()>>{
                 [&] { gpt2::check_writable(path); },
                 [&] { gpt2::write_file(path, "x"); }})
            EXPECT_THAT(support::bad_input(write),
                        HasSubstr(path + ": cannot be written: "));
        if (folder == dir / "none") continue;  // it can be made
        EXPECT_THAT(support::bad_input([&] {
                        gpt2::save_weights(*gpt2::load_weights(draft), folder / "model");
                    }),
                    HasSubstr((folder / "model").string() + ": cannot be made"));
    }
    fs::permissions(dir / "closed", fs::perms::owner_all);
    EXPECT_TRUE(fs::is_empty(dir / "closed"));
}

// A process that does nothing but write the same file is ended at any moment.
TEST(Faults, EndedWhileItWrites) {
    std::mt19937 random(5);
    const std::string texts[] = {std::string(300'000, 'a'), std::string(200'000, 'b')};
    int in_the_middle = 0;
    for (int round = 0; round < 60; ++round) {
        const support::TempDir dir;
        const fs::path file = dir / "results.json";
        const pid_t child = start([&] {
            // A program with threads: whichever takes the signal must not end it.
            gpt2::cpu::together(3, [](const gpt2::cpu::Worker&) {});
            return lab::guarded("program", [&] {
                for (unsigned i = 0;; ++i) gpt2::write_file(file, texts[i % 2]);
                return 0;
            });
        });
        while (!fs::exists(file)) usleep(100);
        usleep(random() % 2000);
        const int signal = std::array{SIGINT, SIGTERM, SIGHUP}[std::size_t(round) % 3];
        kill(child, signal);
        const int status = wait_for(child);
        ASSERT_TRUE(WIFSIGNALED(status));
        EXPECT_EQ(WTERMSIG(status), signal);
        const std::string content = support::slurp(file);
        EXPECT_TRUE(content == texts[0] || content == texts[1]) << content.size();
        EXPECT_EQ(files_in(dir), 1);
        in_the_middle += content == texts[1];
    }
    EXPECT_GT(in_the_middle, 0);
}

TEST(Faults, AChapterThatIsEnded) {
    const auto begin = std::chrono::steady_clock::now();
    const support::TempDir whole;
    ASSERT_EQ(wait_for(start_chapter(whole / "results.json")), 0);
    const auto takes = std::chrono::steady_clock::now() - begin;
    std::mt19937 random(9);
    for (const int signal : {SIGINT, SIGTERM, SIGINT, SIGTERM}) {
        const support::TempDir dir;
        const fs::path file = dir / "results.json";
        const pid_t child = start_chapter(file);
        std::this_thread::sleep_for(takes * double(random() % 1000) / 1000.0);
        kill(child, signal);
        const int status = wait_for(child);
        if (fs::exists(file)) {
            EXPECT_EQ(lab::read_results(file).chapter, "01_tokens");
        } else {
            ASSERT_TRUE(WIFSIGNALED(status));
            EXPECT_EQ(WTERMSIG(status), signal);
        }
        EXPECT_EQ(files_in(dir), fs::exists(file) ? 1 : 0);
    }
}

TEST(Faults, TwoRunsAtOnceInOneFolder) {
    const support::TempDir dir;
    const pid_t runs[] = {start_chapter(dir / "results.json"),
                          start_chapter(dir / "results.json"),
                          start_chapter(dir / "other.json")};
    for (const pid_t run : runs) EXPECT_EQ(wait_for(run), 0);
    for (const char* file : {"results.json", "other.json"})
        EXPECT_EQ(lab::read_results(dir / file).chapter, "01_tokens");
    EXPECT_EQ(files_in(dir), 2);
}

// The file of an open model is cut short, written over and replaced. Its engine reads it
// on several threads: the error of any of them is the caller's.
TEST(Faults, AModelThatChangesWhileItIsRead) {
    const support::TempDir dir;
    for (const char* file : {"config.json", "model.safetensors"})
        fs::copy_file(draft / file, dir / file);
    const fs::path file = dir / "model.safetensors";
    const std::string whole = support::slurp(file);
    const auto load = [](const gpt2::Weights& weights) {
        return gpt2::cpu::load(weights, gpt2::DType::f32, gpt2::DType::f32, 3);
    };
    const auto logits = [](gpt2::Model& model) {
        gpt2::KvCache cache = model.new_cache();
        const std::vector<gpt2::Token> tokens{1, 2, 3};
        const gpt2::Logits rows = model.forward(tokens, cache);
        return std::vector<float>(rows[0].begin(), rows[0].end());
    };

    const auto replaced = gpt2::load_weights(dir.path());
    const std::vector<float> expected = logits(*load(*replaced));
    std::string zeros = whole;
    std::fill(zeros.begin() + 10'000, zeros.end(), '\0');
    gpt2::write_file(file, zeros);
    EXPECT_EQ(logits(*load(*replaced)), expected) << "still the file that was opened";

    gpt2::write_file(file, whole);
    const auto cut = gpt2::load_weights(dir.path());
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t(0)}) {
        fs::resize_file(file, size);
        EXPECT_THAT(support::bad_input([&] { load(*cut); }),
                    testing::AllOf(HasSubstr(file.string() + ": byte "),
                                   HasSubstr("the file has become shorter")));
    }

    gpt2::write_file(file, whole);
    const auto overwritten = gpt2::load_weights(dir.path());
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(std::streamoff(whole.size() / 2))
        .write(std::string(200'000, '\xff').data(), 200'000);
    EXPECT_THAT(support::bad_input([&] { load(*overwritten); }),
                HasSubstr("expected a finite number"));
}

// A shape that a file may ask for, and no machine can hold. Said before any memory is
// taken: the system would promise it, and end the program when it is used.
TEST(Faults, ShapesThatNoMemoryHolds) {
    const support::TempDir dir;
    support::spew(dir / "config.json",
                  R"({"vocab_size": 1048576, "n_positions": 1048576, "n_embd": 65536,
                      "n_layer": 1024, "n_head": 1024})");
    // No weights are there: they are not even looked for.
    const std::string what = support::bad_input([&] { gpt2::load_model(dir.path()); });
    const std::int64_t parameters = gpt2::parameters(gpt2::load_config(dir.path()));
    EXPECT_THAT(what, HasSubstr(dir.path().string()));
    EXPECT_THAT(what, HasSubstr("need " + std::to_string(4 * parameters) +
                                " bytes of memory, but there are "));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Where the shell set a limit, that is what there is.
    const int status = wait_for(start([&] {
        const rlimit limit{rlim_t(1) << 30, rlim_t(1) << 30};
        setrlimit(RLIMIT_AS, &limit);
        gpt2::LoadOptions options;
        options.shape = "xl";
        try {
            gpt2::load_model("random", options);
        } catch (const gpt2::BadInput& error) {
            const std::string said = error.what();
            return said.find(
                       "need 6230444800 bytes of memory, but there are "
                       "1073741824") == std::string::npos;
        } catch (...) {
        }
        return true;
    }));
    EXPECT_EQ(status, 0);
#endif
}
