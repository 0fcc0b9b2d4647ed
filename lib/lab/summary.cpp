#include "lab/summary.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "gpt2/cpu/processor.hpp"
#include "gpt2/error.hpp"
#include "lab/guarded.hpp"
#include "lab/report.hpp"
#include "lab/results.hpp"

namespace lab {

namespace {

constexpr std::string_view usage =
    "Usage: summary FILE...          prints one table over results files\n"
    "       summary --machine FILE   prints the name of the machine it comes from\n";

int summarize_files(const std::vector<std::string>& arguments) {
    const bool help = arguments.size() == 1 && arguments[0] == "--help";
    if (help) {
        fmt::print("{}", usage);
        return 0;
    }
    const bool machine = !arguments.empty() && arguments[0] == "--machine";
    const std::vector<std::string> files(arguments.begin() + machine, arguments.end());
    for (const std::string& file : files)
        if (file.starts_with("--"))
            throw gpt2::BadInput(fmt::format("unknown option '{}' (see --help)", file));
    if (files.empty() || (machine && files.size() > 1))
        throw gpt2::BadInput(fmt::format("expected {}, found {} (see --help)",
                                         machine ? "one file" : "files", files.size()));

    std::vector<Results> chapters;
    for (const std::string& file : files) chapters.push_back(read_results(file));
    if (machine) {
        fmt::print("{}\n", chapters.front().machine.slug);
        return 0;
    }
    fmt::print("{}", summary(chapters));
    for (const Results& results : chapters)
        if (results.checks_held() != int(results.checks.size())) return 1;
    return 0;
}

}  // namespace

int summary_program(int argc, const char* const* argv) {
    return guarded("summary", [&] {
        gpt2::cpu::require_processor();
        return summarize_files({argv + 1, argv + argc});
    });
}

}  // namespace lab
