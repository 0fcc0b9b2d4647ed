// Waiting: a first token, then a beat
//
// You hand in a question, you wait, and then the answer arrives at a steady pace.
// Whoever has waited for a long answer wants to know what to change. Ask for an
// answer twice as long, or hand in twice as much to read: which of the two doubles
// the wait?
//
//     A  both
//     B  only the longer answer
//     C  only the longer question
//     D  neither: it depends on how hard the words are

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "gpt2/error.hpp"
#include "gpt2/generate.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/surprise.hpp"
#include "lab/writing.hpp"

int input = 100, output = 100;  // --input, --output: tokens
int longest = 1000;             // --context: positions behind which the beat is felt
constexpr int few = 23;         // tokens written there

using Tokens = std::span<const gpt2::Token>;

// What should happen
// ------------------
// The prompt is one forward pass, however long it is. Its last row gives the first
// token. Each further token is a pass of its own over the token before it.

// [predict]
ledger::Seconds predict(const ledger::Engine& engine, int in, int out) {
    ledger::Seconds sum = engine.forward({.tokens = in, .past = 0, .rows = 1});
    for (int i = 0; i < out - 1; ++i)
        sum += engine.forward({.tokens = 1, .past = in + i, .rows = 1});
    return sum;
}
// [predict]

// The reader's view: '#' while the prompt is read, '|' where tokens arrive.
std::string timeline(const gpt2::Generation& written, double seconds_per_column) {
    const auto column = [&](double at) {
        return std::size_t(at / seconds_per_column);
    };
    std::string line(column(written.seconds.back()) + 1, '.');
    for (const double at : written.seconds) line[column(at)] = '|';
    std::fill_n(line.begin(), column(written.first_token()) + 1, '#');
    return line;
}

// Twice the output, twice the input
// ---------------------------------
// `generate` stamps every token with the time at which it was known: the first stamp
// is the wait for the first token, the last one the whole wait. The three are
// written in turns, again and again: should memory change its pace, it does so for
// all.

lab::Writing double_it(lab::Experiment& lab, gpt2::Model& model, Tokens text,
                       const gpt2::GenerateOptions& once) {
    gpt2::GenerateOptions twice = once;
    twice.max_tokens = 2 * output;

    // [double]
    std::vector<gpt2::Generation> bases, outs, ins;
    const auto write = [&](int in, const gpt2::GenerateOptions& options) {
        gpt2::KvCache cache = model.new_cache();
        return gpt2::generate(model, cache, text.first(in), options);
    };
    const lab::Measured turns = lab.time([&] {
        bases.push_back(write(input, once));
        outs.push_back(write(input, twice));
        ins.push_back(write(2 * input, once));
    });
    // [double]
    const lab::Writing base = lab::last_runs(std::move(bases), turns.runs),
                       more_out = lab::last_runs(std::move(outs), turns.runs),
                       more_in = lab::last_runs(std::move(ins), turns.runs);

    const double column = more_out.runs.back().seconds.back() / 64;
    const auto show = [&](int in, int out, const lab::Writing& wait) {
        fmt::print("{:>5} in {:>4} out  {}\n", in, out,
                   timeline(wait.runs.back(), column));
    };
    fmt::print("\n");
    show(input, output, base);
    show(input, 2 * output, more_out);
    show(2 * input, output, more_in);

    const ledger::Engine& engine = lab.engine();
    std::vector<lab::Cells> waits;
    const auto row = [&](const char* id, int in, int out, const lab::Writing& wait) {
        waits.push_back(
            {double(in), double(out), wait.first_token().median, wait.total.median});
        lab.row(id, fmt::format("{} in, {} out", in, out), "s",
                predict(engine, in, out), wait.total);
    };
    row("wait", input, output, base);
    row("wait_double_output", input, 2 * output, more_out);
    row("wait_double_input", 2 * input, output, more_in);
    lab.exhibit("timeline",
                {"tokens_in", "tokens_out", "first_token_seconds", "total_seconds"},
                waits);
    lab.ratio("double_output", "wait for twice the output", "wait_double_output",
              "wait");
    lab.ratio("double_output_input", "wait for twice the input", "wait_double_input",
              "wait");

    // A longer answer is the short one, continued.
    const std::vector<gpt2::Token>& brief = base.runs.front().tokens;
    const std::vector<gpt2::Token>& full = more_out.runs.front().tokens;
    lab.check("double_output_counts", "each answer has as many tokens as were asked",
              brief.size() == std::size_t(output) && full.size() == 2 * brief.size(),
              fmt::format("{} and {}", brief.size(), full.size()));
    lab.check("double_output_same", "the longer answer begins with the shorter one",
              std::ranges::equal(brief, Tokens(full).first(brief.size())));
    return base;
}

