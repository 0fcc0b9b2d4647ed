// How many people can one machine serve?
//
// An accelerator of the kind that fills data centres (80 GB of memory, 3.35 TB/s)
// holds a model of eight billion parameters. Each person asks once a minute: 100
// tokens to read, 200 to write. Nobody shall wait longer than a second for the first
// token, or a tenth of a second for the next, nineteen times out of twenty. How many
// people is it good for, at the very best?
//
//     A  about 60: an answer takes a second, and a minute has sixty
//     B  about 1,000
//     C  about 10,000
//     D  about 100,000: it is a matter of memory, and a cache is small

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "gpt2/error.hpp"
#include "lab/accelerators.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/simulated.hpp"
#include "lab/traffic.hpp"

int prompt = 64, answer = 48;  // --prompt, --answer: tokens, on this machine
int seconds = 25;              // --seconds: of each load here
int simulated = 30;            // --simulated: seconds of each load elsewhere
int together = 256;            // --together: people in one step there
double first_within = 1;       // --first: what 95% of the first tokens must keep
double beat_within = 0.1;      // --beat: what 95% of the beats must keep
double every = 60;             // --every: seconds from one question to the next

using Cost = lab::SimulatedModel::Cost;
using Arrivals = std::vector<lab::Arrival>;

// One scheduler, two clocks
// -------------------------
// The scheduler of the library admits requests, reads their prompts in chunks and
// writes all answers together, one token each a step. It asks only two things of the
// world: what time it is, and what the model says. Give it a clock that stands still
// until it is moved, and a model that moves it by what the ledger says a step must
// cost, and minutes of traffic pass in a second. Nothing else differs: same queue,
// same admission, same steps.

const gpt2::ServeOptions here{
    .blocks = 256, .together = 16, .chunk = 32, .prefixes = false};

// [really]
lab::Service serve(gpt2::Model& model, std::span<const gpt2::Token> text,
                   const Arrivals& arrivals) {
    return lab::serve(
        model, here, lab::steady_clock(), arrivals, [&](std::size_t i) {
            const auto n = std::size_t(arrivals[i].prompt);
            const auto part = text.subspan(37 * i % (text.size() - n), n);
            return std::vector(part.begin(), part.end());
        });
}
// [really]

lab::Measured once(double value) { return lab::summarize({value}); }

// All at once
// -----------
// When everybody comes at the same moment, no clock decides who goes first: model
// and simulation must make the very same steps. So their seconds can be compared
// step by step. How much longer the real ones take is kept, for steps that read and
// for steps that only write.

struct Burst {
    double answers_per_second;
    double reading, writing;  // clock over ledger, for either kind of step
};

Burst burst(lab::Experiment& lab, gpt2::Model& model,
            std::span<const gpt2::Token> text, const Cost& cost) {
    const auto arrivals = lab::draw({.rate = std::numeric_limits<double>::infinity(),
                                     .prompt = prompt,
                                     .answer = answer},
                                    lab.quick() ? 12 : 32, lab.options().seed);
    lab.look_at_memory();
    const lab::Service predicted = lab::simulate(cost, here, arrivals);
    const lab::Service real = serve(model, text, arrivals);

    lab.row("burst", fmt::format("{} requests at once", arrivals.size()), "s",
            predicted.seconds, once(real.seconds));
    lab.row("burst_rate", "tokens written meanwhile", "token/s",
            predicted.tokens_per_second(), once(real.tokens_per_second()));
    const auto same_step = [](const lab::Pass& a, const lab::Pass& b) {
        return a.read == b.read && a.written == b.written;
    };
    lab.check("same_steps", "model and simulation make the same steps",
              std::ranges::equal(predicted.passes, real.passes, same_step),
              fmt::format("{} steps", real.passes.size()));
    lab.check("burst_complete", "each request is answered once, with all its tokens",
              complete(real, arrivals) && complete(predicted, arrivals));

    lab::Seconds sums[2][2] = {};  // of steps that only write, and of others
    for (std::size_t i = 0; i < real.passes.size(); ++i) {
        auto& [ledger, clock] = sums[real.passes[i].read > 0];
        ledger += predicted.passes.at(i).seconds;
        clock += real.passes[i].seconds;
    }
    const auto over = [](const lab::Seconds(&sum)[2]) {
        return sum[0] > 0 ? sum[1] / sum[0] : 1;
    };
    const Burst found{real.answers_per_second(), over(sums[1]), over(sums[0])};
    lab.note("slower_reading", "steps that read: clock over ledger", found.reading,
             "times");
    lab.note("slower_writing", "steps that only write: clock over ledger",
             found.writing, "times");
    return found;
}

