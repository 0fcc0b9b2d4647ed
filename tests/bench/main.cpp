// Runs the benchmarks and prints each as a share of what the machine can do at most.

#include <fmt/format.h>

#include <cstdio>
#include <sstream>
#include <vector>

#include "bench.hpp"
#include "gpt2/cpu/processor.hpp"
#include "gpt2/cpu/team.hpp"
#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "lab/ceilings.hpp"
#include "lab/format.hpp"
#include "lab/guarded.hpp"
#include "lab/machine_info.hpp"
#include "lab/measured.hpp"
#include "lab/options.hpp"
#include "lab/provenance.hpp"
#include "lab/results.hpp"

namespace bench {

namespace {

constexpr const char* line_format = "{:<35} {:>8} {:>6} {:>10} {:>12} {:>12} {:>6}";

/// One line of the table for each benchmark as it comes, and all runs as JSON.
///
/// A machine's ceilings drift from one second to the next. So it looks at them before the
/// first benchmark and after each, and a benchmark is set against the two looks beside
/// it.
class Reporter final : public benchmark::BenchmarkReporter {
public:
    /// The JSON, once all have run.
    std::string json() const { return json_.str(); }

    /// Benchmarks that ran.
    int benchmarks() const { return benchmarks_; }

    /// Whether one of them stopped with an error.
    bool failed() const { return failed_; }

private:
    bool ReportContext(const Context& context) override {
        all_.SetOutputStream(&json_);
        look();
        const std::string header =
            fmt::format(line_format, "benchmark", "median", "spread", "bytes/s", "FLOP/s",
                        "ceiling", "share");
        fmt::print("{}\n{}\n", header, std::string(header.size(), '-'));
        return all_.ReportContext(context);
    }

    void ReportRuns(const std::vector<Run>& runs) override {
        if (runs.front().run_type == Run::RT_Aggregate) return all_.ReportRuns(runs);
        const ledger::Machine before = machine_;
        if (!setup().quick) look();
        const ledger::Machine machine{
            .read_bandwidth = (before.read_bandwidth + machine_.read_bandwidth) / 2,
            .multiply_add_peak =
                (before.multiply_add_peak + machine_.multiply_add_peak) / 2,
            .threads = machine_.threads};
        std::vector<Run> with_ceilings = runs;
        for (Run& run : with_ceilings) {
            failed_ = failed_ || run.error_occurred;
            run.counters["ceiling_GB/s"] = machine.read_bandwidth / 1e9;
            run.counters["ceiling_GFLOP/s"] = machine.multiply_add_peak / 1e9;
        }
        print(runs, machine);
        all_.ReportRuns(with_ceilings);
        ++benchmarks_;
    }

    void Finalize() override { all_.Finalize(); }

    void look() { machine_ = lab::measure_ceilings(setup().threads); }

    /// The median of a counter over all runs; 0 where they do not have it.
    static double counter(const std::vector<Run>& runs, const char* name) {
        std::vector<double> values;
        for (const Run& run : runs)
            if (const auto at = run.counters.find(name); at != run.counters.end())
                values.push_back(at->second.value);
        return values.empty() ? 0 : lab::summarize(std::move(values)).median;
    }

    static void print(const std::vector<Run>& runs, const ledger::Machine& machine) {
        std::vector<double> times;
        for (const Run& run : runs)
            times.push_back(run.real_accumulated_time / double(run.iterations));
        const lab::Measured time = lab::summarize(std::move(times));

        // What the ceiling allows: the file's reading, or what binds by the ledger.
        double least = counter(runs, "reading");
        std::string ceiling = least > 0 ? lab::quantity(least, "s") : "";
        const ledger::Operation work{"", 1, counter(runs, "flops"),
                                     counter(runs, "bytes")};
        if (work.flops > 0) {
            least = predict(work, machine);
            const bool memory = least > work.flops / machine.multiply_add_peak;
            ceiling = memory ? lab::quantity(machine.read_bandwidth, "bytes/s")
                             : lab::quantity(machine.multiply_add_peak, "FLOP/s");
        }
        const auto text = [](double rate, const char* unit) {
            return rate > 0 ? lab::quantity(rate, unit) : "";
        };
        const double moved = 1e9 * counter(runs, "GB/s") + 1e6 * counter(runs, "MB/s");
        std::string line = fmt::format(
            line_format, runs.front().run_name.function_name,
            lab::quantity(time.median, "s"),
            fmt::format("{:.0f}%", 100 * (time.max - time.min) / time.median),
            text(moved, "bytes/s"), text(1e9 * counter(runs, "GFLOP/s"), "FLOP/s"),
            ceiling, least > 0 ? fmt::format("{:.2f}", least / time.median) : "");
        line.resize(line.find_last_not_of(' ') + 1);
        fmt::print("{}\n", line);
        std::fflush(stdout);
    }

    benchmark::JSONReporter all_;
    std::ostringstream json_;
    ledger::Machine machine_{};
    int benchmarks_ = 0;
    bool failed_ = false;
};

/// The library keeps pointers to its arguments.
void initialize(const std::string& filter) {
    const bool quick = setup().quick;
    static std::vector<std::string> flags;
    flags = {"bench", "--benchmark_filter=" + filter,
             fmt::format("--benchmark_repetitions={}", quick ? 1 : 7),
             // In so little time goes a single iteration.
             fmt::format("--benchmark_min_time={}", quick ? 1e-9 : 0.05)};
    static std::vector<char*> arguments;
    for (std::string& flag : flags) arguments.push_back(flag.data());
    int count = int(arguments.size());
    benchmark::Initialize(&count, arguments.data());
}

int run(int argc, const char* const* argv) {
    gpt2::cpu::require_processor();
    int threads = gpt2::cpu::processors();
    std::string filter = ".", json;
    lab::Arguments options("bench", "Benchmarks, each as a share of its ceiling");
    options.add("--filter", filter, "Only those whose name has a match of this regex");
    options.add("--json", json, "Write all runs to this file");
    options.add("--threads", threads, "Threads at work", {1, 256});
    options.add("--quick", setup().quick, "Run each once: its time means nothing");
    if (!options.parse(argc, argv)) return 0;
    if (!json.empty()) gpt2::check_writable(json);
    setup().threads = threads;
    prepare_blas(threads);
    initialize(filter);
    add_matmul();
    add_attention();
    add_rows();
    add_model();
    for (const auto& [key, value] :
         {std::pair<std::string, std::string>{"cpu", lab::cpu_name()},
          {"threads", std::to_string(threads)},
          {"openblas", blas_name()},
          {"commit", lab::source_commit()},
          {"build", lab::build_description()}})
        benchmark::AddCustomContext(key, value);

    Reporter reporter;
    std::ostringstream complaints;  // of the filter: that is said below
    reporter.SetErrorStream(&complaints);
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::Shutdown();
    if (reporter.benchmarks() == 0)
        throw gpt2::BadInput(
            "--filter: expected a regex that matches a benchmark, found '" + filter +
            "'");
    if (blas_name() == "none") fmt::print("\nOpenBLAS was not found: no comparison.\n");
    if (!json.empty()) gpt2::write_file(json, reporter.json());
    return reporter.failed() ? 1 : 0;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
    return lab::guarded("bench", [&] { return bench::run(argc, argv); });
}
