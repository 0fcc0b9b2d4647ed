// Two ceilings: the bytes and the arithmetic of a token
//
// A forward pass has two things to do: fetch numbers, and multiply them. A machine
// has a ceiling for each. Suppose writing is too slow on yours, and you may change
// one thing. What brings the next token sooner?
//
//     A  a processor with twice the arithmetic
//     B  weights of half as many bytes
//     C  a prompt of half the length
//     D  a model of the same size that knows less

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/roofline.hpp"
#include "lab/surprise.hpp"
#include "lab/table.hpp"
#include "lab/writing.hpp"

int n = 512, beats = 16, words = 120;  // --tokens, --beats, --words
constexpr int opening = 16;            // tokens before the words

// Every operation, under its ceiling
// ----------------------------------
// Divide an operation's FLOPs by its bytes: that is its intensity. Divide the
// machine's FLOPs per second by its bytes per second: that is its ridge. Below the
// ridge the multipliers wait for memory; above it, memory waits for the multipliers.
// Drawn as a graph this is called the roofline (Williams, Waterman and Patterson
// 2009). A column of the table says the same.

// [roofline]
void roofline(const ledger::Engine& engine, const ledger::Step& step) {
    fmt::print("\nTokens: {}, behind {}. The ridge: {} FLOPs a byte.\n\n{}",
               step.tokens, step.past, lab::number(engine.machine().ridge()),
               lab::operations_table(engine, step).text());
}
// [roofline]

// The roofline, measured
// ----------------------
// One pass each over 1, 2, 4 ... tokens. Their bytes are nearly the same, since the
// weights make one trip for all of them; their FLOPs double. So a second token
// should cost next to nothing, and a third and a fourth, until the multipliers have
// as much to do as memory. From there on time doubles with the tokens.

// [passes]
void passes(lab::Experiment& lab, gpt2::Model& model) {
    const ledger::Engine& engine = lab.engine();
    const std::vector<gpt2::Token> text = lab.text("article.txt", n);
    lab::Table table({{"tokens", 6, true},
                      {"FLOPs a byte", 12, true},
                      {"predicted", 12, true},
                      {"measured", 12, true},
                      {"arithmetic", 16, true}});
    std::vector<lab::Cells> points;
    for (int tokens = 1; tokens <= n; tokens *= 2) {
        const ledger::Step step{.tokens = tokens, .past = 0, .rows = 1};
        const auto operations = engine.operations({&step, 1});
        const double flops = ledger::total_flops(operations);
        const double bytes = ledger::total_bytes(operations);
        const lab::Measured pass = lab.time(
            [&] {
                gpt2::KvCache cache = model.new_cache();
                model.forward(std::span(text).first(std::size_t(tokens)), cache);
            },
            0.1);
        table.add({lab::number(tokens), lab::number(flops / bytes),
                   lab::quantity(engine.forward(step), "s"),
                   lab::quantity(pass.median, "s"),
                   lab::quantity(flops / pass.median, "FLOP/s")});
        points.push_back({double(tokens), flops, bytes, pass.median});
    }
    fmt::print("\nWhole passes of 1 to {} tokens.\n\n{}", n, table.text());
    lab.exhibit("roofline", {"tokens", "flops", "bytes", "seconds"}, points);
}
// [passes]

// A model's pace
// --------------
// One model, timed and freed: how fast it reads n tokens, and how fast it writes
// behind them. The first token written comes with the reading; each further one is a
// beat.

// [pace]
struct Pace {
    std::string id;                   // of its two rows: read_<id>, write_<id>
    std::vector<gpt2::Token> tokens;  // what it wrote
};

Pace pace(lab::Experiment& lab, std::unique_ptr<gpt2::Model> model,
          const std::vector<std::string_view>& names) {
    const ledger::Engine& engine = lab.engine();
    const auto read = [&] {
        return engine.forward({.tokens = n, .past = 0, .rows = 1});
    };
    const auto beat = [&] {
        return engine.forward({.tokens = 1, .past = n + beats / 2, .rows = 1});
    };
    lab.expect({read() + beats * beat()});

    const lab::Writing writing = lab::time_writing(
        lab, *model, lab.text("article.txt", n), {.max_tokens = beats + 1});
    std::string id = fmt::format("{}", fmt::join(names, "_"));
    std::ranges::replace(id, ' ', '_');
    const std::string what = fmt::format("{}", fmt::join(names, ", "));
    lab.row("read_" + id, "reading: " + what, "token/s", n / read(),
            n / writing.first_token());
    lab.row("write_" + id, "writing: " + what, "token/s", 1 / beat(),
            1 / writing.beat());
    return {id, writing.runs.back().tokens};
}
// [pace]