// One by one, as people come
// --------------------------
// People do not arrange with one another when to ask: arrivals are a Poisson
// process. Three loads, as shares of what the burst has shown the machine can do.
// Both clocks get the same requests at the same times. The second simulation has its
// seconds corrected by what the burst taught; what error is left then is not the
// ledger's.

void loads(lab::Experiment& lab, gpt2::Model& model,
           std::span<const gpt2::Token> text, const Cost& cost,
           const Burst& measured) {
    const Cost tuned = [&](std::span<const ledger::Step> steps) {
        const bool reads =
            std::ranges::any_of(steps, [](const auto& s) { return s.tokens > 1; });
        return cost(steps) * (reads ? measured.reading : measured.writing);
    };
    std::vector<lab::Cells> cells;
    bool whole = true, equal = true;
    double worst = 0, worst_corrected = 0;
    for (const auto& [id, share] :
         {std::pair{"low", 0.3}, std::pair{"middle", 0.6}, std::pair{"high", 0.9}}) {
        // [load]
        const double rate = share * measured.answers_per_second;
        const auto count = std::size_t(std::clamp(rate * seconds, 12.0, 2000.0));
        const Arrivals arrivals =
            lab::draw({.rate = rate, .prompt = prompt, .answer = answer}, count,
                      lab.options().seed);
        lab.look_at_memory();
        const lab::Service real = serve(model, text, arrivals);
        const lab::Service ledger = lab::simulate(cost, here, arrivals);
        const lab::Service corrected = lab::simulate(tuned, here, arrivals);
        // [load]

        const auto load = fmt::format("load {:.0f}%", 100 * share);
        fmt::print("{}: {} requests, {} a second, served in {}\n", load, count,
                   lab::number(rate), lab::quantity(real.seconds, "s"));
        std::fflush(stdout);
        std::vector<double> figures[3];
        for (int i = 0; const lab::Service* service : {&ledger, &corrected, &real}) {
            const lab::Seen people = seen(*service);
            figures[i++] = {people.first.mean, people.first.p95, people.beat.mean,
                            people.beat.p95, service->tokens_per_second()};
        }
        for (std::size_t i = 0; const auto& [which, what] :
                                {std::pair{"first_mean", "first token, mean"},
                                 {"first_p95", "first token, 95th percentile"},
                                 {"beat_mean", "beat, mean"},
                                 {"beat_p95", "beat, 95th percentile"},
                                 {"rate", "throughput"}}) {
            const double a = figures[0][i], b = figures[1][i], c = figures[2][i];
            lab.row(fmt::format("{}_{}", id, which), load + ": " + what,
                    i < 4 ? "s" : "token/s", a, once(c));
            cells.push_back({share, which, a, b, c});
            worst = std::max(worst, std::abs(c / a - 1));
            worst_corrected = std::max(worst_corrected, std::abs(c / b - 1));
            ++i;
        }
        for (const lab::Service* service : {&real, &ledger, &corrected})
            whole &= complete(*service, arrivals);
        // The last ones served had the most company.
        for (std::size_t i = count - 3; i < count; ++i) {
            const auto n = std::size_t(arrivals[i].prompt);
            gpt2::KvCache cache = model.new_cache();
            equal &=
                generate(model, cache, text.subspan(37 * i % (text.size() - n), n),
                         {.max_tokens = arrivals[i].answer})
                    .tokens == real.answers[i].tokens;
        }
    }
    lab.exhibit("loads", {"share", "figure", "simulated", "corrected", "measured"},
                cells);
    lab.note("worst", "furthest off of these rows, ledger alone", 100 * worst, "%");
    lab.note("worst_corrected", "furthest off, seconds corrected by the burst",
             100 * worst_corrected, "%");
    lab.check("complete", "at each load, each request is answered once, in full",
              whole);
    lab.check("same_tokens", "served in company, the tokens of one served alone",
              equal);
    lab.check("blocks_free", "all blocks of the KV cache are free at the end",
              model.new_cache().pool()->blocks_in_use() == 0);
}

// Machines that are not here
// --------------------------
// The same scheduler with the seconds of another machine: its maker's data sheet, a
// model's public shape. Up to 256 people take part in a step, and 512 tokens of
// prompts. Memory that the weights leave free goes to the caches.

struct Deployment {
    const char *model, *accelerator;
    int devices;
    ledger::Serving serving;

