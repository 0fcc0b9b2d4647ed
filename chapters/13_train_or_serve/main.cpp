// Train longer, or serve dearer?
//
// A model costs twice: once to train, and then a little with every use. A large one
// cost 100 to train and costs 2 a use. A small one, just as good, had to be trained
// longer for it: 150. But a use costs 1. The unit is whatever you like: the course
// names none. Which one is the cheaper model?
//
//     A  the large one: training is the big bill
//     B  the small one: half the price for ever
//     C  the large one for the first 50 uses, the small one from then on
//     D  the large one for the first 150 uses, the small one from then on

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/sampler.hpp"
#include "lab/accelerators.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/model_pairs.hpp"
#include "ledger/life.hpp"

ledger::Life large{100, 2}, small{150, 1};  // --large-once, --large-use, ...
double dearer_once = 300;                   // --dearer-once

std::string small_model, pairs_file;  // --small, --pairs
double large_minutes = 72, small_minutes = 13, longer = 10;
double large_seen = 9.8, small_seen = 5.1;  // million tokens of training
int together = 8, beats = 64;               // --together, --beats

constexpr int opening = 32;  // tokens read before a text is written

// Where two lives meet
// --------------------
// The dear part of the small model's training, divided by what each use saves: as
// many uses pay it back. That is the whole formula. To see that it is right, the
// program also pays for both, use by use, until the small one has cost no more.

// [uses]
int uses_until_even(const ledger::Life& late, const ledger::Life& early) {
    double a = late.once, b = early.once;
    int uses = 0;
    for (; a > b; ++uses) {
        a += late.use;
        b += early.use;
    }
    return uses;
}
// [uses]

double even(const ledger::Life& late) {
    const std::optional<double> uses = ledger::break_even(late, large);
    if (!uses)
        throw gpt2::BadInput(
            "--small-use: a small model that is no cheaper to use pays back "
            "nothing");
    if (*uses > 1e6)
        throw gpt2::BadInput(fmt::format(
            "--small-once, --dearer-once: paid back only after {:.3g} uses, "
            "expected at most 1000000",
            *uses));
    return *uses;
}

void two_lives(lab::Experiment& lab) {
    const ledger::Life dearer{dearer_once, small.use};
    bool agree = true;
    const auto row = [&](const char* id, const ledger::Life& late,
                         const char* what) {
        const double uses = even(late);
        const int counted = uses_until_even(late, large);
        // Sums of fractions are rounded; of whole numbers they are not.
        agree &= counted > uses - 1e-6 && counted < uses + 1 + 1e-6;
        lab.row(id, fmt::format("small at {} meets large: {}", late.once, what),
                "uses", uses, lab::summarize({double(counted)}));
        return uses;
    };
    const double uses = row("break_even", small, "after");
    const double cost = large.after(uses);
    lab.row("break_even_cost", "what each has cost by then", "cost", cost,
            lab::summarize({small.after(uses)}));
    const double later = row("q4", dearer, "question 4, after");
    lab.check("counted", "paid use by use, the small one catches up at the same use",
              agree);

    lab.note("break_even_large_once", "large model: training", large.once, "cost");
    lab.note("break_even_large_use", "large model: each use", large.use, "cost");
    lab.note("break_even_small_once", "small model: training", small.once, "cost");
    lab.note("break_even_small_use", "small model: each use", small.use, "cost");
    lab.note("q4_small_once", "small model in question 4: training", dearer.once,
             "cost");
    if (large.once == 100 && large.use == 2 && small.use == 1) {
        if (small.once == 150) {
            lab.check_published("break_even", uses);
            lab.check_published("break_even_cost", cost);
        }
        if (dearer.once == 300) lab.check_published("q4", later);
    }

    std::vector<lab::Cells> cells;
    const double end = 1.25 * std::max({uses, later, 1.0});
    for (int i = 0; i <= 50; ++i) {
        const double at = end * i / 50;
        cells.push_back({at, large.after(at), small.after(at), dearer.after(at)});
    }
    lab.exhibit("lives", {"uses", "large", "small", "dearer"}, cells);
}

// Two models at hand
// ------------------
// The shipped models are such a pair, but for one thing. On two cores the small one
// took 13 minutes to train and the large one 72; so the small one is cheaper from
// the first token, and it writes worse. Suppose it were trained ten times as long.
// What a token costs each of them needs no supposing: it is measured, in seconds of
// this machine, and so is its price in company, when several texts share a trip of
// the weights.

