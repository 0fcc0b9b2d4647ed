// Reading and writing on a GPU
//
// Chapter 04 let a processor read 512 tokens at once and write 511 one by one. A GPU
// for a data centre gets dozens of times as many bytes a second out of its memory,
// and does over a thousand times the arithmetic. There, reading over writing is
//
//     A  less: memory is so fast that writing catches up
//     B  about the same: same model, same bytes, same FLOPs
//     C  more: its arithmetic has outgrown its memory
//     D  about one: thousands of threads write as well as they read
//
// If there is a GPU (--device cuda), it is timed. In any case its kernels run here,
// on the processor, from the same source, and every byte that they ask for is
// counted.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <numeric>

#include "gpt2/cuda/attention.hpp"
#include "gpt2/cuda/cpu_machine/log.hpp"
#include "gpt2/cuda/engine.hpp"
#include "gpt2/generate.hpp"
#include "lab/accelerators.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/report.hpp"
#include "lab/table.hpp"

int n = 512;                // --tokens: read at once, then one by one
int positions = 96;         // --positions: what the counted token attends to
int words = 12;             // --words: written on the kernels' machine
int multiprocessors = 132;  // --multiprocessors: of a GPU that is not here

using gpt2::DType, gpt2::Token, simt::Holds;
using Launches = std::vector<simt::Launch>;

// What a token makes the kernels do
// ---------------------------------
// Load the engine on the kernels' machine, say what lies where in its memory, let it
// read all of a text but the last token, and write down what the last one takes.

// [log]
Launches last_token(const gpt2::Weights& weights, DType dtype, DType kv,
                    std::span<const Token> text) {
    const auto model = gpt2::cuda::load_emulated(weights, dtype, kv);
    simt::mark(Holds::weights);
    gpt2::KvCache cache = model->new_cache();
    cache.reserve(int(text.size()));
    simt::mark(Holds::cache);
    model->forward(text.first(text.size() - 1), cache, gpt2::Rows::none);

    simt::Log log;
    model->forward(text.last(1), cache);
    return log.launches;
}
// [log]

void count(lab::Experiment& lab, const std::string& id, const std::string& what,
           const std::string& unit, double predicted, double counted) {
    lab.row(id, what, unit, predicted, lab::summarize({counted}));
    lab.check(id, what + ": as predicted", predicted == counted);
}

// From barrier to barrier
// -----------------------
// The threads of a block run on their own until a barrier, where all wait for all.
// So a kernel is a handful of stages, and each can be told by what it asks for.

void show(lab::Experiment& lab, const std::string& id, const simt::Launch& launch,
          const std::vector<std::string>& stages) {
    std::vector<lab::Cells> cells;
    lab::Table table({{"until the next barrier", 30},
                      {"weights", 9, true},
                      {"cache", 9, true},
                      {"other", 9, true},
                      {"stored", 9, true},
                      {"shared reads", 12, true},
                      {"writes", 9, true},
                      {"shuffles", 8, true},
                      {"atomics", 7, true}});
    for (std::size_t i = 0; i < launch.stages.size(); ++i) {
        const simt::Stage& s = launch.stages[i];
        std::vector<std::string> line{stages.at(i)};
        cells.push_back({stages.at(i)});
        for (const std::uint64_t number :
             {s.of(Holds::weights).loaded, s.of(Holds::cache).loaded,
              s.of(Holds::other).loaded, s.stored(), s.counts.shared_reads,
              s.counts.shared_writes, s.counts.shuffles, s.counts.atomics}) {
            line.push_back(lab::number(double(number)));
            cells.back().emplace_back(double(number));
        }
        table.add(line);
    }
    fmt::print("\n{}: blocks of {} threads: {}; bytes loaded from\n\n{}", id,
               launch.block.x, launch.blocks(), table.text());
    lab.exhibit(id,
                {"stage", "weights", "cache", "other", "stored", "shared_reads",
                 "shared_writes", "shuffles", "atomics"},
                cells);
}

// Attention of one token in a model of one layer and one head is the work of one
// block of threads. A warp takes 32 positions at a time. Each key and each value is
// asked for once; of the last 32 positions all the keys, there or not.