    std::string id() const {
        return fmt::format("{}_{}x_{}", model, devices, accelerator);
    }
    Cost cost() const {
        return
            [this](std::span<const ledger::Step> s) { return serving.forward(s); };
    }
    gpt2::ServeOptions options() const {
        const std::int64_t blocks = serving.kv_room() / gpt2::KvLayout::positions;
        return {.blocks = int(std::min<std::int64_t>(blocks, 1 << 24)),
                .together = together,
                .chunk = 512,
                .prefixes = false};
    }
};

// The course's answer: 100 tokens in, 200 out; 4,000 more for who thinks first.
lab::Traffic chat(double rate, double thinking = 0) {
    return {.rate = std::max(rate, 0.01),
            .prompt = 100,
            .answer = 200,
            .thinking = thinking};
}

struct Found {
    lab::Seen everyone, others;  // others: who does not think
    double room;                 // taken of the caches' room, at the fullest moment
    bool complete;
};

Found serve_there(const Deployment& place, const lab::Traffic& traffic,
                  std::uint64_t seed) {
    // Thinking takes long: it needs a longer look.
    const double looked = traffic.thinking > 0 ? 6 * simulated : simulated;
    const Arrivals arrivals =
        lab::draw(traffic, std::size_t(traffic.rate * looked) + 100, seed);
    const lab::Service service = simulate(place.cost(), place.options(), arrivals);
    const lab::Seconds settled = arrivals.back().at / 5;  // it began empty
    const auto answers_at_once = [](const lab::Arrival& a) { return !a.thinks; };
    const lab::Seen everyone = seen(service, settled);
    return {
        everyone,
        traffic.thinking < 1 ? seen(service, settled, answers_at_once) : everyone,
        double(service.totals.most_blocks) / place.options().blocks,
        complete(service, arrivals)};
}

// [promise]
bool kept(const lab::Seen& seen) {
    return seen.first.p95 <= first_within && seen.beat.p95 <= beat_within;
}

// The most requests a second for which the promise is kept: doubled until it is
// broken, then halved down to two per cent.
double most(const Deployment& place, double thinking, std::uint64_t seed) {
    const auto holds = [&](double rate) {
        return kept(serve_there(place, chat(rate, thinking), seed).everyone);
    };
    double good = 0, bad = 0.125;
    while (holds(bad)) bad = 2 * (good = bad);
    while (bad - good > 0.02 * bad && bad > 0.01)
        (holds((good + bad) / 2) ? good : bad) = (good + bad) / 2;
    return good;
}
// [promise]

// Where a formula knows the answer
// --------------------------------
// One request at a time, no batching: that queue has been understood since 1930
// (Pollaczek, Khinchine). With arrivals at rate r, and a service that takes S,
//
//     mean wait = r E[S^2] / (2 (1 - r E[S]))
//
// The simulation must find the same, to within its own statistical error.

void queue(lab::Experiment& lab, const Deployment& place) {
    const auto count = std::size_t(lab.quick() ? 2000 : 10000);
    const Arrivals drawn = lab::draw(chat(1), count, lab.options().seed);
    double mean = 0, square = 0;  // of what each request takes once it is its turn
    for (const lab::Arrival& a : drawn) {
        // [alone]
        lab::Seconds s = 0;
        ledger::Step step{.tokens = a.prompt};
        for (int i = 0; i < a.answer; ++i) {
            s += place.serving.forward(std::span(&step, 1));
            step = {.tokens = 1, .past = a.prompt + i};
        }
        mean += s / double(count);
        square += s * s / double(count);
        // [alone]
    }
    lab.note("alone", "an answer, one at a time", mean, "s");

    gpt2::ServeOptions alone = place.options();
    alone.together = 1;
    std::vector<lab::Cells> cells;
    for (const double load : {0.5, 0.7, 0.9}) {
        // [formula]
        const double rate = load / mean;
        Arrivals arrivals = drawn;
        for (lab::Arrival& a : arrivals) a.at /= rate;
        const double formula = rate * square / (2 * (1 - load));
        // [formula]
        const auto wait = [&](const gpt2::ServeOptions& options) {
            const lab::Service service = simulate(place.cost(), options, arrivals);
            std::vector<double> waits;
            for (const lab::Answered& one : service.answers)
                waits.push_back(one.admitted);
            return lab::mean_of(waits);
        };
        const lab::Mean found = wait(alone);
        const double batched = wait(place.options()).value;
        cells.push_back({load, formula, found.value, found.error, batched});
        const auto id = fmt::format("queue_{:.0f}", 100 * load);
        const auto busy = fmt::format("busy {:.0f}%", 100 * load);
        lab.note(id + "_formula", busy + ": wait by the formula", formula, "s");
        lab.note(id + "_simulated", busy + ": wait simulated", found.value, "s");
        lab.note(id + "_batched", busy + ": wait with batching", batched, "s");
        lab.check(id, busy + ": simulated wait and formula agree",
                  std::abs(found.value - formula) <= 5 * found.error,
                  fmt::format("{:.4g} s, {:.4g} s by the formula, error {:.2g} s",
                              found.value, formula, found.error));
    }
    lab.exhibit("queue", {"load", "formula", "simulated", "error", "batched"},
                cells);
}

