// The program behind scripts/gpu_check: all that can be found out about the CUDA engine
// on a GPU, in one results file.

#include <fmt/format.h>

#include <cstdio>

#include "checks.hpp"
#include "gpt2/cuda/engine.hpp"
#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "kernel_times.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/table.hpp"

using gpt2::DType;
using gpt2::KvCache;
using gpt2::Model;
using gpt2::Token;
using lab::Experiment;
using lab::Seconds;

namespace {

constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr int contexts[] = {1, 512, 1023};

void describe(Experiment& lab) {
    std::vector<lab::Cells> rows;
    for (const auto& [name, value] : gpu_check::device_properties()) {
        fmt::print("         {}: {}\n", name, value);
        rows.push_back({name, value});
    }
    lab.exhibit("device", {"property", "value"}, std::move(rows));
    const lab::GpuCeilings& gpu = *lab.results().machine.gpu;
    fmt::print(
        "         copies {}; a node of a graph takes {}, a barrier of the grid {}\n",
        lab::quantity(gpu.copy_bandwidth, "bytes/s"), lab::quantity(gpu.graph_node, "s"),
        lab::quantity(gpu.grid_barrier, "s"));
    std::fflush(stdout);
}

// Other programs
// --------------

/// One of the tests beside this program, after the words of `with`.
void run_beside(Experiment& lab, const std::string& id, const std::string& what,
                const std::string& with, const std::string& test,
                const std::string& filter) {
    fmt::print("running  {}\n", what);
    std::fflush(stdout);
    const std::string command =
        fmt::format("timeout 90 {} '{}/gpu_{}_test' --gtest_brief=1 --gtest_filter='{}'",
                    with, PROGRAMS, test, filter);
    lab.check(id, what,
              gpu_check::succeeds(command, fmt::format("{}/{}.log", PROGRAMS, id)));
}

void run_tests(Experiment& lab) {
    for (const char* test : {"attention", "choose", "multiply", "engine"})
        run_beside(lab, fmt::format("test_{}", test),
                   fmt::format("the tests of {} pass on this GPU", test), "", test, "*");
}

/// The sanitizer slows kernels down a lot: small shapes, and few of them. What cuBLAS
/// does with shared memory is its own affair.
void run_sanitizer(Experiment& lab) {
    if (std::system("command -v compute-sanitizer >/dev/null 2>&1") != 0) {
        fmt::print(
            "running  nothing under compute-sanitizer: it is not on this machine\n");
        lab.exhibit("sanitizer", {"tool"}, {{"compute-sanitizer was not found"}});
        return;
    }
    struct {
        const char *tool, *test, *filter;
    } const all[] = {
        {"memcheck", "engine",
         "CudaEngine.AgreesWithTheReference:CudaEngine.WritesWhatTheLoopWrites:"
         "CudaEngine.ForksAndTruncationsLeaveNoTrace"},
        {"racecheck", "attention", "CudaAttention.SequencesOfDifferentLengths"},
        {"racecheck", "choose", "CudaChoose.TakesTheLowerOfEqualOnes"},
        {"racecheck", "multiply", "CudaMultiply.KeysAndValuesGoWhereTheLayoutSays"},
        {"synccheck", "attention", "CudaAttention.SequencesOfDifferentLengths"},
    };
    for (const auto& [tool, test, filter] : all)
        run_beside(lab, fmt::format("{}_{}", tool, test),
                   fmt::format("compute-sanitizer's {} finds nothing in {}", tool, test),
                   fmt::format("compute-sanitizer --tool {} --error-exitcode 1", tool),
                   test, filter);
}

// Right
// -----

/// On the model as it is shipped, beside the CPU engine.
void compare_with_the_cpu(Experiment& lab) {
    const auto& options = lab.options();
    const auto text = lab.text("article.txt", 256);
    const auto prompt = std::span(text).first(16);
    const int words = lab.quick() ? 40 : 200;
    gpt2::LoadOptions on_cpu{.shape = "own", .threads = lab.threads()};
    const auto golden = gpt2::load_model(options.model, on_cpu);
    const gpt2::Logits exact = gpu_check::read(*golden, text);
    for (const DType dtype : dtypes) {
        const std::string name(gpt2::name_of(dtype));
        const auto model =
            lab.load_model({.shape = "own", .dtype = dtype, .kv = DType::f32});
        const gpt2::Logits found = gpu_check::read(*model, text);
        on_cpu.dtype = dtype;
        const auto alike = gpt2::load_model(options.model, on_cpu);
        // Narrow weights: of many rows each is rounded to their type, 11 or 8 bits.
        const double bound = dtype == DType::f32   ? 1e-4
                             : dtype == DType::f16 ? 1e-2
                                                   : 5e-2;
        lab.check("logits_" + name, "logits in " + name + " are the CPU engine's",
                  gpu_check::logits_agree(gpu_check::read(*alike, text), found, bound));
        lab.check(
            "top_1_" + name, "the best token in " + name + " is the CPU engine's in f32",
            gpu_check::top_1_agrees(exact, found, dtype == DType::f32 ? 0.99 : 0.9));
        lab.check("text_" + name, "greedy text in " + name + " is the CPU engine's",
                  gpu_check::same_text(*alike, *model, prompt, words, bound));
        lab.check("graph_" + name, "the graph writes what forward writes in " + name,
                  gpu_check::writes_as_the_loop(*model, prompt, words));
        if (dtype == DType::bf16)
            lab.check("memory", "replays of the graph leave memory as it is",
                      gpu_check::memory_stays(*model, model->config().n_ctx - 1,
                                              gpu_check::memory_in_use));
    }
}

// Fast
// ----

/// The engine whose decoding is one kernel that stays, at the shape that is timed.
std::unique_ptr<Model> load_persistent(const Experiment& lab, DType dtype) {
    const auto weights =
        gpt2::open_weights(lab.options().model, {.shape = lab.options().shape});
    return gpt2::cuda::load(*weights, dtype, lab.options().kv,
                            gpt2::cuda::Decode::persistent);
}

/// Writing at each context: the mean over the 32 positions that end, or begin, there.
void decode(Experiment& lab, Model& model, const std::string& name) {
    constexpr int count = 34;
    const auto text = lab.text("article.txt", contexts[2]);
    for (const int context : contexts) {
        const int start = std::max(0, context - count);
        KvCache cache = model.new_cache();
        if (start > 0) model.forward(std::span(text).first(std::size_t(start)), cache);
        std::vector<double> seconds;
        for (int run = -1; run < (lab.quick() ? 5 : 20); ++run) {
            const Seconds one = gpu_check::beat(model, cache, start, count);
            if (run >= 0) seconds.push_back(one);
        }
        lab.row(fmt::format("decode_{}_{}", name, context),
                fmt::format("a token in {}, at context {}", name, context), "s",
                lab.engine().forward({.tokens = 1, .past = context, .rows = 1}),
                lab::summarize(std::move(seconds)));
    }
}

void prefill(Experiment& lab, Model& model, const std::string& name) {
    const auto text = lab.text("article.txt", 1024);
    for (const int tokens : {512, 1024}) {
        KvCache cache = model.new_cache();
        const auto measured = lab.time(
            [&] {
                cache.truncate(0);
                model.forward(std::span(text).first(std::size_t(tokens)), cache);
            },
            0.05);
        lab.row(fmt::format("prefill_{}_{}", name, tokens),
                fmt::format("{} tokens read in {}", tokens, name), "s",
                lab.engine().forward({.tokens = tokens, .past = 0, .rows = 1}), measured);
    }
}

/// One more token for each of many sequences, behind 512 positions.
void batches(Experiment& lab, Model& model, const std::string& name,
             std::vector<lab::Cells>& cells) {
    constexpr int context = 512;
    const auto text = lab.text("article.txt", context);
    KvCache trunk = model.new_cache();
    model.forward(text, trunk);
    for (const int sequences : {1, 2, 4, 8, 16, 32, 64}) {
        std::vector<KvCache> caches;
        for (int i = 0; i < sequences; ++i) {  // each in memory of its own
            caches.push_back(model.new_cache());
            model.forward(text, caches.back());
        }
        const Token next = 1;
        std::vector<gpt2::Step> batch;
        for (KvCache& cache : caches) batch.push_back({std::span(&next, 1), cache});
        const auto measured = lab.time(
            [&] {
                for (KvCache& cache : caches) cache.truncate(context);
                model.forward(batch);
            },
            0.05);
        const std::vector<ledger::Step> steps(std::size_t(sequences),
                                              {.tokens = 1, .past = context, .rows = 1});
        cells.push_back({name, double(sequences), measured.median,
                         sequences / measured.median, lab.engine().forward(steps)});
    }
}

void kernels(Experiment& lab, const gpt2::Config& config, DType dtype,
             std::vector<lab::Cells>& cells) {
    const double bandwidth = lab.results().machine.gpu->read_bandwidth;
    for (const int context : contexts) {
        lab::Table table(
            {{fmt::format("kernel, {}, context {}", name_of(dtype), context), 34},
             {"times", 6, true},
             {"one takes", 10, true},
             {"bytes/s", 14, true},
             {"of the floor", 12, true}});
        for (const gpu_check::KernelTime& k :
             gpu_check::kernel_times(config, dtype, lab.options().kv, context)) {
            const double share = k.bytes / bandwidth / k.seconds;
            cells.push_back({std::string(name_of(dtype)), double(context), k.name,
                             double(k.times), k.bytes, k.seconds, share});
            table.add({k.name, std::to_string(k.times), lab::quantity(k.seconds, "s"),
                       lab::quantity(k.bytes / k.seconds, "bytes/s"),
                       fmt::format("{:.0f}%", 100 * share)});
        }
        if (dtype == DType::bf16) fmt::print("\n{}", table.text());
        std::fflush(stdout);
    }
}

void sweep_splits(Experiment& lab, const gpt2::Config& config) {
    std::vector<lab::Cells> cells;
    fmt::print("\nattention of one layer, by blocks that share a head:\n");
    for (const DType kv : {DType::f32, DType::f16})
        for (const int context : contexts)
            for (const int splits : {1, 2, 4, 8, 16, 32}) {
                const Seconds seconds =
                    gpu_check::attention_time(config, kv, context, splits);
                cells.push_back(
                    {std::string(name_of(kv)), double(context), double(splits), seconds});
                fmt::print("cache {}, context {:>4}, {:>2} splits: {}\n", name_of(kv),
                           context, splits, lab::quantity(seconds, "s"));
            }
    std::fflush(stdout);
    lab.exhibit("splits", {"kv", "context", "splits", "seconds"}, std::move(cells));
}

void time_all(Experiment& lab) {
    std::vector<lab::Cells> of_batches, of_kernels;
    gpt2::Config config{};
    for (const DType dtype : dtypes) {
        const std::string name(gpt2::name_of(dtype));
        const auto model = lab.load_model({.dtype = dtype});
        config = model->config();
        decode(lab, *model, name);
        {
            const auto stays = load_persistent(lab, dtype);
            decode(lab, *stays, name + "_persistent");
            // Its sums are taken in another order, so near ties may fall the other way.
            lab.check("persistent_" + name,
                      "the kernel that stays writes the graph's text in " + name,
                      gpu_check::same_text(*model, *stays, lab.text("article.txt", 16),
                                           lab.quick() ? 40 : 200,
                                           dtype == DType::f32 ? 1e-4 : 5e-2));
        }
        prefill(lab, *model, name);
        batches(lab, *model, name, of_batches);
        kernels(lab, config, dtype, of_kernels);
    }
    sweep_splits(lab, config);
    lab.exhibit("batches",
                {"dtype", "sequences", "seconds", "tokens per second", "predicted"},
                std::move(of_batches));
    lab.exhibit("kernels",
                {"dtype", "context", "kernel", "times", "bytes", "seconds", "share"},
                std::move(of_kernels));
    lab.headline("decode_bf16_512");
}

void check(Experiment& lab) {
    if (lab.options().device != "cuda")
        throw gpt2::BadInput("--device: expected cuda, found cpu");
    describe(lab);
    run_tests(lab);
    run_sanitizer(lab);
    compare_with_the_cpu(lab);
    time_all(lab);
    const lab::Row& row = *lab.results().headline_row();
    lab.keep(fmt::format(
        "A token in bf16 behind 512 takes {}; its bytes alone would take "
        "{}: {:.0f}% of that floor.",
        lab::quantity(row.measured.median, "s"), lab::quantity(*row.predicted, "s"),
        100 * *row.predicted / row.measured.median));
}

}  // namespace

int main(int argc, char** argv) {
    return lab::run(argc, argv,
                    {.name = "gpu_check",
                     .title = "The CUDA engine on this GPU",
                     .question = "Is it right, and how near does it come to what the GPU "
                                 "allows?",
                     .experiment = check});
}
