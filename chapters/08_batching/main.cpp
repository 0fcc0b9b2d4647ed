// Batching: one trip of the weights for many
//
// To write one token, a machine fetches every weight of the model, uses each for one
// multiplication and one addition, and lets it go. Somebody else is waiting for a
// token of his own, from the same weights. Write 64 answers at once, one token of
// each in every pass. What does the neighbour's answer cost you?
//
//     A  nothing: the weights had to come anyway
//     B  64 times the wait: there is 64 times as much to compute
//     C  little at first; from some number of neighbours on, each one as much as the
//        last
//     D  you gain: together everyone is served sooner

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "ledger/thinking.hpp"

int batch = 64, beats = 8;         // --batch, --beats
int shorter = 64, longer = 512;    // --context, --long: tokens, at most
constexpr int text_tokens = 1024;  // of the text that the openings are cut from

using Tokens = std::span<const gpt2::Token>;

// Many openings
// -------------
// No two people ask the same. Each sequence has an opening of its own, cut from
// another place of a text, and of another length. Nothing is padded to one length:
// every sequence has its own cache, and its positions are its own.

// [openings]
std::vector<Tokens> openings(Tokens text, int count, int longest) {
    std::vector<Tokens> all;
    for (int i = 0; i < count; ++i) {
        const int length = longest - i % (longest / 2);
        const int start = 7 * i % (text_tokens - length + 1);
        all.push_back(text.subspan(std::size_t(start), std::size_t(length)));
    }
    return all;
}
// [openings]

struct Crowd {
    std::vector<gpt2::KvCache> caches;  // the openings, read but for the last token
    std::vector<gpt2::Token> last;      // which is where writing begins
    std::vector<int> past;              // positions in each cache at that point
};

// [read]
Crowd read(gpt2::Model& model, std::span<const Tokens> openings) {
    Crowd crowd;
    for (const Tokens& opening : openings) {
        crowd.caches.push_back(model.new_cache());
        crowd.last.push_back(opening.back());
        crowd.past.push_back(int(opening.size()) - 1);
    }
    std::vector<gpt2::Step> steps;
    for (std::size_t i = 0; i < openings.size(); ++i)
        steps.push_back({.tokens = openings[i].first(openings[i].size() - 1),
                         .cache = crowd.caches[i],
                         .rows = gpt2::Rows::none});
    model.forward(steps);
    return crowd;
}
// [read]

// One token of each
// -----------------
// A pass takes one step of every sequence: its latest token, and its cache. Out
// comes a row of logits for each. The weights are fetched once, however many steps
// there are.

using Look = std::function<void(std::size_t sequence, int beat, gpt2::Token token,
                                std::span<const float> row)>;

// [write]
std::vector<double> write(gpt2::Model& model, Crowd& crowd, const Look& look = {}) {
    for (std::size_t i = 0; i < crowd.last.size(); ++i)
        crowd.caches[i].truncate(crowd.past[i]);  // begins behind the openings
    std::vector<gpt2::Token> next = crowd.last;
    std::vector<double> seconds;  // of each beat
    for (int beat = 0; beat < beats; ++beat) {
        const lab::Stopwatch watch;
        std::vector<gpt2::Step> steps;
        for (std::size_t i = 0; i < crowd.last.size(); ++i)
            steps.push_back({.tokens = {&next[i], 1}, .cache = crowd.caches[i]});
        const gpt2::Logits logits = model.forward(steps);
        for (std::size_t i = 0; i < crowd.last.size(); ++i)
            next[i] = gpt2::argmax(logits[int(i)]);
        seconds.push_back(watch.seconds());
        if (look)
            for (std::size_t i = 0; i < crowd.last.size(); ++i)
                look(i, beat, next[i], logits[int(i)]);
    }
    return seconds;
}
// [write]

// What should happen
// ------------------
// The ledger takes the batch as it is. Of every matrix it counts the bytes once and
// the FLOPs for each sequence, and takes the longer of the two times. The caches are
// nobody else's: their bytes are counted for each sequence, and so they add up.

// [predict]
ledger::Seconds predict(const ledger::Engine& engine, const Crowd& crowd) {
    ledger::Seconds sum = 0;
    for (int beat = 0; beat < beats; ++beat) {
        std::vector<ledger::Step> steps;
        for (const int past : crowd.past)
            steps.push_back({.tokens = 1, .past = past + beat, .rows = 1});
        sum += engine.forward(steps);
    }
    return sum / beats;
}