// How many, and where it bends
// ----------------------------

void people(lab::Experiment& lab, const std::vector<Deployment>& places) {
    const std::uint64_t seed = lab.options().seed;
    std::vector<lab::Cells> cells, curve;
    bool whole = true;
    for (const Deployment& place : places) {
        const double rate = most(place, 0, seed), fit = std::floor(rate * every);
        const Found found = serve_there(place, chat(rate), seed);
        const auto name = fmt::format("{} on {} x {}", place.model, place.devices,
                                      place.accelerator);
        fmt::print("{:<18} {:>7} people\n", name, lab::number(fit));
        std::fflush(stdout);
        cells.push_back({place.id(), rate, fit, found.everyone.first.p95,
                         found.everyone.beat.p95});
        lab.note("people_" + place.id(), "people, " + name, fit);
        whole &= found.complete;
    }
    lab.exhibit("people",
                {"place", "requests_per_second", "people", "first_p95", "beat_p95"},
                cells);

    // The bend, at the first of them.
    const double knee = std::get<double>(cells.front()[1]);
    for (const auto& [share, id] : {std::pair{0.1, ""},
                                    {0.25, ""},
                                    {0.5, "half"},
                                    {0.7, ""},
                                    {0.8, ""},
                                    {0.9, ""},
                                    {0.95, "near"},
                                    {1.0, ""},
                                    {1.03, ""},
                                    {1.06, ""},
                                    {1.1, "over"}}) {
        const lab::Traffic traffic = chat(share * knee);
        const Found found = serve_there(places.front(), traffic, seed);
        const auto& [first, beat] = found.everyone;
        curve.push_back({traffic.rate * every, traffic.rate, first.mean, first.p95,
                         beat.mean, beat.p95});
        whole &= found.complete;
        if (!*id) continue;
        const auto where = fmt::format("{:.0f}% of those who fit: ", 100 * share);
        lab.note(fmt::format("first_{}", id), where + "first token", first.p95, "s");
        lab.note(fmt::format("beat_{}", id), where + "beat", beat.p95, "s");
    }
    lab.exhibit("curve",
                {"people", "requests_per_second", "first_mean", "first_p95",
                 "beat_mean", "beat_p95"},
                curve);
    lab.check("people_complete", "elsewhere, too, each request is answered in full",
              whole);
}

// Somebody thinks
// ---------------
// The course: an answer that thinks first takes 21 times the tokens, and about 250
// times the capacity, which is cache times seconds. Its machine has 14 GB of
// weights, 1 TB/s and half a megabyte of cache a token. One request at a time, the
// simulation must come to the same sums.

void course(lab::Experiment& lab) {
    const auto capacity = [](int written) {
        // [course]
        const Cost cost = [](std::span<const ledger::Step> steps) {
            double bytes = 14e9;
            for (const ledger::Step& step : steps)
                bytes += 0.5e6 * (step.past + step.tokens);
            return bytes / 1e12;
        };
        const Arrivals one{{.at = 0, .prompt = 100, .answer = written}};
        const lab::Service service = lab::simulate(cost, {.prefixes = false}, one);
        return 0.5e6 * lab::capacity(service.answers[0]) / 1e9;  // GB·s
        // [course]
    };
    const double plain = capacity(200), thinking = capacity(4200);
    lab.note("capacity_abc_a_summed", "capacity, 200 tokens", plain, "GB·s");
    lab.note("capacity_abc_b_summed", "capacity, 4,200 tokens", thinking, "GB·s");
    lab.note("capacity_abc_b_over_a_summed", "thinking over answering at once",
             thinking / plain, "times");
    lab.check_published("capacity_abc_a_summed", plain);
    lab.check_published("capacity_abc_b_summed", thinking);
    lab.check_published("capacity_abc_b_over_a_summed", thinking / plain);
}