void one_block(lab::Experiment& lab) {
    constexpr int dim = 64;
    const gpt2::Config config{32, positions, dim, 1, 1};
    std::vector<Token> text;
    for (int i = 0; i < positions; ++i) text.push_back(i % config.n_vocab);
    const auto weights = gpt2::random_weights(config, lab.options().seed);
    const simt::Launch attend =
        last_token(*weights, lab.options().dtype, lab.options().kv, text).at(2);
    show(lab, "attend", attend,
         {"the query, into shared memory", "scores, softmax, values",
          "what four warps found", "who is last?", "the last one adds up"});

    // [block]
    const int blocks = gpt2::KvLayout::blocks_for(positions);
    const double keys = 32.0 * blocks * dim, values = 1.0 * positions * dim;
    const simt::Stage all = attend.total();
    count(lab, "attend_cache", "a block of attend: keys and values", "bytes",
          (keys + values) * double(gpt2::size_of(lab.options().kv)),
          double(all.of(Holds::cache).loaded));
    count(lab, "attend_shuffles", "a block of attend: shuffles", "",
          (5 + 5) * blocks, double(all.counts.shuffles));
    count(lab, "attend_barriers", "a block of attend: barriers", "", 4,
          double(all.counts.barriers));
    // [block]
    lab.note("positions", "positions that it attends to", positions);
    lab.check("attend_once", "no key and no value is asked for twice",
              all.of(Holds::cache).loaded == all.of(Holds::cache).first);
}

// Every byte of a token
// ---------------------
// The ledger knows nothing of kernels, but its bytes must be theirs. Norms belong to
// the product behind them. And what one kernel leaves in the cache the next asks for
// a moment later: the ledger counts it once.

constexpr std::array kernels{"embed", "qkv",      "attend", "proj",
                             "fc",    "mlp proj", "head"};
using Bytes = std::array<double, kernels.size()>;

// [ledger]
Bytes by_ledger(const ledger::Engine& engine, int past) {
    const ledger::Step token{.tokens = 1, .past = past, .rows = 1};
    std::map<std::string, double> of;
    for (const auto& operation : engine.operations({&token, 1}))
        of[operation.name] = operation.bytes;
    const double norm = of["norms"] / 2, appended = of["kv append"];
    return {of["embed"],
            norm + of["attn qkv"] + appended,
            of["attention"] + appended,
            of["attn proj"],
            norm + of["fc"],
            of["mlp proj"],
            of["final norm"] + of["head"]};
}

std::size_t kernel_of(std::size_t launch, std::size_t launches) {
    if (launch == 0) return 0;
    return launch == launches - 1 ? 6 : 1 + (launch - 1) % 5;
}

Bytes by_kernels(const Launches& launches) {
    Bytes bytes{};
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const simt::Stage all = launches[i].total();
        double& sum = bytes[kernel_of(i, launches.size())];
        sum += double(all.of(Holds::weights).first);
        sum += double(all.of(Holds::cache).first + all.of(Holds::cache).stored);
        if (i == launches.size() - 1) sum += double(all.stored());  // the scores
    }
    return bytes;
}
// [ledger]

