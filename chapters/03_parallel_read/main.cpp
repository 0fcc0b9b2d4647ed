// Every position is read at once
//
// After every token of a text, the model has a table: a score for each token that
// might come next. You write the table for position t down. Then someone changes all
// that stands behind t, every word of it, and the model reads again. What has become
// of your table?
//
//     A  it is another one: the model reads the text as a whole
//     B  it changed a little: words far behind have little weight
//     C  it is the same, to the last bit of every score
//     D  it depends on what the words behind are

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/philox.hpp"
#include "gpt2/reference/reference.hpp"
#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/surprise.hpp"
#include "lab/table.hpp"
#include "lab/visible.hpp"

int longest = 1024;  // --longest: tokens of the longest text
int n = 64;          // --tokens: positions that get a pass each
int tails = 40;      // --tails: how many are tried

using Tokens = std::span<const gpt2::Token>;

// One pass
// --------
// The causal mask lets position t see positions 0 ... t and nothing else. So one
// pass over a text gives the tables of all its positions together. Everything below
// is compared with the tables of this one pass.

// [one_pass]
gpt2::Logits read(gpt2::Model& model, Tokens text) {
    gpt2::KvCache empty = model.new_cache();
    return model.forward(text, empty, gpt2::Rows::all);
}
// [one_pass]

// Change the tail
// ---------------
// Cut the text at some position, put a tail of random length and random tokens
// behind the cut, read it, and compare bits. Up to the cut nothing may differ.
// Behind it tables must differ, or we would have compared nothing.

void change_the_tail(lab::Experiment& lab, gpt2::Model& model, Tokens text,
                     const gpt2::Logits& tables) {
    // A whole number below `limit`; the same for the same seed on every machine.
    const auto random = [&](int trial, int draw, int limit) {
        return int(gpt2::uniform(lab.options().seed, trial, draw) * limit);
    };
    const int vocab = model.config().n_vocab;

    // [tail]
    double same = 0, differ = 0, behind = 0;
    for (int trial = 0; trial < tails; ++trial) {
        const int cut = random(trial, 0, n), tail = 1 + random(trial, 1, n);
        std::vector<gpt2::Token> changed(text.begin(), text.begin() + cut + 1);
        // The first token is another one for certain.
        changed.push_back((text[cut + 1] + 1 + random(trial, 2, vocab - 1)) % vocab);
        for (int i = 1; i < tail; ++i)
            changed.push_back(random(trial, 2 + i, vocab));

        const gpt2::Logits found = read(model, changed);
        for (int t = 0; t < std::min(found.rows(), tables.rows()); ++t) {
            const auto differing = lab::differing_floats(tables[t], found[t]);
            (t <= cut ? differ : behind) += double(differing);
            if (t <= cut) same += double(found.n_vocab() - differing);
        }
    }
    // [tail]
    lab.check("tail_same", "whatever follows, the tables up to there stay the same",
              differ == 0,
              fmt::format("{} tails, {} floats compared, {} differ", tails,
                          lab::number(same + differ), lab::number(differ)));
    lab.check("tail_seen", "the tables behind the change do change", behind > 0,
              fmt::format("{} floats differ", lab::number(behind)));
}

// Looking back
// ------------
// What does a position do with what it may see? In every layer each head spreads a
// weight of 1 over it. Here is one head over one sentence. Most heads of a model are
// hard to put into words. This one we chose after looking at all of them: the one
// that gives most to "boy" from the positions behind him. In the model that comes
// with this book it seems to look for the person in question: at the boy, then at
// "he" as well, and as soon as the woman is there, mostly at her. The engine keeps
// no such weights; the reference computes them, at the shape the model was trained
// at.

const std::string hero = "The boy";
const std::string sentence =
    hero + " went to the house, and there he met an old woman.";