// Fewer bytes
// -----------
// In half precision, f16 or bf16, a weight has two bytes for four. As an int8 it has
// one, and an eighth: 32 of them share a scale of four bytes. The multiplications
// stay: each weight is widened to 32 bits on its way into the multipliers. So
// writing, which waits for bytes, should gain nearly twice, or over three times.
// Reading, which does not, should gain nothing, and may lose a little to the
// widening.

// [bytes]
using gpt2::DType, gpt2::name_of;
constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::int8};

void fewer_bytes(lab::Experiment& lab, const Pace& base) {
    const DType own = lab.options().dtype;
    const std::string shape = lab.options().shape;
    const gpt2::Config config =
        gpt2::load_config(lab.options().model, {.shape = shape});
    for (const DType dtype : dtypes) {
        lab.note(fmt::format("bytes_{}", name_of(dtype)),
                 fmt::format("the weights in {}", name_of(dtype)),
                 double(ledger::weight_bytes(config, dtype)), "bytes");
        if (dtype == own || (lab.quick() && dtype == DType::bf16)) continue;
        pace(lab, lab.load_model({.dtype = dtype}), {shape, name_of(dtype)});
    }
    const auto gain = [&](const std::string& id, DType dtype) {
        if (dtype == own) return;
        const std::string changed = fmt::format("{}_{}", shape, name_of(dtype));
        const std::string over =
            fmt::format("{} over {}", name_of(dtype), name_of(own));
        lab.ratio(id + "_read", "reading, " + over, "read_" + changed,
                  "read_" + base.id);
        lab.ratio(id + "_write", "writing, " + over, "write_" + changed,
                  "write_" + base.id);
    };
    gain("dtype", own == DType::f16 ? DType::f32 : DType::f16);
    gain("int8", DType::int8);
    lab.headline("dtype_write");
}
// [bytes]

// What a byte less costs
// ----------------------
// Rounded weights make another model. Let each read one text at the trained model's
// own shape, and compare every token's log-probability with that in f32: how far it
// moved, on average and at most, and by how much the perplexity rose, which is 2 to
// the mean surprise. The same for a cache in half precision.

void left_out(const std::string& what, const std::string& reason) {
    fmt::print("left out {}: {}\n", what, reason);
}

// [cost]
void cost_of_rounding(lab::Experiment& lab) {
    if (lab.options().model == "random")
        return left_out("what rounding costs", "it needs a trained model");
    const auto read = [&](const std::string& id, DType dtype, DType kv) {
        const auto model =
            lab.load_model({.shape = "own", .dtype = dtype, .kv = kv});
        const std::vector<gpt2::Token> text =
            lab.text("article.txt",
                     std::min(lab.quick() ? 256 : 1024, model->config().n_ctx));
        lab.check("bits_" + id, id + ": at once or one by one, the same bits",
                  lab::same_logits(*model, std::span(text).first(text.size() / 16)));
        return lab::surprises(*model, text);
    };
    const std::vector<double> exact = read("f32", DType::f32, DType::f32);
    const auto compare = [&](const std::string& id, const std::string& what,
                             DType dtype, DType kv) {
        const lab::Shift shift = lab::shift(exact, read(id, dtype, kv));
        const auto row = [&](const char* which, const char* said, double value,
                             const char* unit) {
            lab.row("cost_" + id + which, what + said, unit, {},
                    lab::summarize({value}));
        };
        row("_mean", ": log-probability shifts", shift.mean, "bits");
        row("_max", ": largest shift", shift.most, "bits");
        row("_perplexity", ": perplexity rises", 100 * (shift.perplexity - 1), "%");
    };
    for (const DType dtype : {DType::f16, DType::bf16, DType::int8}) {
        const std::string name{name_of(dtype)};
        compare(name, name, dtype, DType::f32);
    }
    compare("kv_f16", "f16 cache", DType::f32, DType::f16);
}
// [cost]

// More arithmetic
// ---------------
// One thread against all of them. Arithmetic grows with every core. Memory is
// shared: on most machines a few cores can ask for all that it gives. One core alone
// often cannot, so writing gains something too. How much, the ceilings of one thread
// say, measured like those of all.

// [threads]
void more_arithmetic(lab::Experiment& lab, const Pace& all) {
    if (lab.threads() == 1) return left_out("one thread against all", "1 is all");
    const std::string_view dtype = name_of(lab.options().dtype);
    const Pace one = pace(lab, lab.load_model({.threads = 1}),
                          {lab.options().shape, dtype, "one thread"});
    lab.ratio("threads_read", "reading, all threads over one", "read_" + all.id,
              "read_" + one.id);
    lab.ratio("threads_write", "writing, all threads over one", "write_" + all.id,
              "write_" + one.id);
    lab.ratio("more_compute", "what reading gains over what writing gains",
              "threads_read", "threads_write");
    lab.check("threads_same", "one thread and all write the same tokens",
              one.tokens == all.tokens);
}
// [threads]