double total(const Bytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

void whole_token(lab::Experiment& lab, const gpt2::Weights& weights,
                 const gpt2::Config& shape) {
    const auto& [dtype, kv] = std::pair(lab.options().dtype, lab.options().kv);
    const int looks = positions / 32 * 32;
    const Launches launches =
        last_token(weights, dtype, kv, lab.text("article.txt", looks));
    const Bytes predicted =
        by_ledger({weights.config(), dtype, kv, lab.machine()}, looks - 1);
    const Bytes counted = by_kernels(launches);
    const Bytes there = by_ledger({shape, dtype, kv, lab.machine()}, n - 1);

    // One product alone, that of fc. Blocks share its columns out among them, and
    // each needs all of the input, normalised: asked for again, it comes from a
    // cache.
    const simt::Launch& fc = launches.at(4);
    show(lab, "multiply", fc,
         {"the input, into shared memory", "mean and scale", "layer norm",
          "the product"});
    const simt::Stage all = fc.total();
    const auto again = [&](Holds what) {
        return double(all.of(what).loaded - all.of(what).first);
    };
    const double layers = weights.config().n_layer;
    count(lab, "fc_weights", "one product, fc: weights", "bytes",
          predicted[4] / layers, double(all.of(Holds::weights).first));
    count(lab, "fc_again", "one product, fc: asked for again", "bytes",
          (double(fc.blocks()) - 1) * 3 * 4 * weights.config().n_embd,
          again(Holds::weights) + again(Holds::other));

    lab::Table table({{"kernel", 8},
                      {"ledger", 10, true},
                      {"counted", 10, true},
                      {"at " + lab.options().shape, 10, true},
                      {"share", 6, true}});
    std::vector<lab::Cells> cells;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double share = 100 * there[k] / total(there);
        table.add({kernels[k], lab::quantity(predicted[k], "bytes"),
                   lab::quantity(counted[k], "bytes"),
                   lab::quantity(there[k], "bytes"), fmt::format("{:.1f}%", share)});
        cells.push_back({kernels[k], predicted[k], counted[k], there[k], share});
    }
    fmt::print("\nA token's bytes, kernel by kernel.\n\n{}", table.text());
    lab.exhibit("kernels", {"kernel", "predicted", "counted", "there", "share"},
                cells);
    count(lab, "token_bytes", "a token: weights, cache, scores", "bytes",
          total(predicted), total(counted));
    lab.check("every_kernel", "kernel by kernel, too", predicted == counted);
    lab.headline("token_bytes");
    lab.note("share_head", "share of the scores in a token's bytes",
             100 * there[6] / total(there), "%");
    lab.note("share_attention", "share of attention in a token's bytes",
             100 * there[2] / total(there), "%");
}

// One graph, the same words
// -------------------------
// Launched one by one, each kernel costs the host a call, and many a kernel is done
// sooner than the host with its next call. A graph is recorded once, kernels and
// their arguments, and then launched by a single call. What differs from token to
// token is read from memory, where the last kernel leaves it: the token, and its
// position.

void writing(lab::Experiment& lab, gpt2::Model& kernels_model, gpt2::Model& engine,
             const gpt2::Config& shape) {
    const std::vector<Token> prompt = lab.text("article.txt", 16);
    gpt2::KvCache cache = kernels_model.new_cache();
    const gpt2::Logits logits = kernels_model.forward(prompt, cache);
    // [graph]
    const simt::Counts before = simt::counts;
    std::vector<Token> written;
    kernels_model.write(cache, gpt2::argmax(logits[0]), words, {}, [&](Token token) {
        written.push_back(token);
        return true;
    });
    const double graphs = double(simt::counts.graphs - before.graphs);
    const double launched = double(simt::counts.launches - before.launches);
    // [graph]
    const int layers = kernels_model.config().n_layer, first = 5 * layers + 2;
    count(lab, "graphs", "graphs launched, the first step left out", "", words - 2,
          graphs);
    count(lab, "graph_kernels", "kernels in each, with the choice of a token", "",
          first + 1, (launched - first) / graphs);
    lab.note("kernels_there", "kernels of a token at " + lab.options().shape,
             5 * shape.n_layer + 3);

    fmt::print("\nThe kernels wrote:{}\n", lab.tokenizer().decode(written));
    gpt2::KvCache other = engine.new_cache();
    lab.check(
        "same_words", "kernels and engine write the same text",
        generate(engine, other, prompt, {.max_tokens = words}).tokens == written,
        fmt::format("{} tokens", words));

    // The kernels' machine gives threads their turns in any order. A right kernel
    // does not care, to the last bit. [orders]
    const auto scores = [&](simt::Order order) {
        simt::set_order(order, 7);
        gpt2::KvCache own = kernels_model.new_cache();
        kernels_model.forward(prompt, own, gpt2::Rows::none);
        gpt2::Logits found = kernels_model.forward(std::span(written).first(1), own);
        simt::set_order(simt::Order::forward);
        return found;
    };
    const gpt2::Logits forward = scores(simt::Order::forward);
    const gpt2::Logits reverse = scores(simt::Order::reverse);
    const gpt2::Logits shuffled = scores(simt::Order::shuffled);
    lab.check("orders", "threads in three orders: the same scores, bit for bit",
              lab::differing_floats(forward[0], reverse[0]) == 0 &&
                  lab::differing_floats(forward[0], shuffled[0]) == 0);
    // [orders]
}

// Who is at work
// --------------
// Attention has a block of threads for each head, and a small model has twelve
// heads. So the positions are shared out too, and whichever block is last puts
// together what all have found (Dao et al., "Flash-Decoding for long-context
// inference", 2023).