struct Writer {
    std::unique_ptr<gpt2::Model> model;
    ledger::Engine engine;
    std::vector<gpt2::Token> text;
    std::int64_t trained;  // parameters, as they were trained
};

struct Price {
    ledger::Seconds predicted;
    lab::Measured measured;
    std::vector<gpt2::Token> first;  // what the first of the texts became
};

// Seconds of a token, when so many texts are written together.
Price price(lab::Experiment& lab, Writer& writer, int texts) {
    std::vector<gpt2::KvCache> caches;
    for (int i = 0; i < texts; ++i) {
        caches.push_back(writer.model->new_cache());
        writer.model->forward(std::span(writer.text).subspan(i, opening - 1),
                              caches.back());
    }
    Price price{};
    const lab::Measured all = lab.time(
        [&] {
            price.first.clear();
            std::vector<gpt2::Token> next;
            for (int i = 0; i < texts; ++i) {
                caches[i].truncate(opening - 1);
                next.push_back(writer.text[i + opening - 1]);
            }
            for (int beat = 0; beat < beats; ++beat) {
                std::vector<gpt2::Step> steps;
                for (int i = 0; i < texts; ++i)
                    steps.push_back({.tokens = {&next[i], 1}, .cache = caches[i]});
                const gpt2::Logits logits = writer.model->forward(steps);
                for (int i = 0; i < texts; ++i) next[i] = gpt2::argmax(logits[i]);
                price.first.push_back(next[0]);
            }
        },
        0.5);
    const double n = double(texts) * beats;
    price.measured = {all.min / n, all.median / n, all.max / n, all.runs};
    const ledger::Engine engine = writer.engine.on(lab.machine());
    for (int beat = 0; beat < beats; ++beat)
        price.predicted += engine.forward(std::vector<ledger::Step>(
                               texts, {.past = opening - 1 + beat})) /
                           n;
    return price;
}

// A price that wavers makes the number of tokens waver more: one small difference
// stands below the line. Where none was seen, there is no such number.
std::optional<lab::Measured> meet(double dearer, const lab::Measured& late,
                                  const lab::Measured& early) {
    const double saved = early.median - late.median;
    if (saved <= 0) return {};
    const double least = early.min > late.max ? early.min - late.max : saved;
    return lab::Measured{dearer / (early.max - late.min), dearer / saved,
                         dearer / least, std::min(early.runs, late.runs)};
}

void two_writers(lab::Experiment& lab, Writer& big, Writer& little) {
    const double dear = 60 * std::max(0.0, longer * small_minutes - large_minutes);
    lab.note("train_large", "large: training, as recorded", large_minutes, "min");
    lab.note("train_small", "small: training, as recorded", small_minutes, "min");
    lab.note("train_longer", fmt::format("small: {} times as long", longer),
             longer * small_minutes, "min");
    const ledger::Life big_flops =
        ledger::flops_of_life(double(big.trained), 1e6 * large_seen);
    const ledger::Life little_flops =
        ledger::flops_of_life(double(little.trained), 1e6 * small_seen);
    const double peak = lab.machine().multiply_add_peak;
    lab.note("train_large_flops", "large: training", big_flops.once / 1e12,
             "TFLOPs");
    lab.note("train_small_flops", "small: training", little_flops.once / 1e12,
             "TFLOPs");
    lab.note("train_large_least", "large: training, if arithmetic were all",
             big_flops.once / peak / 60, "min");
    lab.note("train_small_least", "small: training, if arithmetic were all",
             little_flops.once / peak / 60, "min");

    std::vector<lab::Cells> cells;
    bool same = true;
    int met = 0;
    std::vector<gpt2::Token> alone[2];
    for (const int texts : {1, together}) {
        const std::string id = texts == 1 ? "alone" : "together";
        const std::string how = texts == 1 ? id : fmt::format("{} {}", texts, id);
        const Price l = price(lab, big, texts), s = price(lab, little, texts);
        if (s.predicted >= l.predicted)
            throw gpt2::BadInput(
                "--small: expected a model that writes for less than the large one");
        if (texts == 1) alone[0] = l.first, alone[1] = s.first;
        same &= l.first == alone[0] && s.first == alone[1];
        lab.row("large_" + id, "large: a token, " + how, "s", l.predicted,
                l.measured);
        lab.row("small_" + id, "small: a token, " + how, "s", s.predicted,
                s.measured);
        cells.push_back(
            {"large_" + id, 60 * large_minutes, l.measured.median, l.predicted});
        cells.push_back({"small_" + id, 60 * longer * small_minutes,
                         s.measured.median, s.predicted});
        // [lives]
        const auto predicted =
            ledger::break_even({dear, s.predicted}, {0, l.predicted});
        const auto measured = meet(dear, s.measured, l.measured);
        if (measured)
            lab.row("even_" + id, "small, trained longer, wins after: " + how,
                    "tokens", predicted, *measured);
        // [lives]
        met += measured.has_value();
    }
    if (met == 2 && dear > 0)
        lab.ratio("even_moves", "company puts that off", "even_together",
                  "even_alone");
    const ledger::Life late{longer * little_flops.once, little_flops.use};
    lab.note("even_flops", "the same, counted in FLOPs",
             ledger::break_even(late, big_flops).value_or(0), "tokens");
    lab.exhibit("machine", {"who", "once", "use", "predicted_use"}, cells);
    lab.check("same_text", "alone or together, a text comes out the same", same);
}