// Larger models
// -------------
// The small trained model, widened to the shapes of larger ones: the same function,
// for every byte and every FLOP of the real thing. A larger model writes more slowly
// because more bytes must move, and for no other reason.

// [sizes]
void larger_models(lab::Experiment& lab, const Pace& base) {
    const lab::Options& options = lab.options();
    const auto memory = double(lab.results().machine.memory_bytes);
    std::vector<std::string> shapes{"small", "medium", "large"}, ran;
    if (lab.quick()) shapes.pop_back();
    for (const std::string& shape : shapes) {
        const auto bytes =
            double(ledger::weight_bytes(gpt2::preset(shape), options.dtype));
        if (shape == options.shape) {
            ran.push_back(base.id);
        } else if (memory > 0 && bytes > memory / 2) {
            left_out(shape, "it needs " + lab::quantity(bytes, "bytes") +
                                ", over half of the memory");
        } else {
            try {
                ran.push_back(pace(lab, lab.load_model({.shape = shape}),
                                   {shape, name_of(options.dtype)})
                                  .id);
            } catch (const gpt2::BadInput& refused) {
                left_out(shape, refused.what());
            }
        }
    }
    if (ran.size() > 1)
        lab.ratio("smaller_faster", "writing, the smallest over the largest",
                  "write_" + ran.front(), "write_" + ran.back());
}
// [sizes]

// The same words
// --------------
// The trained model at its own shape, and widened: one text, token for token. What
// the words are worth does not show in their cost; the bytes do. Memory's ceiling
// predicts the wide one. The narrow one's few weights fit into the caches of most
// processors. There they stay, do not come from memory, and memory's ceiling is
// none. What the cache gives was measured as well, and the ledger takes that
// instead.

// [words]
struct Words {
    std::vector<gpt2::Token> tokens;
    double bytes;  // moved for one of them, halfway
};

Words write_words(lab::Experiment& lab, const std::string& shape) {
    // In f32: the wide model has thirds of the narrow one's weights, and in half
    // precision two roundings may choose two words.
    const auto model =
        lab.load_model({.shape = shape, .dtype = DType::f32, .kv = DType::f32});
    gpt2::KvCache cache = model->new_cache();
    gpt2::Generation written = gpt2::generate(
        *model, cache, lab.text("article.txt", opening), {.max_tokens = words});
    const ledger::Step halfway{.tokens = 1, .past = opening + words / 2, .rows = 1};
    lab.row("beat_" + shape, "beat of the same words: " + shape, "s",
            lab.engine().forward(halfway), lab::summarize(lab::beats(written)));

    // The end of a text is a vocabulary's last token. Neither model stops there.
    std::ranges::replace(written.tokens, model->config().n_vocab - 1,
                         lab.tokenizer().end_of_text());
    return {written.tokens, lab.engine().bytes_per_token(halfway)};
}

void same_words(lab::Experiment& lab) {
    const std::string shape = lab.options().shape;
    if (gpt2::load_config(lab.options().model) == gpt2::preset(shape))
        return left_out("the same words", shape + " is the model's own shape");
    const Words narrow = write_words(lab, "own"), wide = write_words(lab, shape);
    fmt::print("\nBoth wrote:{}\n", lab.tokenizer().decode(wide.tokens));
    lab.check("same_words", "both shapes write the same text, token for token",
              narrow.tokens == wide.tokens,
              lab::quantity(double(wide.tokens.size()), "tokens"));

    lab.ratio("same_words_cost", "the wide beat over the narrow", "beat_" + shape,
              "beat_own");
    lab.note("word_bytes_own", "bytes for a word, own shape", narrow.bytes, "bytes");
    lab.note("word_bytes", "bytes for the same word, " + shape, wide.bytes, "bytes");
    lab.note("word_bytes_ratio", "their ratio", wide.bytes / narrow.bytes, "times");
    fmt::print(
        "\nThe narrow model has {} to move for a token. Where a processor's\n"
        "last cache holds them, they do not come from memory.\n",
        lab::quantity(narrow.bytes, "bytes"));
}
// [words]

// What the course printed
// -----------------------
// GPT-2 small, whatever model runs here. A token's FLOPs are twice the weights that
// it meets: 170 million. Attention and the 50,257 scores make it 266 million.