// A lone token behind nothing fetches the weights and does its arithmetic, which
// takes a fraction of that time. As many tokens as go into it ride along for
// nothing.
double knee(const ledger::Engine& engine) {
    const ledger::Step one{.tokens = 1, .past = 0, .rows = 1};
    const auto operations = engine.operations({&one, 1});
    const ledger::Machine& machine = engine.machine();
    return ledger::total_bytes(operations) / machine.read_bandwidth /
           (ledger::total_flops(operations) / machine.multiply_add_peak);
}
// [predict]

// Alone, or among 63 others
// -------------------------
// Each sequence is written alone first. Then, in batches of every size, it must
// write the same tokens, from the same scores: not one bit of its logits may depend
// on who sits beside it.

struct Alone {
    std::vector<gpt2::Token> tokens;  // [beats]
    std::vector<float> logits;        // [beats, n_vocab]
};

std::vector<Alone> each_alone(gpt2::Model& model, std::span<const Tokens> openings) {
    fmt::print("alone    {} sequences, one after the other\n", openings.size());
    std::fflush(stdout);
    std::vector<Alone> all;
    for (const Tokens& opening : openings) {
        Crowd one = read(model, {&opening, 1});
        Alone alone;
        write(model, one, [&](std::size_t, int, gpt2::Token token, auto row) {
            alone.tokens.push_back(token);
            alone.logits.insert(alone.logits.end(), row.begin(), row.end());
        });
        all.push_back(std::move(alone));
    }
    return all;
}

// [same]
void check_same(lab::Experiment& lab, gpt2::Model& model, Crowd& crowd,
                std::span<const Alone> alone, const std::string& id,
                const std::string& what) {
    std::int64_t tokens = 0, floats = 0;
    write(model, crowd, [&](std::size_t i, int beat, gpt2::Token token, auto row) {
        const std::span<const float> then = alone[i].logits;
        tokens += token != alone[i].tokens[std::size_t(beat)];
        floats +=
            lab::differing_floats(row, then.subspan(beat * row.size(), row.size()));
    });
    lab.check("same_" + id, what + ": each writes what it writes alone",
              tokens == 0 && floats == 0,
              fmt::format("{} tokens, {} floats differ", tokens, floats));

    const std::int64_t each =
        ledger::kv_bytes_per_token(model.config(), lab.options().kv);
    std::int64_t bytes = 0, expected = 0;
    for (const gpt2::KvCache& cache : crowd.caches) bytes += cache.bytes();
    for (const int past : crowd.past) expected += (past + beats) * each;
    lab.check("bytes_" + id, what + ": caches of as many bytes as the ledger says",
              bytes == expected, fmt::format("{} and {}", bytes, expected));
}
// [same]

// A batch, timed: its row in the table. A warm-up's beats do not count.
lab::Row serve(lab::Experiment& lab, gpt2::Model& model,
               std::span<const Tokens> openings, std::span<const Alone> alone,
               const std::string& id, const std::string& what) {
    Crowd crowd = read(model, openings);
    std::vector<double> all;
    const lab::Measured runs = lab.time(
        [&] {
            const std::vector<double> seconds = write(model, crowd);
            all.insert(all.end(), seconds.begin(), seconds.end());
        },
        0.5);
    all.erase(all.begin(), all.end() - std::ptrdiff_t(runs.runs) * beats);
    lab.row("beat_" + id, what + ": a beat", "s", predict(lab.engine(), crowd),
            lab::summarize(std::move(all)));
    check_same(lab, model, crowd, alone, id, what);
    return lab.results().rows.back();
}

// More and more of them
// ---------------------
// Twice as many, and twice as many again. At first the beat stays what it was for
// one. In the end every sequence adds as much as the last. The knee, the point where
// arithmetic takes over, is where as many of these additions make a whole beat. It
// shows if the largest two batches lie beyond it.

