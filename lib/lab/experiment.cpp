#include "lab/experiment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "gpt2/cpu/team.hpp"
#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/utf8.hpp"
#include "lab/ceilings.hpp"
#include "lab/format.hpp"
#include "lab/json_file.hpp"
#include "lab/machine_info.hpp"
#include "lab/provenance.hpp"
#include "lab/published.hpp"
#include "lab/report.hpp"

namespace lab {

namespace {

/// How a person would name the file: the shipped data by its place in the source.
std::string shown(const std::filesystem::path& path) {
    const auto within = path.lexically_normal().lexically_relative(
        gpt2::data_directory().lexically_normal());
    if (within.empty() || *within.begin() == "..") return path.string();
    return ("data" / within).string();
}

constexpr Seconds a_look = 0.1;  // at memory, between two runs

}  // namespace

Experiment::Experiment(const Program& program, const Options& options)
    : options_(options) {
    if (options_.model.empty()) options_.model = gpt2::data_directory() / "models/story";
    published_ = read_published(gpt2::data_directory() / "published.json");

    results_.chapter = program.name;
    results_.title = program.title;
    results_.question = program.question;
    results_.quick = quick();
    results_.date = utc_now();
    results_.commit = source_commit();
    results_.build = build_description();

    MachineInfo& machine = results_.machine;
    machine.cpu = cpu_name();
    machine.cores = gpt2::cpu::processors();
    machine.threads = options_.threads > 0 ? options_.threads : machine.cores;
    machine.memory_bytes = memory_bytes();
    machine.slug = machine_slug(machine.cpu, machine.threads);

    fmt::print("{}\n{}\n\n", program.title, program.question);
    std::fflush(stdout);
    if (options_.device == "cuda")
        measure_gpu();
    else
        measure_machine(machine.threads);
}

void Experiment::measure_gpu() {
    MachineInfo& machine = results_.machine;
    const GpuCeilings& gpu = machine.gpu.emplace(measure_gpu_ceilings());
    machine.ceilings = gpu.machine(options_.dtype);
    machine.slug = machine_slug(gpu.name);
    fmt::print("machine  {}: reads {}, multiplies and adds {}, in bf16 {}\n", gpu.name,
               quantity(gpu.read_bandwidth, "bytes/s"),
               quantity(gpu.multiply_add_f32, "FLOP/s"),
               quantity(gpu.matrix_bf16, "FLOP/s"));
    std::fflush(stdout);
}

void Experiment::measure_machine(int threads) {
    const MachineInfo& info = results_.machine;
    const ledger::Machine machine = measure_ceilings(threads);
    fmt::print("machine  {}, {} of {} cores: reads {}, multiplies and adds {}\n",
               info.cpu, threads, info.cores, quantity(machine.read_bandwidth, "bytes/s"),
               quantity(machine.multiply_add_peak, "FLOP/s"));
    if (machine.cache_bytes > 0)
        fmt::print("         {} that stay in its cache: {}\n",
                   quantity(machine.cache_bytes, "bytes"),
                   quantity(machine.cache_bandwidth, "bytes/s"));
    ceilings_[threads].machine = machine;
    take({machine.read_bandwidth}, threads);
}

void Experiment::take(std::vector<double> looks, int threads) {
    auto& [machine, all] = ceilings_.at(threads);
    all.insert(all.end(), looks.begin(), looks.end());
    since_look_.emplace();
    const double before =
        std::exchange(machine.read_bandwidth, summarize(std::move(looks)).median);
    if (std::abs(machine.read_bandwidth / before - 1) > 0.1)
        fmt::print("machine  at another look: reads {}\n",
                   quantity(machine.read_bandwidth, "bytes/s"));
    std::fflush(stdout);
    if (engine_ && engine_->machine().threads == threads) engine_ = engine_->on(machine);
    if (threads == this->threads()) {
        results_.machine.ceilings = machine;
        results_.machine.ceilings.read_bandwidth = summarize(all).median;
    }
}

void Experiment::look_at_memory() {
    if (results_.machine.gpu) return;
    const int threads = engine().machine().threads;
    take({measure_read_bandwidth(threads, a_look)}, threads);
}

gpt2::LoadOptions Experiment::load_options(const Variant& variant) const {
    gpt2::LoadOptions load;
    load.shape = variant.shape.empty() ? options_.shape : variant.shape;
    load.device = options_.device;
    load.dtype = variant.dtype.value_or(options_.dtype);
    load.kv = variant.kv.value_or(options_.kv);
    load.threads = variant.threads > 0 ? variant.threads : threads();
    load.seed = options_.seed;
    return load;
}

ledger::Machine Experiment::machine_for(const gpt2::LoadOptions& load) {
    if (const auto& gpu = results_.machine.gpu) return gpu->machine(load.dtype);
    if (const auto known = ceilings_.find(load.threads); known == ceilings_.end()) {
        measure_machine(load.threads);
    } else {
        // Neighbours can slow the multiply-adds down, to a half at times, and nothing can
        // make them faster: of all looks the best one counts.
        double& peak = known->second.machine.multiply_add_peak;
        peak = std::max(peak, measure_multiply_add_peak(load.threads));
        take({measure_read_bandwidth(load.threads)}, load.threads);
    }
    return ceilings_.at(load.threads).machine;
}

std::unique_ptr<gpt2::Model> Experiment::load_model(const Variant& variant) {
    const gpt2::LoadOptions load = load_options(variant);
    std::unique_ptr<gpt2::Model> model = gpt2::load_model(options_.model, load);
    const gpt2::Config& config = model->config();
    engine_.emplace(config, load.dtype, load.kv, machine_for(load));

    ModelInfo info;
    info.origin = shown(options_.model);
    info.name = std::filesystem::path(info.origin).filename().string();
    info.shape = load.shape;
    info.dtype = gpt2::name_of(load.dtype);
    info.kv = gpt2::name_of(load.kv);
    info.parameters = gpt2::parameters(config);
    info.weight_bytes = std::int64_t(model->weight_bytes());
    fmt::print("model    {}{}: {} layers of {}, {} parameters, {} of {}; KV cache {}\n",
               info.origin, info.shape == "own" ? "" : " at the shape " + info.shape,
               config.n_layer, config.n_embd, number(double(info.parameters)),
               quantity(double(info.weight_bytes), "bytes"), info.dtype, info.kv);
    std::fflush(stdout);
    if (!results_.model) results_.model = std::move(info);
    return model;
}

const gpt2::Tokenizer& Experiment::tokenizer() {
    if (!tokenizer_) tokenizer_ = gpt2::load_tokenizer(options_.model, load_options());
    return *tokenizer_;
}

std::string Experiment::whole_text(const std::string& file) const {
    const auto path = gpt2::data_directory() / "texts" / file;
    std::string text = gpt2::read_file(path, 64 << 20);
    if (text.empty())
        throw gpt2::BadInput(fmt::format("{}: expected text, found none", shown(path)));
    gpt2::check_utf8(text, shown(path));
    return text;
}

std::vector<gpt2::Token> Experiment::text(const std::string& file, int n) {
    std::vector<gpt2::Token> tokens = tokenizer().encode(whole_text(file));
    if (n < 1 || tokens.size() < std::size_t(n))
        throw gpt2::BadInput(fmt::format("{}: expected {} tokens or more, found {}",
                                         shown(gpt2::data_directory() / "texts" / file),
                                         n, tokens.size()));
    tokens.resize(std::size_t(n));
    return tokens;
}

const ledger::Engine& Experiment::engine() const {
    if (!engine_) throw gpt2::Error("engine: no model was loaded");
    return *engine_;
}

void Experiment::expect(std::initializer_list<Seconds> runs) const {
    Seconds total = 0;
    for (const Seconds one : runs) total += one * plan(budget(), one).all_runs();
    fmt::print("time     {} or more, if all goes as predicted\n", quantity(total, "s"));
    std::fflush(stdout);
}

Measured Experiment::time(const std::function<void()>& work, double share) {
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const int measurement = ++measurements_;
    Budget spend = budget();
    spend.seconds *= share;
    if (terminal) fmt::print(stderr, "measurement {}: run 1", measurement);
    // A look is good for a second. Where no model has been loaded, memory is no ceiling
    // of what is measured; and nobody shares a GPU's.
    std::vector<double> looks;
    const auto look = [&] {
        if (!engine_ || results_.machine.gpu ||
            (since_look_ && since_look_->seconds() < 1))
            return;
        looks.push_back(measure_read_bandwidth(engine_->machine().threads, a_look));
        since_look_.emplace();
    };
    look();
    const Measured measured = measure(work, spend, [&](int done, int all, Seconds one) {
        if (terminal)
            fmt::print(stderr, "\rmeasurement {}: run {} of {}, {} each \033[K",
                       measurement, done + 1, all, quantity(one, "s"));
        else if (one > 2)
            fmt::print(stderr, "measurement {}: run {} of {}, {} each\n", measurement,
                       done + 1, all, quantity(one, "s"));
        look();
    });
    look();
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (!looks.empty()) take(std::move(looks), engine_->machine().threads);
    return measured;
}

void Experiment::row(const std::string& id, const std::string& what,
                     const std::string& unit, std::optional<double> predicted,
                     const Measured& measured) {
    for (const double value : {measured.min, measured.median, measured.max})
        if (!std::isfinite(value))
            throw gpt2::Error(fmt::format("{}: measured {}", id, value));
    if (predicted && !std::isfinite(*predicted)) predicted.reset();
    results_.rows.push_back({id, what, unit, predicted, measured, published(id)});
    if (results_.headline.empty()) results_.headline = id;
}

void Experiment::ratio(const std::string& id, const std::string& what,
                       const std::string& a, const std::string& b) {
    const Row &over = find(a), &under = find(b);
    std::optional<double> predicted;
    if (over.predicted && under.predicted) predicted = *over.predicted / *under.predicted;
    row(id, what, "times", predicted, over.measured / under.measured);
    if (!headline_named_) results_.headline = id;
}

void Experiment::note(const std::string& id, const std::string& what, double value,
                      const std::string& unit) {
    if (!std::isfinite(value)) throw gpt2::Error(fmt::format("{}: found {}", id, value));
    results_.notes.push_back({id, what, value, unit, published(id)});
}

void Experiment::exhibit(const std::string& id, std::vector<std::string> columns,
                         std::vector<Cells> rows) {
    if (results_.find_exhibit(id))
        throw gpt2::Error(fmt::format("exhibit '{}': recorded twice", id));
    Exhibit exhibit{id, std::move(columns), std::move(rows)};
    check_exhibit(exhibit, "exhibit '" + id + "'");
    results_.exhibits.push_back(std::move(exhibit));
}

void Experiment::check(const std::string& id, const std::string& what, bool holds,
                       const std::string& detail) {
    results_.checks.push_back({id, what, holds, detail});
}

void Experiment::check(const std::string& id, const std::string& what,
                       const Outcome& outcome) {
    check(id, what, outcome.holds, outcome.detail);
}

void Experiment::check_published(const std::string& id, double value) {
    if (published_.empty()) return;
    const std::optional<Published> figure = published(id);
    if (!figure || !figure->value || !figure->tolerance)
        throw gpt2::Error(fmt::format("{}: the course prints no exact figure", id));
    check(id, fmt::format("the course's figure '{}' comes out", id),
          std::abs(value - *figure->value) <= *figure->tolerance,
          fmt::format("{:.6g} {}, the course's {:.6g} give or take {:.3g}", value,
                      figure->unit, *figure->value, *figure->tolerance));
}

void Experiment::headline(const std::string& id) {
    results_.headline = find(id).id;
    headline_named_ = true;
}

void Experiment::print() const { fmt::print("\n{}", report(results_)); }

const Row& Experiment::find(const std::string& id) const {
    for (const Row& row : results_.rows)
        if (row.id == id) return row;
    throw gpt2::Error(fmt::format("no row '{}'", id));
}

std::optional<Published> Experiment::published(const std::string& id) const {
    const auto found = published_.find(id);
    if (found == published_.end()) return std::nullopt;
    return found->second;
}

}  // namespace lab