void look_back(lab::Experiment& lab) {
    const lab::Options& options = lab.options();
    const std::string shape = options.model == "random" ? options.shape : "own";
    const auto weights =
        gpt2::open_weights(options.model, {.shape = shape, .seed = options.seed});
    const std::vector<gpt2::Token> tokens = lab.tokenizer().encode(sentence);
    const std::size_t size = tokens.size();
    const std::size_t boy = lab.tokenizer().encode(hero).size() - 1;

    // [attention]
    const std::vector<double> all = gpt2::reference_attention(*weights, tokens);
    const auto weight = [&](std::size_t head, std::size_t query, std::size_t key) {
        return all[(head * size + query) * size + key];
    };
    std::size_t chosen = 0;
    double most = 0;  // what the boy gets, on average
    for (std::size_t head = 0; head < all.size() / (size * size); ++head) {
        double mean = 0;
        for (std::size_t query = boy + 1; query < size; ++query)
            mean += weight(head, query, boy) / double(size - boy - 1);
        if (mean > most) {
            most = mean;
            chosen = head;
        }
    }
    // [attention]

    std::vector<lab::Cells> looks, pieces;
    for (std::size_t query = 0; query < size; ++query) {
        pieces.push_back(
            {double(query), lab::visible(lab.tokenizer().bytes(tokens[query]))});
        for (std::size_t key = 0; key <= query; ++key)
            looks.push_back(
                {double(query), double(key), weight(chosen, query, key)});
    }
    lab.exhibit("attention", {"query", "key", "weight"}, looks);
    lab.exhibit("attention_tokens", {"position", "piece"}, pieces);
    const auto heads = std::size_t(weights->config().n_head);
    lab.note("attention_layer", "the head that looks at the boy: layer, from 0",
             double(chosen / heads));
    lab.note("attention_head", "the head that looks at the boy: head, from 0",
             double(chosen % heads));
    lab.note("attention_boy", "weight that he gets from the positions behind",
             100 * most, "%");
}

// A pass for each position
// ------------------------
// What if a table had to be asked for by itself? Then position t costs a pass over
// the t + 1 tokens up to it, and the tables of n positions cost n passes over
// n (n + 1) / 2 tokens. They are the same tables.

ledger::Seconds predict_one(const ledger::Engine& engine, int tokens) {
    return engine.forward({.tokens = tokens, .past = 0, .rows = tokens});
}

ledger::Seconds predict_each(const ledger::Engine& engine) {
    ledger::Seconds sum = 0;
    for (int i = 1; i <= n; ++i)
        sum += engine.forward({.tokens = i, .past = 0, .rows = 1});
    return sum;
}

void one_pass_or_many(lab::Experiment& lab, gpt2::Model& model, Tokens text,
                      const gpt2::Logits& tables) {
    const lab::Measured one = lab.time([&] { read(model, text.first(n)); });
    lab.row("one_pass", fmt::format("{} tables in one pass", n), "s",
            predict_one(lab.engine(), n), one);
    std::int64_t differ = 0;
    // [each]
    const lab::Measured each = lab.time([&] {
        differ = 0;
        for (int i = 1; i <= n; ++i) {
            gpt2::KvCache empty = model.new_cache();
            const gpt2::Logits table = model.forward(text.first(i), empty);
            differ += lab::differing_floats(tables[i - 1], table[0]);
        }
    });
    // [each]
    lab.row("pass_each", fmt::format("{} tables, a pass each", n), "s",
            predict_each(lab.engine()), each);
    lab.ratio("pass_each_over_one", "a pass each over one", "pass_each", "one_pass");
    lab.check("pass_each_same", "one by one, the same tables", differ == 0,
              fmt::format("{} tables, {} floats differ", n, differ));
}

// Exercises
// ---------
// This is why training is affordable. Each table but the last has an answer: the
// next token of the text. A text of 1,024 tokens is 1,023 exercises, set and solved
// in one pass. The mark is the mean surprise at the answers, in bits: the loss. A
// model that knew nothing would be surprised by log2 of the vocabulary, every time.

