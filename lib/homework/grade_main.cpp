// The grader behind scripts/grade. It compiles a student's files, each alone, runs their
// functions in processes of their own, and compares what comes back.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "homework/task.hpp"
#include "lab/guarded.hpp"
#include "lab/json_file.hpp"
#include "lab/options.hpp"
#include "lab/results.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace {

namespace fs = std::filesystem;
using homework::Chapter;
using homework::Failed;
using homework::Task;
using nlohmann::ordered_json;

struct Options {
    std::string chapter, task, files, json, gradescope, build = "build/homework";
    std::string language;
    int seed = 0;  // 0: fresh ones
    double seconds = 10;
    bool strict = false;
};

/// What became of a task.
struct Graded {
    const Task& task;
    double points = 0;
    double ratio = 0;  ///< the reference's time over the student's; 0: not timed
    std::optional<Failed> failed = {};
    std::string printed = {};  ///< what the student's code printed, or the compiler

    int of() const { return task.points + (task.speed ? task.speed->points : 0); }
};

struct GradedChapter {
    const Chapter& chapter;
    std::vector<Graded> tasks;

    double points() const {
        double all = 0;
        for (const Graded& task : tasks) all += task.points;
        return all;
    }
    int of() const {
        int all = 0;
        for (const Graded& task : tasks) all += task.of();
        return all;
    }
};