// Now let some of the people do it. How many still fit? And with half as many people
// as fit without: what do those see who do not think?

void thinking(lab::Experiment& lab, const Deployment& place) {
    const std::uint64_t seed = lab.options().seed;
    std::vector<lab::Cells> cells;
    double knee = 0;
    for (const double share : {0.0, 0.05, 0.1, 0.2, 1.0}) {
        const double rate = most(place, share, seed);
        if (share == 0) knee = rate;
        const double fit = std::floor(rate * every);
        const auto percent = fmt::format("{:.0f}", 100 * share);
        const auto who = percent + "% think";
        fmt::print("{:<18} {:>7} people\n", who, lab::number(fit));
        std::fflush(stdout);
        cells.push_back({share, rate, fit});
        lab.note("thinking_" + percent, "people, " + who, fit);
        const Found full = serve_there(place, chat(rate, share), seed);
        lab.note("room_" + percent, who + ": room for caches taken", 100 * full.room,
                 "%");
        if (share > 0.1) continue;
        const auto& [first, beat] =
            serve_there(place, chat(knee / 2, share), seed).others;
        lab.note("others_first_" + percent, who + ": the others' first token",
                 first.p95, "s");
        lab.note("others_beat_" + percent, who + ": the others' beat", beat.p95,
                 "s");
    }
    lab.exhibit("thinking", {"share", "requests_per_second", "people"}, cells);
}

void many_people(lab::Experiment& lab) {
    const lab::Catalogue machines =
        lab::read_machines(gpt2::data_directory() / "machines.json");
    std::vector<Deployment> places;
    for (const auto& [model, accelerator, devices] : {std::tuple{"8b", "h100", 1},
                                                      {"8b", "l4", 1},
                                                      {"8b", "a100", 1},
                                                      {"8b", "h100", 4},
                                                      {"70b", "mi300x", 1},
                                                      {"70b", "h100", 4},
                                                      {"70b", "h100", 8}})
        places.push_back({model, accelerator, devices,
                          machines.serving(model, accelerator, devices)});

    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const int longest = lab::longest_drawn * (prompt + answer);
    if (longest > model->config().n_ctx)
        throw gpt2::BadInput(fmt::format(
            "--prompt, --answer: {} and {} draw texts of up to {} tokens, but the "
            "context has {}",
            prompt, answer, longest, model->config().n_ctx));
    const std::vector<gpt2::Token> text = lab.text("article.txt", 1000);
    const Cost cost = [&](std::span<const ledger::Step> s) {
        return lab.engine().forward(s);
    };

    fmt::print("time     three times {} s of serving, and as long for simulations\n",
               seconds);
    std::fflush(stdout);
    gpt2::KvCache warm_up = model->new_cache();
    model->forward(std::span(text).first(64), warm_up);
    warm_up.truncate(0);
    const Burst measured = burst(lab, *model, text, cost);
    loads(lab, *model, text, cost, measured);
    course(lab);
    queue(lab, places.front());
    people(lab, places);
    thinking(lab, places.front());
    lab.headline("burst_rate");

    lab.keep(
        "A machine serves thousands as long as it has a little to spare: near its "
        "limit everyone waits for everyone, and who thinks long takes the place of "
        "many.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "16_many_people",
         .title = "How many people can one machine serve?",
         .question =
             "How many people can wait for one machine before all wait long?",
         .experiment = many_people,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--prompt", prompt, "Tokens to read here, on average",
                           {.least = 1, .most = 120, .quick = 16});
             arguments.add("--answer", answer, "Tokens to write here, on average",
                           {.least = 4, .most = 120, .quick = 12});
             arguments.add("--seconds", seconds, "Seconds of each load here",
                           {.least = 1, .most = 3600, .quick = 1});
             arguments.add("--simulated", simulated,
                           "Seconds of each load elsewhere",
                           {.least = 1, .most = 300, .quick = 3});
             arguments.add("--together", together, "People in one step elsewhere",
                           {.least = 1, .most = 4096});
             arguments.add("--first", first_within,
                           "Seconds within which 95% of first tokens must come",
                           {.least = 1e-3, .most = 60});
             arguments.add("--beat", beat_within,
                           "Seconds within which 95% of further tokens must come",
                           {.least = 1e-4, .most = 60});
             arguments.add("--every", every, "Seconds between a person's questions",
                           {.least = 1, .most = 1e5});
         }});
}