// Two models that are public
// --------------------------
// Who makes models counts in FLOPs: 6 for every parameter and token of training, 2
// for every parameter and token of use. So a token of training costs as much as
// three of use, and papers tell both numbers. The pairs are of models that score
// about alike; the file says where, and who says so.

void pairs(lab::Experiment& lab, const std::vector<lab::ModelPair>& all) {
    std::vector<lab::Cells> cells;
    bool meet = true;
    fmt::print("\nPublic pairs, in FLOPs:\n");
    for (const lab::ModelPair& pair : all) {
        const ledger::Life late = pair.small.life(), early = pair.large.life();
        const double tokens = ledger::break_even(late, early).value_or(0);
        meet &= late.after(tokens * (1 + 1e-6)) < early.after(tokens * (1 + 1e-6));
        if (tokens > 0)
            meet &=
                late.after(tokens * (1 - 1e-6)) > early.after(tokens * (1 - 1e-6));
        fmt::print("{:<16} to train {:.3g}, {:<14} {:.3g}: {}\n", pair.large.name,
                   early.once, pair.small.name, late.once,
                   tokens > 0 ? fmt::format("even after {:.3g} tokens", tokens)
                              : "the small one from the first token");
        lab.note("pair_" + pair.id,
                 fmt::format("{} against {}", pair.small.name, pair.large.name),
                 tokens / 1e9, "billion tokens");
        cells.push_back({pair.id, pair.small.name, pair.large.name, late.once,
                         late.use, early.once, early.use, tokens});
    }
    std::fflush(stdout);
    lab.exhibit("pairs",
                {"id", "small", "large", "small_once", "small_use", "large_once",
                 "large_use", "even"},
                cells);
    lab.check(
        "pairs_meet",
        "a millionth sooner the small one is dearer, a millionth later cheaper",
        meet);
}

// The same in GPU-seconds, for a pair whose makers give the hours. A token written
// fetches all weights, two bytes each, however few people share the trip. Caches are
// left out, and so is all that keeps a program below its ceilings.

// [gpu]
ledger::Life gpu_life(const lab::PublicModel& model, const ledger::Accelerator& gpu,
                      int people) {
    const ledger::Operation trip{"a token of each", 1, 2 * model.parameters * people,
                                 2 * model.parameters};
    return {3600 * model.trained->hours,
            predict(trip, {gpu.bandwidth, gpu.flops, 1}) / people};
}
// [gpu]

void gpu_hours(lab::Experiment& lab, const std::vector<lab::ModelPair>& all,
               const lab::Catalogue& machines) {
    std::vector<lab::Cells> cells;
    std::set<std::string> shown;  // models may stand in several pairs
    for (const lab::ModelPair& pair : all) {
        const auto &late = pair.small, &early = pair.large;
        if (!late.trained || !early.trained ||
            late.trained->gpu != early.trained->gpu)
            continue;
        const lab::Sourced<ledger::Accelerator>& gpu =
            machines.accelerators.at(late.trained->gpu);
        for (const lab::PublicModel& model : {early, late}) {
            if (!shown.insert(model.id).second) continue;
            const double least = model.life().once / gpu.numbers.flops / 3600;
            lab.note("share_" + model.id,
                     fmt::format("{}: of what {} could do", model.name, gpu.name),
                     100 * least / model.trained->hours, "%");
        }
        for (const int people : {1, 16, 64, 256}) {
            const double tokens =
                ledger::break_even(gpu_life(late, gpu.numbers, people),
                                   gpu_life(early, gpu.numbers, people))
                    .value_or(0);
            lab.note(fmt::format("pair_{}_{}", pair.id, people),
                     fmt::format("{} against {}, {} at a time", late.name,
                                 early.name, people),
                     tokens / 1e9, "billion tokens");
            cells.push_back({pair.id, double(people), tokens});
        }
    }
    lab.exhibit("gpu", {"pair", "people", "even"}, cells);
}