/// The first lines of a file, for a person.
std::string first_lines(const fs::path& file) {
    std::string text(2000, '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(text.data(), std::streamsize(text.size()));
    text.resize(std::size_t(in.gcount()));
    return text + (in ? "\n..." : "");
}

/// Runs a command whose output goes to a file; returns its exit status.
int run(const std::vector<std::string>& command, const fs::path& output) {
    std::string line;
    for (const std::string& word : command) {
        line += "'";
        for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
        line += "' ";
    }
    // A header can keep a compiler busy for ever.
    const int status =
        std::system(fmt::format("ulimit -t 120; exec {}> '{}' 2>&1 < /dev/null", line,
                                output.string())
                        .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// @return whether it could be compiled
bool compile(const Options& options, const Chapter& chapter, const Task& task,
             const fs::path& files, const fs::path& program, const fs::path& log) {
    const fs::path root = HOMEWORK_SOURCE_DIR;
    std::vector<std::string> command{
        HOMEWORK_COMPILER,
        "-std=c++20",
        "-O2",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        fmt::format("-DHOMEWORK_HEADER=\"{}.hpp\"", task.name),
        "-DHOMEWORK_TASK=" + task.name,
        "-I" + files.string(),
        "-I" + (root / "chapters" / chapter.name / "homework").string(),
        "-I" + (root / "lib").string()};
    if (options.strict) command.push_back("-Werror");
    // The compiler's part of the thread sanitizer, without its library: the machine is
    // told of each load and store instead. See gpt2/cuda/cpu_machine/watch.cpp.
    if (task.kernel)
        command.insert(command.end(), {"-fsanitize=thread", "-O1", "-DSIMT_WATCHED"});
    const std::string object = program.string() + ".o";
    command.insert(command.end(),
                   {"-c", (root / "lib/homework/worker.cpp").string(), "-o", object});
    std::vector<std::string> link{HOMEWORK_COMPILER, object};
    if (task.kernel) link.push_back(HOMEWORK_CPU_MACHINE);
    link.insert(link.end(), {"-o", program.string()});
    return run(command, log) == 0 && run(link, log) == 0;
}

Graded grade(const Options& options, const Chapter& chapter, const Task& task,
             std::uint64_t seed) {
    Graded graded{task};
    const fs::path root = HOMEWORK_SOURCE_DIR;
    const fs::path files = fs::absolute(
        options.files.empty() ? root / "chapters" / chapter.name / "homework/starter"
                              : fs::path(options.files));
    const fs::path place = fs::absolute(options.build) / chapter.name;
    const fs::path program = place / task.name, log = place / (task.name + ".log");
    fs::create_directories(place);
    const fs::path header = files / (task.name + ".hpp");
    if (!fs::exists(header)) {
        graded.failed = {"the file is there", "", header.string(), "no such file"};
        return graded;
    }
    if (!compile(options, chapter, task, files, program, log)) {
        graded.failed = {"the file compiles", "", "a program",
                         "the compiler's complaint"};
        graded.printed = first_lines(log);
        return graded;
    }
    homework::Random random(seed, chapter.name + " " + task.name);
    try {
        homework::Student student(program, log, {.seconds = options.seconds});
        task.test(student, random);
        graded.points = task.points;
        if (task.speed) {
            student.checking("the answers are right on the clock too");
            graded.ratio = task.speed->ratio(student, random);
            // In whole points.
            graded.points += std::floor(std::min(1.0, graded.ratio / task.speed->goal) *
                                        task.speed->points);
        }
    } catch (const Failed& failed) {
        graded.points = 0;
        graded.failed = failed;
    }
    graded.printed = first_lines(log);
    return graded;
}

bool chinese(const Options& options) { return options.language == "zh"; }

std::string hint(const Options& options, const Task& task) {
    return chinese(options) ? task.hint_zh : task.hint;
}

/// What a person is told about a task; several lines, or none.
std::string told(const Options& options, const Graded& graded) {
    const bool zh = chinese(options);
    std::string text;
    const auto line = [&](const char* english, const char* chinese_word,
                          const std::string& what) {
        if (!what.empty())
            text += fmt::format("    {:<9} {}\n", zh ? chinese_word : english, what);
    };
    if (graded.task.speed && graded.ratio > 0)
        line("speed", "速度",
             fmt::format(
                 fmt::runtime(zh ? "参考实现的 {:.2f} 倍；到 {:g} 就是满分"
                                 : "{:.2f} of the reference's; all points at {:g}"),
                 graded.ratio, graded.task.speed->goal));
    if (!graded.failed) return text;
    line("not yet", "还没有", graded.task.name + ": " + graded.failed->what);
    line("given", "给的是", graded.failed->given);
    line("expected", "应该是", graded.failed->expected);
    line("found", "得到的", graded.failed->found);
    line("hint", "提示", hint(options, graded.task));
    if (!graded.printed.empty()) {
        text += zh ? "    它还打印了：\n" : "    it printed:\n";
        std::size_t begin = 0;
        while (begin < graded.printed.size()) {
            const std::size_t end =
                std::min(graded.printed.find('\n', begin), graded.printed.size());
            text += "    | " + graded.printed.substr(begin, end - begin) + "\n";
            begin = end + 1;
        }
    }
    return text;
}

std::string valid_utf8(const std::string& text) {
    // nlohmann's dump refuses other bytes; a student's output can be any.
    return ordered_json::parse(
        ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json as_json(const Options& options, const std::vector<GradedChapter>& all,
                     std::uint64_t seed) {
    ordered_json chapters = ordered_json::array();
    double points = 0;
    int of = 0;
    for (const GradedChapter& one : all) {
        ordered_json tasks = ordered_json::array();
        for (const Graded& graded : one.tasks) {
            ordered_json task{{"name", graded.task.name},
                              {"points", graded.points},
                              {"of", graded.of()},
                              {"failure", nullptr}};
            if (graded.ratio > 0) task["speed"] = graded.ratio;
            if (graded.failed)
                task["failure"] = {{"what", graded.failed->what},
                                   {"given", valid_utf8(graded.failed->given)},
                                   {"expected", valid_utf8(graded.failed->expected)},
                                   {"found", valid_utf8(graded.failed->found)},
                                   {"hint", hint(options, graded.task)},
                                   {"printed", valid_utf8(graded.printed)}};
            tasks.push_back(std::move(task));
        }
        points += one.points();
        of += one.of();
        chapters.push_back({{"name", one.chapter.name},
                            {"points", one.points()},
                            {"of", one.of()},
                            {"tasks", std::move(tasks)}});
    }
    return {{"seed", seed}, {"points", points}, {"of", of}, {"chapters", chapters}};
}

/// As Gradescope's autograder reads it: results.json.
ordered_json as_gradescope(const Options& options,
                           const std::vector<GradedChapter>& all) {
    ordered_json tests = ordered_json::array();
    double score = 0;
    for (const GradedChapter& one : all)
        for (const Graded& graded : one.tasks) {
            score += graded.points;
            tests.push_back({{"name", one.chapter.name + " " + graded.task.name},
                             {"score", graded.points},
                             {"max_score", graded.of()},
                             {"status", graded.failed ? "failed" : "passed"},
                             {"output", valid_utf8(told(options, graded))}});
        }
    return {{"score", score}, {"tests", tests}};
}

void write(const std::string& file, const ordered_json& json) {
    if (!file.empty()) gpt2::write_file(file, json.dump(2) + "\n");
}

/// Chapters by number or name; all of them where none is named.
std::vector<const Chapter*> chosen(const Options& options) {
    std::vector<const Chapter*> found;
    std::string names;
    for (const Chapter& chapter : homework::chapters()) {
        names += (names.empty() ? "" : ", ") + chapter.name;
        if (options.chapter.empty() || chapter.name == options.chapter ||
            chapter.name.starts_with(options.chapter + "_"))
            found.push_back(&chapter);
    }
    if (found.empty())
        throw gpt2::BadInput(fmt::format(
            "expected a chapter with homework ({}), found '{}'", names, options.chapter));
    if (options.chapter.empty() && !options.files.empty())
        throw gpt2::BadInput("--files: expected a chapter to grade them for");
    return found;
}

void check_task(const Options& options, const Chapter& chapter) {
    if (options.task.empty()) return;
    std::string names;
    for (const Task& task : chapter.tasks) {
        if (task.name == options.task) return;
        names += (names.empty() ? "" : ", ") + task.name;
    }
    throw gpt2::BadInput(fmt::format("{}: expected a task ({}), found '{}'", chapter.name,
                                     names, options.task));
}

int run_all(const Options& options) {
    if (options.language != "en" && options.language != "zh")
        throw gpt2::BadInput("--language: expected en or zh, found '" + options.language +
                             "'");
    if (!options.files.empty() && !fs::is_directory(options.files))
        throw gpt2::BadInput(options.files +
                             ": expected a folder with the student's files");
    const std::uint64_t seed = options.seed > 0 ? std::uint64_t(options.seed)
                                                : std::random_device{}() % 1000000 + 1;
    const auto these = chosen(options);
    for (const Chapter* chapter : these) check_task(options, *chapter);

    std::vector<GradedChapter> all;
    double points = 0;
    int of = 0;
    for (const Chapter* chapter : these) {
        fmt::print("{}\n", chapter->name);
        GradedChapter& graded = all.emplace_back(GradedChapter{*chapter, {}});
        for (const Task& task : chapter->tasks) {
            if (!options.task.empty() && task.name != options.task) continue;
            std::fflush(stdout);
            const Graded& one =
                graded.tasks.emplace_back(grade(options, *chapter, task, seed));
            fmt::print("  {:<24} {:>3g} {} {}\n{}", task.name, one.points,
                       chinese(options) ? "/" : "of", one.of(), told(options, one));
        }
        points += graded.points();
        of += graded.of();
    }
    if (chinese(options))
        fmt::print("总分 {:g} / {}；想再考同样的题，加上 --seed {}\n", points, of, seed);
    else
        fmt::print("points {:g} of {}; --seed {} asks the same again\n", points, of,
                   seed);
    write(options.json, as_json(options, all, seed));
    write(options.gradescope, as_gradescope(options, all));
    return points == of ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    // A student's process may look at others of its user; not at this one.
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0);
#endif
    return lab::guarded("grade", [&] {
        Options options;
        const char* const locale = std::getenv("LANG");
        options.language =
            locale && std::string_view(locale).starts_with("zh") ? "zh" : "en";
        lab::Arguments arguments("grade", "Grades homework.");
        arguments.add("--chapter", options.chapter,
                      "Such as 04; all where none is named");
        arguments.add("--task", options.task, "One task of it");
        arguments.add("--files", options.files,
                      "The folder of the student's files; else the chapter's starter");
        arguments.add("--json", options.json, "A file for the grades");
        arguments.add("--gradescope", options.gradescope,
                      "A file for the grades, as Gradescope reads them");
        arguments.add("--seed", options.seed, "Of the fresh cases; 0 draws one",
                      {.least = 0});
        arguments.add("--language", options.language, "en or zh; else as LANG says");
        arguments.add("--seconds", options.seconds, "That one answer may take",
                      {.least = 0.1, .most = 3600});
        arguments.add("--strict", options.strict, "Warnings are errors");
        arguments.add("--build", options.build, "Where the programs are built");
        if (!arguments.parse(argc, argv)) return 0;
        return run_all(options);
    });
}