// Is one token harder than another?
// ---------------------------------
// People pause before a difficult word. Does the model? Surprise says how hard a
// token was to foresee: -log2 of its probability, in bits. Reading the finished text
// once more gives all of them in one pass. Now take the quarter of tokens that
// surprised least, the quarter that surprised most, and compare their beats. The
// ledger never asks which token it is: it predicts one beat for all.

void beat(lab::Experiment& lab, gpt2::Model& model, Tokens prompt,
          const lab::Writing& wait, const gpt2::Sampler& sampler) {
    const std::vector<gpt2::Token>& answer = wait.runs.front().tokens;
    std::vector<gpt2::Token> text(prompt.begin(), prompt.end());
    text.insert(text.end(), answer.begin(), answer.end());

    // [surprise]
    gpt2::KvCache cache = model.new_cache();
    const gpt2::Logits tables = model.forward(text, cache, gpt2::Rows::all);
    std::vector<double> bits;
    int same = 0;
    for (int i = 0; i < output; ++i) {
        const auto table = tables[input + i - 1];
        bits.push_back(lab::surprise(table, answer[i]));
        same += sampler.pick(table, 0, input + i) == answer[i];
    }
    std::vector<int> order(output - 1);  // the first token ends no gap
    std::iota(order.begin(), order.end(), 1);
    std::ranges::sort(order, {}, [&](int i) { return bits[i]; });
    // [surprise]

    const ledger::Engine& engine = lab.engine();
    lab.row("first_token_wait", fmt::format("first token, behind {}", input), "s",
            engine.forward({.tokens = input, .past = 0, .rows = 1}),
            wait.first_token());

    // [groups]
    const auto group = [&](const char* id, const char* name,
                           std::span<const int> members) {
        double sum = 0;
        std::vector<double> seconds;
        for (const int i : members) {
            sum += bits[i];
            for (const gpt2::Generation& run : wait.runs)
                seconds.push_back(lab::beats(run)[i - 1]);  // ends with token i
        }
        const std::string mean = lab::number(sum / double(members.size()));
        lab.row(id, fmt::format("beat, {}: {} bits", name, mean), "s",
                engine.forward({.tokens = 1, .past = input + output / 2, .rows = 1}),
                lab::summarize(seconds));
    };
    const std::size_t quarter = std::max<std::size_t>(1, order.size() / 4);
    group("beat", "all tokens", order);
    group("beat_easy", "surest", std::span(order).first(quarter));
    group("beat_hard", "least sure", std::span(order).last(quarter));
    // [groups]
    lab.ratio("hard_over_easy", "least sure over surest", "beat_hard", "beat_easy");

    // Reading gives the very tables that writing drew from: the same draw from each
    // must give the same token.
    lab.check("beat_same_tables",
              "read again in one pass, each table gives its token", same == output,
              fmt::format("{} of {} tokens", same, output));
}

// A longer context, a slower beat
// -------------------------------
// One thing does change the beat. Every token attends to all before it, so their
// keys and values must come from memory too, on top of the weights.

void context(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const std::pair<const char*, int> places[] = {
        {"beat_short", 10},           {"", longest / 10},    {"", longest / 4},
        {"beat_middle", longest / 2}, {"", longest * 3 / 4}, {"beat_long", longest}};
    std::vector<lab::Cells> slope;
    const ledger::Engine& engine = lab.engine();
    const gpt2::Config& config = model.config();
    bool agree = true;
    std::vector<gpt2::KvCache> caches;
    for (const auto& [id, past] : places) {
        caches.push_back(model.new_cache());
        model.forward(text.first(past), caches.back(), gpt2::Rows::none);
        agree &=
            caches.back().bytes() ==
            past * std::size_t(ledger::kv_bytes_per_token(config, lab.options().kv));
    }
    // [context]
    std::vector<std::vector<gpt2::Generation>> written(std::size(places));
    const lab::Measured turns = lab.time([&] {
        for (std::size_t i = 0; i < std::size(places); ++i) {
            gpt2::KvCache cache = caches[i].fork();
            const Tokens next = text.subspan(places[i].second, 1);
            written[i].push_back(
                gpt2::generate(model, cache, next, {.max_tokens = few}));
        }
    });
    // [context]
    for (std::size_t i = 0; i < std::size(places); ++i) {
        const auto& [id, past] = places[i];
        const ledger::Seconds predicted =
            engine.forward({.tokens = 1, .past = past + few / 2, .rows = 1});
        const lab::Measured beat =
            lab::last_runs(std::move(written[i]), turns.runs).beat();
        slope.push_back({double(past), predicted, beat.median});
        if (*id)  // three rows are enough to read
            lab.row(id, fmt::format("beat behind {}", lab::number(past)), "s",
                    predicted, beat);
    }
    lab.exhibit("context", {"past", "predicted_seconds", "measured_seconds"}, slope);
    lab.ratio("context_slows",
              fmt::format("behind {} over behind 10", lab::number(longest)),
              "beat_long", "beat_short");

    // The bytes of one beat: the weights always, the cache as long as the context
    // is.
    lab.note("weight_bytes", "weights fetched for every token",
             double(ledger::weight_bytes(config, lab.options().dtype)), "bytes");
    for (const gpt2::DType kv : {gpt2::DType::f32, gpt2::DType::f16})
        lab.note(fmt::format("cache_bytes_{}", gpt2::name_of(kv)),
                 fmt::format("cache fetched behind {}, {}", lab::number(longest),
                             gpt2::name_of(kv)),
                 double(longest) * double(ledger::kv_bytes_per_token(config, kv)),
                 "bytes");
    lab.check("context_bytes", "each cache weighs what the ledger says", agree);
}