// [figures]
void figures(lab::Experiment& lab) {
    const gpt2::Config small = gpt2::preset("small");
    const ledger::Engine engine(small, DType::f32, DType::f32, lab.machine());
    const ledger::Step token{};
    double body = 0;
    for (const ledger::Operation& operation : engine.operations({&token, 1}))
        if (operation.name != "attention" && operation.name != "head")
            body += operation.flops;
    const auto figure = [&](const char* id, const char* what, double value,
                            const char* unit) {
        lab.note(id, what, value, unit);
        lab.check_published(id, value);
    };
    figure("params_body", "GPT-2 small's parameters, embeddings left out",
           double(gpt2::body_parameters(small)) / 1e6, "million");
    figure("weights_f32", "its weights in f32",
           double(ledger::weight_bytes(small, DType::f32)) / 1e6, "MB");
    figure("flops_body", "FLOPs of a token, body alone", body / 1e6, "million");
    figure("flops_token", "with attention over 1,024 and the head",
           engine.flops_per_token(1024) / 1e6, "million");

    // The same division for a machine one can rent: 140 GB of weights, 2 TB/s. The
    // course's page prints microseconds. They are milliseconds, and the 14 tokens a
    // second beside them are right.
    const ledger::Machine rented{2e12, std::numeric_limits<double>::infinity(), 1};
    const ledger::Seconds least = ledger::predict({"weights", 1, 0, 140e9}, rented);
    figure("floor_140", "140 GB at 2 TB/s: least time of a token", least * 1e3,
           "ms");
    figure("floor_140_rate", "140 GB at 2 TB/s: most tokens", 1 / least, "token/s");
}
// [figures]

void two_ceilings(lab::Experiment& lab) {
    const std::string shape = lab.options().shape;
    auto model = lab.load_model();
    if (std::max(n + beats + 1, opening + words) > model->config().n_ctx)
        throw gpt2::BadInput(fmt::format(
            "--tokens, --beats, --words: expected at most {} positions, found {}",
            model->config().n_ctx, std::max(n + beats + 1, opening + words)));

    // Read n tokens for the sake of the one that follows, then write it. A token
    // costs about the same FLOPs either way; of the bytes, reading shares one trip.
    // Two rows of the first table are worth a look. The head works as it does in
    // writing, because only the last position is asked for scores. Attention moves
    // no bytes of its own: the keys and values it needs were made a moment ago.
    const ledger::Engine& engine = lab.engine();
    roofline(engine, {.tokens = n, .past = 0, .rows = 1});
    roofline(engine, {.tokens = 1, .past = n, .rows = 1});
    const ledger::Step every_row{.tokens = n, .past = 0, .rows = n};
    const double at_once = ledger::total_flops(engine.operations({&every_row, 1}));
    double one_by_one = 0;
    for (int past = 0; past < n; ++past) {
        const ledger::Step step{.tokens = 1, .past = past, .rows = 1};
        one_by_one += ledger::total_flops(engine.operations({&step, 1}));
    }
    lab.check("same_flops", "with all scores, reading costs the FLOPs of writing",
              one_by_one == at_once,
              fmt::format("{} for {} tokens", lab::number(one_by_one), n));
    lab.note("beat_bytes", fmt::format("bytes for a beat, behind {}", n + beats / 2),
             engine.bytes_per_token({.tokens = 1, .past = n + beats / 2, .rows = 1}),
             "bytes");
    passes(lab, *model);
    fmt::print("\n");

    // One model at a time: the large ones need the memory.
    const Pace base =
        pace(lab, std::move(model), {shape, name_of(lab.options().dtype)});
    fewer_bytes(lab, base);
    cost_of_rounding(lab);
    more_arithmetic(lab, base);
    if (shape == "own" || lab.options().model == "random") {
        left_out("larger models, and the same words at their cost",
                 "they need a trained model that --shape widens");
    } else {
        larger_models(lab, base);
        same_words(lab);
    }
    figures(lab);
    lab.keep(
        "Reading is paid in arithmetic, writing in bytes: to write faster, move "
        "fewer.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "07_two_ceilings",
         .title = "Two ceilings: the bytes and the arithmetic of a token",
         .question = "What makes writing faster: more arithmetic, or fewer bytes?",
         .experiment = two_ceilings,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--tokens", n, "Tokens to read",
                           {.least = 1, .most = 1000, .quick = 64});
             arguments.add("--beats", beats, "Tokens to write behind them",
                           {.least = 1, .most = 1000, .quick = 4});
             arguments.add("--words", words, "Tokens to write at two shapes",
                           {.least = 2, .most = 1000, .quick = 40});
         }});
}
