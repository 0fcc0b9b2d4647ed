// What a cache of keys and values saves, and what it costs
//
// To write a token, a model attends to everything before it. It can compute all of
// that anew each time, or keep the keys and values of every position and compute
// only what is new. Both ways write the same text. How much faster is the second
// one, for a text three times as long?
//
//     A  the same: three times as much text is three times as much work for both
//     B  more than before: without a cache, the work grows with the square
//     C  less than before: the cache grows, and must be read at every token
//     D  no faster at all: the weights must be fetched for every token anyway

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"

int n_short = 256, n_long = 768;  // --short, --long: tokens to write

// One text, written twice
// -----------------------
// Both writers start from one token and always take the best candidate. The first
// keeps its cache. The second throws it away and hands the model the whole text
// again, for every single token: that is life without a KV cache, and it takes one
// line.

struct Written {
    std::vector<gpt2::Token> text;  // begins with the token that was given
    std::vector<float> logits;      // the last row
    std::vector<double> seconds;    // for each token written: from the start
};

// [with_cache]
Written with_cache(gpt2::Model& model, gpt2::Token first, int n) {
    Written written{{first}, {}, {}};
    const lab::Stopwatch watch;
    gpt2::KvCache cache = model.new_cache();
    for (int i = 0; i < n; ++i) {
        const gpt2::Logits logits = model.forward({&written.text.back(), 1}, cache);
        written.text.push_back(gpt2::argmax(logits[0]));
        written.logits.assign(logits[0].begin(), logits[0].end());
        written.seconds.push_back(watch.seconds());
    }
    return written;
}
// [with_cache]

// [without_cache]
Written without_cache(gpt2::Model& model, gpt2::Token first, int n) {
    Written written{{first}, {}, {}};
    const lab::Stopwatch watch;
    for (int i = 0; i < n; ++i) {
        gpt2::KvCache empty = model.new_cache();
        const gpt2::Logits logits = model.forward(written.text, empty);
        written.text.push_back(gpt2::argmax(logits[0]));
        written.logits.assign(logits[0].begin(), logits[0].end());
        written.seconds.push_back(watch.seconds());
    }
    return written;
}
// [without_cache]

// What should happen
// ------------------
// With a cache, step i runs one token behind i others. Without, it runs all i + 1.
// The sum of 1 ... n is n (n + 1) / 2: this is where the square comes from.

// [predict]
struct Predicted {
    ledger::Seconds with = 0, without = 0;
};

Predicted predict(const ledger::Engine& engine, int n) {
    Predicted sum;
    for (int i = 0; i < n; ++i) {
        sum.with += engine.forward({.tokens = 1, .past = i, .rows = 1});
        sum.without += engine.forward({.tokens = i + 1, .past = 0, .rows = 1});
    }
    return sum;
}
// [predict]

std::pair<Written, Written> compare(lab::Experiment& lab, gpt2::Model& model,
                                    const std::string& id, int n) {
    const gpt2::Token first = lab.text("article.txt", 1)[0];
    Written cached, uncached;
    const lab::Measured with =
        lab.time([&] { cached = with_cache(model, first, n); });
    lab.row(id + "_with_seconds", fmt::format("{} tokens with a cache", n), "s",
            predict(lab.engine(), n).with, with);
    const lab::Measured without =
        lab.time([&] { uncached = without_cache(model, first, n); });
    lab.row(id + "_without_seconds", fmt::format("{} tokens without", n), "s",
            predict(lab.engine(), n).without, without);
    lab.ratio(id, fmt::format("what it saves at {}", n), id + "_without_seconds",
              id + "_with_seconds");

    // The two must not only choose the same tokens. The scores that led to the last
    // choice, one for every token of the vocabulary, must be equal bit by bit.
    const auto differ = lab::differing_floats(cached.logits, uncached.logits);
    lab.check(id + "_same", fmt::format("both ways write the same {} tokens", n),
              cached.text == uncached.text);
    lab.check(id + "_logits", "their last logits differ by exactly 0", differ == 0,
              fmt::format("{} floats differ", differ));
    return {cached, uncached};
}

void kv_cache(lab::Experiment& lab) {
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const Predicted small = predict(lab.engine(), n_short);
    const Predicted large = predict(lab.engine(), n_long);
    lab.expect({small.with, small.without, large.with, large.without});
    compare(lab, *model, "cache_256", n_short);
    const auto [cached, uncached] = compare(lab, *model, "cache_768", n_long);

    // How the two drift apart: their last runs, at 48 places or so.
    std::vector<lab::Cells> elapsed;
    const std::size_t step = std::max(1, n_long / 48);
    for (std::size_t tokens = step; tokens <= cached.seconds.size(); tokens += step)
        elapsed.push_back({double(tokens), cached.seconds[tokens - 1],
                           uncached.seconds[tokens - 1]});
    lab.exhibit("elapsed", {"tokens", "with_seconds", "without_seconds"}, elapsed);

    // What it costs
    // -------------
    // The cache is not free: a key and a value for every layer, head and position. A
    // token leaves 36 KiB behind in half precision. That sounds like little, until a
    // large model keeps a long text: then a single reader's cache weighs as much as
    // the model itself. Chapters 08 and 16 come back to this.

    // [bytes]
    const gpt2::Config& config = model->config();
    using gpt2::DType;
    const auto per_token = double(ledger::kv_bytes_per_token(config, DType::f16));
    lab.note("kv_per_token_f32", "cache per token, f32",
             double(ledger::kv_bytes_per_token(config, DType::f32)), "bytes");
    lab.note("kv_per_token", "cache per token, f16", per_token, "bytes");
    lab.note("kv_full", "a full context, f16", per_token * config.n_ctx, "bytes");
    const auto large_model =
        double(ledger::kv_bytes_per_token(32, 8, 128, DType::f16));
    lab.note("kv_8b_per_token", "an 8B model: 32 layers, 8 KV heads of 128",
             large_model, "bytes");
    lab.note("kv_8b_128k", "the 8B model at 128K tokens", large_model * 128 * 1024,
             "bytes");
    // [bytes]

    // The ledger's figure is arithmetic. The cache itself must agree with it.
    gpt2::KvCache cache = model->new_cache();
    model->forward(lab.text("article.txt", 100), cache, gpt2::Rows::none);
    const auto expected =
        100 * std::size_t(ledger::kv_bytes_per_token(config, lab.options().kv));
    lab.check("kv_bytes", "the cache holds as many bytes as the ledger says",
              cache.bytes() == expected,
              fmt::format("{} bytes for 100 tokens", cache.bytes()));

    lab.keep(
        "The cache turns a square into a line: compute each position once, remember "
        "it, and pay in memory.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "05_kv_cache",
         .title = "What a cache of keys and values saves, and what it costs",
         .question = "How much faster is writing when nothing is computed twice?",
         .experiment = kv_cache,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--short", n_short, "Tokens of the shorter text",
                           {.least = 1, .most = 1023, .quick = 24});
             arguments.add("--long", n_long, "Tokens of the longer text",
                           {.least = 1, .most = 1023, .quick = 72});
         }});
}