// Streaming
// ---------
// Most programs show each token as it comes. That changes when you start reading,
// not when the answer is done.

void stream(lab::Experiment& lab, gpt2::Model& model, Tokens prompt,
            const gpt2::GenerateOptions& options) {
    // [stream]
    std::string screen;
    std::vector<gpt2::Generation> silent, streamed;
    const lab::Measured turns = lab.time([&] {
        gpt2::KvCache unseen = model.new_cache(), cache = model.new_cache();
        silent.push_back(gpt2::generate(model, unseen, prompt, options));
        screen.clear();
        gpt2::StreamDecoder decoder(lab.tokenizer());
        streamed.push_back(
            gpt2::generate(model, cache, prompt, options, [&](gpt2::Token t) {
                screen += decoder.push(t);
                return true;
            }));
        screen += decoder.finish();
    });
    // [stream]
    const ledger::Seconds predicted = predict(lab.engine(), input, output);
    lab.check("stream_same", "streamed or not, the same tokens",
              streamed.back().tokens == silent.back().tokens);
    lab.check("stream_whole", "the streamed pieces join to the whole text",
              screen == lab.tokenizer().decode(streamed.back().tokens));
    lab.row("wait_silent", "the same answer, all at once", "s", predicted,
            lab::last_runs(std::move(silent), turns.runs).total);
    lab.row("wait_streamed", "the same answer, streamed", "s", predicted,
            lab::last_runs(std::move(streamed), turns.runs).total);
    lab.ratio("stream_total", "streamed over all at once", "wait_streamed",
              "wait_silent");
}

void waiting(lab::Experiment& lab) {
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const int most =
        std::max({2 * input + output, input + 2 * output, longest + 1 + few});
    if (most > model->config().n_ctx)
        throw gpt2::BadInput(fmt::format(
            "--input, --output, --context: they ask for {} positions, but the "
            "context has {}",
            most, model->config().n_ctx));
    const std::vector<gpt2::Token> text =
        lab.text("article.txt", std::max(2 * input, longest + 1));

    const ledger::Engine& engine = lab.engine();
    const ledger::Seconds once = predict(engine, input, output);
    lab.expect({once + predict(engine, input, 2 * output) +
                    predict(engine, 2 * input, output),
                2 * once});

    // Drawn, not always the best: an answer with sure tokens and surprising ones.
    const gpt2::Sampler sampler(
        {.temperature = 1, .top_k = 40, .seed = lab.options().seed});
    const gpt2::GenerateOptions options{.max_tokens = output, .sampler = sampler};
    const lab::Writing base = double_it(lab, *model, text, options);
    beat(lab, *model, Tokens(text).first(input), base, sampler);
    context(lab, *model, text);
    stream(lab, *model, Tokens(text).first(input), options);
    lab.headline("double_output");

    lab.keep(
        "What you wait for is the answer, token by token; the question is read "
        "in one go.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "06_waiting",
         .title = "Waiting: a first token, then a beat",
         .question = "What makes the wait longer: more to read, or more to write?",
         .experiment = waiting,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--input", input, "Tokens of the prompt",
                           {.least = 1, .most = 500, .quick = 16});
             arguments.add("--output", output, "Tokens of the answer",
                           {.least = 2, .most = 500, .quick = 8});
             arguments.add("--context", longest, "The longest context, in tokens",
                           {.least = 20, .most = 1000, .quick = 120});
         }});
}