void more_and_more(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const std::vector<Tokens> all = openings(text, batch, shorter);
    const std::vector<Alone> alone = each_alone(model, all);

    // [sizes]
    std::vector<int> sizes{batch};
    for (int n = 1; n < batch; n *= 2) sizes.insert(sizes.end() - 1, n);
    std::vector<lab::Row> beat;
    std::vector<lab::Cells> curve;
    for (const int n : sizes) {
        beat.push_back(serve(lab, model, std::span(all).first(std::size_t(n)), alone,
                             std::to_string(n), fmt::format("{} together", n)));
        curve.push_back(
            {double(n), *beat.back().predicted, beat.back().measured.median});
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
        lab.row(fmt::format("rate_{}", sizes[i]),
                fmt::format("{} together: all tokens", sizes[i]), "token/s",
                sizes[i] / *beat[i].predicted, sizes[i] / beat[i].measured);
    // [sizes]
    lab.exhibit("knee", {"sequences", "predicted_seconds", "measured_seconds"},
                curve);
    lab.ratio("batch_shared", fmt::format("all tokens, {} together over 1", batch),
              fmt::format("rate_{}", batch), "rate_1");
    lab.ratio("one_answer",
              fmt::format("one answer's beat, {} together over 1", batch),
              fmt::format("beat_{}", batch), "beat_1");
    lab.headline("batch_shared");

    // [meet]
    const double at = knee(lab.engine());
    lab.note("knee_at", "the weights take as long to fetch as the arithmetic of", at,
             "sequences");
    if (batch < 2 * at) return;
    const std::size_t last = sizes.size() - 1;
    const double one_more =
        (beat[last].measured.median - beat[last - 1].measured.median) /
        (sizes[last] - sizes[last - 1]);
    if (one_more > 0)
        lab.row("knee", "where arithmetic takes over", "sequences", at,
                lab::summarize({beat[0].measured.median / one_more}));
    // [meet]
}

// The caches ride alone
// ---------------------
// The weights are shared; what lies behind a sequence is not. A long context slows a
// crowd far more than it slows one.

void behind_long(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const std::vector<Tokens> all = openings(text, std::min(16, batch), longer);
    const std::vector<Alone> alone = each_alone(model, all);
    for (const std::size_t n : std::set<std::size_t>{1, all.size()}) {
        const std::string id = fmt::format("{}_long", n);
        serve(lab, model, std::span(all).first(n), alone, id,
              fmt::format("{} together behind up to {}", n, longer));
        lab.ratio("context_" + id,
                  fmt::format("{} together: behind up to {} over up to {}", n,
                              longer, shorter),
                  "beat_" + id, fmt::format("beat_{}", n));
    }
}

// What runs out first
// -------------------
// Two things bound a batch. Past the knee another sequence adds its full arithmetic.
// And every sequence keeps a cache, so memory ends too. Which one comes first
// depends on the length of what each sequence keeps.

// [fit]
struct Server {
    double memory, weights, kv_per_token;  // bytes
    double knee;                           // sequences

    double fit(double tokens) const {  // sequences
        return std::max(0.0,
                        std::floor((memory - weights) / (kv_per_token * tokens)));
    }
};

// An 8B model, two bytes a weight, on an accelerator of 80 GB, 2 TB/s, 300 TFLOP/s.
Server rented() {
    constexpr double parameters = 8e9, bytes = 2 * parameters;
    const ledger::Machine machine{2e12, 300e12, 1};
    const double fetching = ledger::predict({"weights", 1, 0, bytes}, machine);
    const double each =
        ledger::predict({"one token", 1, 2 * parameters, 0}, machine);
    const auto per_token =
        double(ledger::kv_bytes_per_token(32, 8, 128, gpt2::DType::f16));
    return {80e9, bytes, per_token, fetching / each};
}
// [fit]

void what_runs_out(lab::Experiment& lab, const gpt2::Model& model) {
    std::vector<lab::Cells> curve;
    const auto list = [&](const char* id, const char* name, const Server& server,
                          int most) {
        for (int tokens = 128; tokens <= most; tokens *= 2)
            curve.push_back({id, double(tokens), server.fit(tokens), server.knee});
        lab.note(
            fmt::format("fit_{}", id),
            fmt::format("{}: caches of {} tokens that fit", name, lab::number(most)),
            server.fit(most), "sequences");
        lab.note(
            fmt::format("even_{}", id),
            fmt::format("{}: the knee's number fits up to", name),
            (server.memory - server.weights) / (server.kv_per_token * server.knee),
            "tokens");
    };
    const auto memory = double(lab.results().machine.memory_bytes);
    const auto per_token =
        double(ledger::kv_bytes_per_token(model.config(), lab.options().kv));
    if (memory > 0)
        list("here", "this machine",
             {memory, double(model.weight_bytes()), per_token, knee(lab.engine())},
             model.config().n_ctx);
    list("rented", "an 8B model on 80 GB", rented(), 128 * 1024);
    lab.note("knee_rented", "an 8B model on 80 GB: arithmetic takes over at",
             rented().knee, "sequences");
    lab.exhibit("fit", {"server", "tokens", "sequences", "knee"}, curve);
}

// The course's 64
// ---------------
// 14 GB of weights, 1 TB/s, half a megabyte of cache for a token; 100 tokens in, 200
// out. One trip of the weights serves all, and every sequence's cache makes its own.

// [course]
void the_courses_64(lab::Experiment& lab) {
    const ledger::Fetching machine{14e9, 0.5e6, 1e12};
    fmt::print("\n200 trips of 14 GB at 1 TB/s, and of each one's cache\n");
    for (const int n : {1, 8, 64}) {
        const ledger::Way way{.prompt = 100, .answer = 200, .copies = n};
        std::int64_t positions = 0;  // fetched over all passes
        for (int i = 0; i < way.passes(); ++i) positions += way.held(i);
        const ledger::Seconds wait =
            ledger::stay(way, [&](int i) { return machine.pass(way, i); }).wait;
        const double peak = machine.kv * double(way.held(way.passes())) / 1e9;
        fmt::print(
            "{:>2} together  {:.3f} s + {} x {} x 0.5 MB / (1 TB/s) = {:.3f} s\n", n,
            way.passes() * machine.weights / machine.bandwidth, n,
            lab::number(double(positions / n)), wait);
        const std::string id = n == 64 ? "q2" : fmt::format("q2_with_{}", n);
        const std::string what = fmt::format("14 GB at 1 TB/s, {} together: ", n);
        lab.note(id, what + "wait for 200 tokens", wait, "s");
        lab.note(id + "_cache", what + "caches at the end", peak, "GB");
        if (n < 64) continue;
        lab.check_published("q2", wait);
        lab.check_published("q2_cache", peak);
    }
}
// [course]

// Refuses what the context or the memory cannot hold.
void check_room(const lab::Experiment& lab, const gpt2::Config& config) {
    const int most = std::max(shorter, longer) - 1 + beats;
    if (most > config.n_ctx)
        throw gpt2::BadInput(fmt::format(
            "--context, --long, --beats: they ask for {} positions, but the "
            "context has {}",
            most, config.n_ctx));
    const double positions =
        std::max(double(batch) * (shorter + beats),
                 double(std::min(16, batch)) * (longer + beats));
    const double bytes =
        positions * double(ledger::kv_bytes_per_token(config, lab.options().kv)) +
        double(sizeof(float)) * batch * beats * config.n_vocab;
    const auto memory = double(lab.results().machine.memory_bytes);
    if (memory > 0 && bytes > memory / 2)
        throw gpt2::BadInput(fmt::format(
            "--batch, --context, --long, --beats: they ask for {}, over half of "
            "the memory",
            lab::quantity(bytes, "bytes")));
}

void batching(lab::Experiment& lab) {
    check_room(
        lab, gpt2::load_config(lab.options().model, {.shape = lab.options().shape}));
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const std::vector<gpt2::Token> text = lab.text("article.txt", text_tokens);
    more_and_more(lab, *model, text);
    behind_long(lab, *model, text);
    what_runs_out(lab, *model);
    the_courses_64(lab);
    lab.keep(
        "The weights make one trip for all; each brings its own arithmetic, and its "
        "own cache.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "08_batching",
         .title = "Batching: one trip of the weights for many",
         .question =
             "How many answers can be written at once before anyone waits longer?",
         .experiment = batching,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--batch", batch, "The largest batch, in sequences",
                           {.least = 1, .most = 256, .quick = 16});
             arguments.add("--context", shorter,
                           "The longest opening of them, in tokens",
                           {.least = 4, .most = 1000, .quick = 24});
             arguments.add("--long", longer,
                           "The longest opening of up to 16 sequences, in tokens",
                           {.least = 4, .most = 1000, .quick = 96});
             arguments.add("--beats", beats, "Tokens that each sequence writes",
                           {.least = 1, .most = 100, .quick = 3});
         }});
}