void exercises(lab::Experiment& lab, Tokens text, const gpt2::Logits& tables,
               const gpt2::Config& config) {
    // [loss]
    double bits = 0;
    for (int t = 0; t + 1 < longest; ++t)
        bits += lab::surprise(tables[t], text[t + 1]);
    // [loss]
    lab.note("exercises",
             fmt::format("exercises in {} tokens", lab::number(config.n_ctx)),
             config.n_ctx - 1);
    lab.note("loss", fmt::format("loss over {}", lab::number(longest - 1)),
             bits / (longest - 1), "bits");
    lab.note("loss_knows_nothing", "loss of a model that knows nothing",
             std::log2(lab.tokenizer().size()), "bits");
}

// Choose by reading
// -----------------
// Where the answers are given, nothing has to be written. Each ending is read behind
// the same opening, and the one that surprises least is chosen. The opening is read
// once and its cache forked four times, so that one pass over a batch of four reads
// all endings. Against it stands one answer of the same length, written.

const std::string opening =
    "It had rained all night. In the morning the boy went down to the river, and";
const std::array<std::string, 4> given = {
    " the water had carried the old bridge away, so he had to go home again.",
    " he put the river in his pocket and sold it to a fish with seven hats.",
    " the old home had to water away the carried bridge, again so go he had.",
    " the number of the bridge was seven times the rain minus a cup of tea."};

// The table behind the opening judges an ending's first token, the table behind its
// first token judges the second, and so on. The last token's table judges nothing,
// so that token is not read.

// [read_endings]
using Endings = std::span<const std::vector<gpt2::Token>>;

std::vector<double> read_endings(gpt2::Model& model, const gpt2::KvCache& opened,
                                 std::span<const float> first_table,
                                 Endings endings) {
    std::vector<gpt2::KvCache> forks;
    for (std::size_t i = 0; i < endings.size(); ++i) forks.push_back(opened.fork());
    std::vector<gpt2::Step> batch;
    for (std::size_t i = 0; i < endings.size(); ++i)
        batch.push_back({Tokens(endings[i]).first(endings[i].size() - 1), forks[i],
                         gpt2::Rows::all});
    const gpt2::Logits tables = model.forward(batch);

    std::vector<double> bits;
    int row = 0;
    for (const std::vector<gpt2::Token>& ending : endings) {
        double sum = lab::surprise(first_table, ending[0]);
        for (std::size_t i = 1; i < ending.size(); ++i)
            sum += lab::surprise(tables[row++], ending[i]);
        bits.push_back(sum);
    }
    return bits;
}
// [read_endings]