// [splits]
void splits(lab::Experiment& lab, const gpt2::Config& shape) {
    const int most = gpt2::cuda::splits_for(multiprocessors, shape.n_head, 1,
                                            gpt2::KvLayout::blocks_for(shape.n_ctx));
    const int blocks = gpt2::KvLayout::blocks_for(n);
    const int each = std::min(32 * ((blocks + most - 1) / most), n);
    lab.note("multiprocessors", "multiprocessors of a GPU", multiprocessors);
    lab.note("blocks_whole", "blocks of attention, a head each", shape.n_head);
    lab.note("blocks_split", "blocks of attention, split", shape.n_head * most);
    lab.note("walk_whole", "positions that a block goes through", n);
    lab.note("walk_split", "positions that a block goes through, split", each);
}
// [splits]

// The floor
// ---------
// Arithmetic on data sheets: nobody has measured this here. Reading waits for the
// multipliers, writing for memory, so their ratio follows the machine's ridge.

// [floor]
struct Floor {
    ledger::Seconds read, write, beat;
};

Floor floor_of(const ledger::Engine& engine) {
    Floor floor{engine.forward({.tokens = n, .past = 0, .rows = n}), 0, 0};
    for (int past = 1; past < n; ++past) {
        floor.beat = engine.forward({.tokens = 1, .past = past, .rows = 1});
        floor.write += floor.beat;
    }
    return floor;
}
// [floor]

void floors(lab::Experiment& lab, const gpt2::Config& shape) {
    lab::Table table({{"by arithmetic", 24},
                      {"FLOPs a byte", 12, true},
                      {"reads", 18, true},
                      {"writes", 18, true},
                      {"ratio", 6, true}});
    std::vector<lab::Cells> cells;
    const auto add = [&](const std::string& id, const std::string& name,
                         const ledger::Machine& machine, DType dtype, DType kv) {
        const Floor floor = floor_of({shape, dtype, kv, machine});
        const double reads = n / floor.read, writes = (n - 1) / floor.write;
        table.add({name, lab::number(machine.ridge()),
                   lab::quantity(reads, "token/s"), lab::quantity(writes, "token/s"),
                   lab::number(reads / writes)});
        cells.push_back({id, name, machine.ridge(), reads, writes, reads / writes});
        lab.note("ratio_" + id, "by arithmetic, reading over writing: " + name,
                 reads / writes, "times");
        lab.note("beat_" + id, "by arithmetic, the last beat: " + name, floor.beat,
                 "s");
    };
    const auto known = lab::read_machines(gpt2::data_directory() / "machines.json");
    add("here", "this machine", lab.machine(), lab.options().dtype,
        lab.options().kv);
    for (const auto& [id, device] : known.accelerators)
        add(id, device.name, {device.numbers.bandwidth, device.numbers.flops, 1},
            DType::bf16, DType::f16);
    fmt::print("\nFrom data sheets, not measured: {} tokens.\n\n{}", n,
               table.text());
    lab.exhibit("floors", {"id", "machine", "ridge", "reads", "writes", "ratio"},
                cells);
}

// On a GPU
// --------
// Chapter 04 again, with both ceilings measured on the GPU: as kernels launched one
// by one, and by a graph. What the scores and what attention take is told by leaving
// them out: a step that wants no scores, a step that has nothing to look back at.