Writer load_large(lab::Experiment& lab) {
    std::unique_ptr<gpt2::Model> model = lab.load_model();
    const auto& directory = lab.options().model;
    const gpt2::Config trained =
        directory == "random" ? model->config() : gpt2::load_config(directory);
    return {std::move(model), lab.engine(),
            lab.text("article.txt", opening + together), gpt2::parameters(trained)};
}

Writer load_small(lab::Experiment& lab, const std::filesystem::path& directory) {
    const gpt2::LoadOptions options{.device = lab.options().device,
                                    .dtype = lab.options().dtype,
                                    .kv = lab.options().kv,
                                    .threads = lab.threads(),
                                    .seed = lab.options().seed};
    std::unique_ptr<gpt2::Model> model = gpt2::load_model(directory, options);
    const gpt2::Config config = model->config();
    fmt::print("small    {}: {} layers of {}, {} parameters\n",
               directory.filename().string(), config.n_layer, config.n_embd,
               lab::number(double(gpt2::parameters(config))));
    std::fflush(stdout);
    return {std::move(model),
            {config, options.dtype, options.kv, lab.machine()},
            gpt2::load_tokenizer(directory).encode(lab.whole_text("article.txt")),
            gpt2::parameters(config)};
}

void train_or_serve(lab::Experiment& lab) {
    const auto or_shipped = [](const std::string& given, const char* shipped) {
        return given.empty() ? gpt2::data_directory() / shipped
                             : std::filesystem::path(given);
    };
    const auto file = or_shipped(pairs_file, "model_pairs.json");
    const std::vector<lab::ModelPair> public_pairs = lab::read_model_pairs(file);
    const lab::Catalogue machines =
        lab::read_machines(gpt2::data_directory() / "machines.json");
    for (const lab::ModelPair& pair : public_pairs)
        for (const lab::PublicModel& model : {pair.small, pair.large})
            if (model.trained && !machines.accelerators.contains(model.trained->gpu))
                throw gpt2::BadInput(
                    fmt::format("{}: {}: machines.json has no GPU '{}'",
                                file.string(), model.id, model.trained->gpu));
    two_lives(lab);

    Writer big = load_large(lab);
    Writer little = load_small(lab, or_shipped(small_model, "models/story-draft"));
    two_writers(lab, big, little);
    pairs(lab, public_pairs);
    gpu_hours(lab, public_pairs, machines);
    lab.headline("break_even");

    lab.keep(
        "Training is paid once and serving with every word: which model is cheaper "
        "depends on how much it will be used.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "13_train_or_serve",
         .title = "Train longer, or serve dearer?",
         .question = "When does a small model that was trained longer pay?",
         .experiment = train_or_serve,
         .arguments =
             [](lab::Arguments& arguments) {
                 const lab::Real cost{.least = 0, .most = 1e6};
                 arguments.add("--large-once", large.once,
                               "Training the large model, in any unit", cost);
                 arguments.add("--large-use", large.use, "A use of it", cost);
                 arguments.add("--small-once", small.once,
                               "Training the small model, in that unit", cost);
                 arguments.add("--small-use", small.use, "A use of it", cost);
                 arguments.add("--dearer-once", dearer_once,
                               "Training the small one, in question 4", cost);
                 arguments.add(
                     "--small", small_model,
                     "A small model's directory; story-draft unless given");
                 const lab::Real minutes{.least = 0, .most = 1e7};
                 arguments.add("--large-minutes", large_minutes,
                               "Minutes that the large model was trained", minutes);
                 arguments.add("--small-minutes", small_minutes,
                               "Minutes that the small model was trained", minutes);
                 arguments.add("--longer", longer,
                               "How many times as long it shall be trained",
                               {.least = 1, .most = 1e6});
                 const lab::Real millions{.least = 1e-3, .most = 1e9};
                 arguments.add("--large-seen", large_seen,
                               "Million tokens that the large one was trained on",
                               millions);
                 arguments.add("--small-seen", small_seen,
                               "Million tokens that the small one was trained on",
                               millions);
                 arguments.add("--together", together, "Texts written in one batch",
                               {.least = 2, .most = 64});
                 arguments.add("--beats", beats, "Tokens of each text",
                               {.least = 1, .most = 512, .quick = 16});
                 arguments.add("--pairs", pairs_file,
                               "Public models; data/model_pairs.json unless given");
             },
         .shape = "own"});
}