void choose(lab::Experiment& lab, gpt2::Model& model) {
    const std::vector<gpt2::Token> prefix = lab.tokenizer().encode(opening);
    std::vector<std::vector<gpt2::Token>> tokens;
    int most = 0;
    for (const std::string& ending : given) {
        tokens.push_back(lab.tokenizer().encode(ending));
        most = std::max(most, int(tokens.back().size()));
    }
    gpt2::KvCache opened = model.new_cache();
    const gpt2::Logits after = model.forward(prefix, opened);

    // [choose]
    std::vector<double> bits;
    const lab::Measured reading =
        lab.time([&] { bits = read_endings(model, opened, after[0], tokens); });
    const lab::Measured writing = lab.time([&] {
        gpt2::KvCache cache = opened.fork();
        model.write(cache, gpt2::argmax(after[0]), most, gpt2::Sampler(),
                    [](gpt2::Token) { return true; });
    });
    // [choose]

    const ledger::Engine& engine = lab.engine();
    const int past = int(prefix.size());
    std::vector<ledger::Step> batch;
    for (const std::vector<gpt2::Token>& ending : tokens)
        batch.push_back({.tokens = int(ending.size()) - 1,
                         .past = past,
                         .rows = int(ending.size()) - 1});
    ledger::Seconds write_predicted = 0;
    for (int i = 0; i + 1 < most; ++i)
        write_predicted +=
            engine.forward({.tokens = 1, .past = past + i, .rows = 1});
    lab.row("choose_read", "choose among 4 by reading", "s", engine.forward(batch),
            reading);
    lab.row("choose_write", fmt::format("write one of {} tokens", most), "s",
            write_predicted, writing);
    lab.ratio("choose_by_reading", "writing one over reading 4", "choose_write",
              "choose_read");

    // Endings differ in length, so what counts is the surprise per token.
    std::vector<double> each;
    for (std::size_t i = 0; i < bits.size(); ++i)
        each.push_back(bits[i] / double(tokens[i].size()));
    const double least = std::ranges::min(each);
    lab::Table table(
        {{"ending", 50}, {"tokens", 6, true}, {"bits each", 9, true}, {""}});
    std::vector<lab::Cells> marks;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        table.add({given[i].substr(1), std::to_string(tokens[i].size()),
                   lab::number(each[i]), each[i] == least ? "chosen" : ""});
        marks.push_back({given[i].substr(1), double(tokens[i].size()), each[i]});
    }
    lab.exhibit("endings", {"ending", "tokens", "bits_each"}, marks);
    fmt::print("\n{} ...\n\n{}", opening, table.text());

    std::vector<double> alone;
    for (const std::vector<gpt2::Token>& ending : tokens)
        alone.push_back(read_endings(model, opened, after[0], {&ending, 1})[0]);
    lab.check("choose_same", "read alone, each ending surprises by the same bits",
              alone == bits);
}

// Longer texts
// ------------
// The longer a text, the more tokens share one trip of the weights, until arithmetic
// and no longer memory sets the pace. From there on a longer text gains nothing, and
// slowly loses: each position attends to all before it.

void longer(lab::Experiment& lab, gpt2::Model& model, Tokens text) {
    const int shortest = longest / (lab.quick() ? 4 : 16);
    for (int tokens = shortest; tokens <= longest; tokens *= 2) {
        const lab::Measured seconds =
            lab.time([&] { read(model, text.first(tokens)); });
        lab.row(fmt::format("read_{}", tokens), fmt::format("reading {}", tokens),
                "token/s", tokens / predict_one(lab.engine(), tokens),
                tokens / seconds);
    }
}

void parallel_read(lab::Experiment& lab) {
    if (n >= longest)
        throw gpt2::BadInput(fmt::format(
            "--tokens: expected less than --longest, {}, found {}", longest, n));
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const std::vector<gpt2::Token> text = lab.text("article.txt", longest);
    const ledger::Engine& engine = lab.engine();
    lab.expect({predict_one(engine, n), predict_each(engine),
                predict_one(engine, longest / 16), predict_one(engine, longest / 8),
                predict_one(engine, longest / 4), predict_one(engine, longest / 2),
                predict_one(engine, longest)});

    const gpt2::Logits tables = read(*model, text);
    change_the_tail(lab, *model, text, tables);
    look_back(lab);
    one_pass_or_many(lab, *model, text, tables);
    exercises(lab, text, tables, model->config());
    choose(lab, *model);
    longer(lab, *model, text);
    lab.headline("pass_each_over_one");

    lab.keep(
        "No position sees what follows it, so all positions can be read in one "
        "pass.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "03_parallel_read",
         .title = "Every position is read at once",
         .question = "Why can a model read all positions of a text in one pass?",
         .experiment = parallel_read,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--longest", longest, "Tokens of the longest text",
                           {.least = 16, .most = 1024, .quick = 64});
             arguments.add("--tokens", n, "Positions that get a pass each",
                           {.least = 1, .most = 512, .quick = 12});
             arguments.add("--tails", tails, "Tails to put behind a text",
                           {.least = 1, .most = 10000, .quick = 12});
         }});
}