// [gpu]
void on_gpu(lab::Experiment& lab) {
    const auto model = lab.load_model();
    const std::vector<Token> text = lab.text("article.txt", n);
    const lab::Measured read = lab.time([&] {
        gpt2::KvCache cache = model->new_cache();
        model->forward(text, cache, gpt2::Rows::all);
    });
    gpt2::KvCache first = model->new_cache();
    model->forward(std::span(text).first(1), first);
    std::vector<Token> by_loop, by_graph;
    const lab::Measured loop = lab.time([&] {
        gpt2::KvCache cache = first.fork();
        by_loop = {text[1]};
        for (int i = 1; i < n; ++i)
            by_loop.push_back(
                gpt2::argmax(model->forward(std::span(by_loop).last(1), cache)[0]));
    });
    const lab::Measured graph = lab.time([&] {
        gpt2::KvCache cache = first.fork();
        by_graph.clear();
        model->write(cache, text[1], n, {}, [&](Token token) {
            by_graph.push_back(token);
            return true;
        });
    });
    lab.check("graph_same", "graph and loop write the same tokens",
              by_graph == by_loop);
    // [gpu]
    const Floor floor = floor_of(lab.engine());
    const double writes = (n - 1) / floor.write;
    lab.row("gpu_read", "GPU: reading", "token/s", n / floor.read, n / read);
    lab.row("gpu_loop", "GPU: writing, launch by launch", "token/s", writes,
            (n - 1) / loop);
    lab.row("gpu_graph", "GPU: writing, by graphs", "token/s", writes,
            (n - 1) / graph);
    lab.ratio("gpu_graph_over_loop", "GPU: graphs over launches", "gpu_graph",
              "gpu_loop");
    lab.ratio("gpu_read_over_write", "GPU: reading over writing", "gpu_read",
              "gpu_graph");
    const auto beat = [&](int past, gpt2::Rows rows) {
        gpt2::KvCache held = model->new_cache();
        if (past > 0) model->forward(std::span(text).first(std::size_t(past)), held);
        return lab.time(
            [&] {
                gpt2::KvCache cache = held.fork();
                model->forward(std::span(text).last(1), cache, rows);
            },
            0.1);
    };
    const auto row = [&](const char* id, const char* what, ledger::Step step) {
        lab.row(id, what, "s", lab.engine().forward(step),
                beat(step.past, step.rows ? gpt2::Rows::last : gpt2::Rows::none));
    };
    row("gpu_beat", "GPU: a token's pass", {1, n - 1, 1});
    row("gpu_no_scores", "GPU: the same without scores", {1, n - 1, 0});
    row("gpu_no_past", "GPU: the same with nothing to look back at", {1, 0, 1});
}

// What others have measured on a GPU, if anybody has.
void recorded(const std::filesystem::path& folder) {
    bool any = false;
    for (const auto& machine : std::filesystem::directory_iterator(folder)) {
        const auto file = machine.path() / "15_gpu.json";
        if (!exists(file)) continue;
        const lab::Results results = lab::read_results(file);
        if (!results.machine.gpu) continue;
        any = true;
        fmt::print("\nMeasured on another machine, an {}, {}:\n\n{}",
                   results.machine.gpu->name, results.date, lab::report(results));
    }
    if (!any) fmt::print("\nNobody has recorded this chapter on a GPU yet.\n");
}

void gpu(lab::Experiment& lab) {
    const lab::Options& options = lab.options();
    const gpt2::Config shape =
        gpt2::open_weights(options.model, {.shape = options.shape})->config();
    if (options.device == "cuda") on_gpu(lab);

    // The kernels' machine is slow: the model runs there at the shape that it has.
    const std::string own = options.model == "random" ? options.shape : "own";
    const auto engine = lab.load_model({.shape = own, .dtype = DType::f32});
    const auto weights = gpt2::open_weights(options.model, {.shape = own});
    if (simt::sees_memory()) {
        one_block(lab);
        whole_token(lab, *weights, shape);
    } else {
        fmt::print("\nNot counted: a sanitizer has the compiler's calls.\n");
    }
    const auto emulated =
        gpt2::cuda::load_emulated(*weights, DType::f32, options.kv);
    writing(lab, *emulated, *engine, shape);
    splits(lab, shape);
    floors(lab, shape);
    recorded(gpt2::data_directory() / "results");
    if (options.device == "cuda") lab.headline("gpu_read_over_write");
    lab.keep(
        "A kernel is a plan for who fetches which bytes: arithmetic has outgrown "
        "memory, so the bytes decide.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "15_gpu",
         .title = "Reading and writing on a GPU",
         .question = "What does a GPU's token wait for, and how is that arranged?",
         .experiment = gpu,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--tokens", n,
                           "Tokens to read, and one more than to write",
                           {.least = 3, .most = 1023, .quick = 96});
             arguments.add("--positions", positions,
                           "Positions that the counted token attends to",
                           {.least = 32, .most = 255});
             arguments.add("--words", words,
                           "Tokens to write on the kernels' machine",
                           {.least = 3, .most = 200, .quick = 4});
             arguments.add("--multiprocessors", multiprocessors,
                           "Multiprocessors of a GPU that is not here",
                           {.least = 1, .most = 1024});
         }});
}
