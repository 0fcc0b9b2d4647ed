// Ours beside what people use
//
// The course's two experiments and the tokenizer, here and in other people's programs, on
// the same weights, the same text and the same number of threads. The sides take turns,
// so that a machine whose pace drifts drifts for all. A ratio is made within a round,
// from two times that were measured one after the other.

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <utility>

#include "compare/partner.hpp"
#include "gpt2/error.hpp"
#include "gpt2/safetensors.hpp"
#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"

namespace {

using Tokens = std::vector<gpt2::Token>;

int n_read = 512, n_written = 256;  // --tokens, --written
int rounds = 7;                     // --rounds, behind one that warms up
constexpr int fewest_rounds = 3;    // of what takes long
constexpr lab::Seconds long_enough = 120;
int copies = 50;              // of the prose, for the tokenizer
std::string theirs, weights;  // --theirs, --weights

/// One thing that all sides do. What it returns must be the same on all of them.
struct Work {
    std::string id, what;
    double things;     // done in one run,
    std::string unit;  // counted like this for each second
    std::function<Tokens()> run;
};

/// One side's part of the rounds.
struct Side {
    std::string name;
    std::vector<double> seconds = {};  // of each round that counts
    bool same = true;                  // as ours, in every round
};

Tokens write(gpt2::Model& model, gpt2::Token first, bool with_cache) {
    Tokens text{first};
    gpt2::KvCache cache = model.new_cache();
    for (int i = 0; i < n_written; ++i) {
        if (!with_cache) cache = model.new_cache();
        const std::span<const gpt2::Token> all(text);
        text.push_back(
            gpt2::argmax(model.forward(with_cache ? all.last(1) : all, cache)[0]));
    }
    return text;
}

std::vector<Work> works(gpt2::Model& model, const Tokens& text, const std::string& prose,
                        const gpt2::Tokenizer& tokenizer) {
    const auto read = [&](gpt2::Rows rows) {
        gpt2::KvCache cache = model.new_cache();
        const gpt2::Logits logits = model.forward(text, cache, rows);
        return Tokens{gpt2::argmax(logits[logits.rows() - 1])};
    };
    const auto one_by_one = [&] {
        gpt2::KvCache cache = model.new_cache();
        Tokens best;
        for (const gpt2::Token& token : text)
            best = {gpt2::argmax(model.forward({&token, 1}, cache)[0])};
        return best;
    };
    const auto encode = [&] {
        Tokens tokens;
        for (int i = 0; i < copies; ++i) tokens = tokenizer.encode(prose);
        return tokens;
    };
    const double n = n_read, w = n_written;
    return {
        {"read_all", fmt::format("read {}, all logits", n_read), n, "token/s",
         [=] { return read(gpt2::Rows::all); }},
        {"read_last", fmt::format("read {}, last logits", n_read), n, "token/s",
         [=] { return read(gpt2::Rows::last); }},
        {"write", fmt::format("write {} one by one", n_read), n, "token/s", one_by_one},
        {"cached", fmt::format("write {} with a cache", n_written), w, "token/s",
         [&] { return write(model, text[0], true); }},
        {"uncached", fmt::format("write {} without", n_written), w, "token/s",
         [&] { return write(model, text[0], false); }},
        {"encode", "encode prose, one thread", copies * double(prose.size()) / 1e6,
         "MB/s", encode},
    };
}

/// Our side and those that know this work, in turns. Each round begins with another one.
std::vector<Side> take_turns(const Work& work, beside::Partner& partner,
                             const std::vector<std::string>& others) {
    std::vector<Side> sides{{"ours"}};
    for (const std::string& name : others) sides.push_back({name});
    const lab::Stopwatch all_rounds;
    for (int round = 0; round <= rounds; ++round) {
        if (round > fewest_rounds && all_rounds.seconds() > long_enough) break;
        std::map<std::string, Tokens> results;
        std::string progress;
        for (std::size_t i = 0; i < sides.size(); ++i) {
            Side& side = sides[(i + std::size_t(round)) % sides.size()];
            lab::Seconds seconds;
            if (&side == &sides[0]) {
                const lab::Stopwatch watch;
                results[side.name] = work.run();
                seconds = watch.seconds();
            } else {
                const auto answer = partner.ask({{"who", side.name}, {"work", work.id}});
                results[side.name] = answer.at("tokens").get<Tokens>();
                seconds = answer.at("seconds").get<double>();
            }
            progress += fmt::format(", {} {:.3g} s", side.name, seconds);
            if (round > 0) side.seconds.push_back(seconds);
        }
        fmt::print(stderr, "{}, round {} of {}{}\n", work.what, round, rounds, progress);
        for (Side& side : sides)
            side.same = side.same && results[side.name] == results["ours"];
    }
    return sides;
}

void report(lab::Experiment& lab, const Work& work, const std::vector<Side>& sides) {
    const Side& ours = sides[0];
    for (const Side& side : sides)
        lab.row(work.id + "_" + side.name, &side == &ours ? work.what : "by " + side.name,
                work.unit, {}, work.things / lab::summarize(side.seconds));
    for (const Side& side : std::span(sides).subspan(1)) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < ours.seconds.size(); ++round)
            ratios.push_back(side.seconds[round] / ours.seconds[round]);
        const std::string over = work.id + "_over_" + side.name;
        lab.row(over, "ours over " + side.name, "times", {}, lab::summarize(ratios));
        if (work.id == "cached") lab.headline(over);
        lab.check(work.id + "_same_" + side.name,
                  fmt::format("{}: the same tokens as {}", work.what, side.name),
                  side.same);
    }
}

/// A file for the other side, gone when it was read or not.
struct TemporaryFile {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("logits-{}", getpid());
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

/// Hands our logits to the other side, which knows how far off its own are.
void compare_logits(lab::Experiment& lab, gpt2::Model& model, const Tokens& text,
                    beside::Partner& partner) {
    gpt2::KvCache cache = model.new_cache();
    const gpt2::Logits logits = model.forward(text, cache, gpt2::Rows::all);
    const TemporaryFile file;
    const std::span all(logits[0].data(),
                        std::size_t(logits.rows()) * std::size_t(logits.n_vocab()));
    const gpt2::TensorToWrite tensor{"logits",
                                     gpt2::DType::f32,
                                     {logits.rows(), logits.n_vocab()},
                                     std::as_bytes(all)};
    gpt2::write_safetensors(file.path, {&tensor, 1});
    const auto answer = partner.ask({{"work", "logits"}, {"file", file.path.string()}});
    const double difference = answer.at("largest_difference");
    lab.row("logit_difference", "largest difference of a logit", "", {},
            lab::summarize({difference}));
    // Rounding in f32 leaves about 1e-4; a wrong mask or activation leaves 1e-2 or more.
    lab.check("logits", "at every position both give the same logits but for rounding",
              difference < 2e-3, fmt::format("largest difference {:.2g}", difference));
}

void side_by_side(lab::Experiment& lab) {
    if (theirs.empty() || weights.empty())
        throw gpt2::BadInput("--theirs and --weights: expected both");
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const Tokens text = lab.text("article.txt", n_read);
    const std::string prose = lab.whole_text("article.txt");
    const auto vocabulary = gpt2::data_directory() / "gpt2-vocab";
    const gpt2::Tokenizer tokenizer = gpt2::Tokenizer::load(vocabulary);

    beside::Partner partner(theirs);
    const auto hello = partner.ask({{"work", "begin"},
                                    {"weights", weights},
                                    {"vocabulary", vocabulary.string()},
                                    {"threads", lab.threads()},
                                    {"text", text},
                                    {"written", n_written},
                                    {"prose", prose},
                                    {"copies", copies}});
    std::vector<lab::Cells> versions;
    for (const auto& [name, version] : hello.at("versions").items()) {
        versions.push_back({name, version.get<std::string>()});
        fmt::print("beside   {} {}\n", name, version.get<std::string>());
    }
    std::fflush(stdout);
    lab.exhibit("versions", {"name", "version"}, versions);

    compare_logits(lab, *model, text, partner);
    for (const Work& work : works(*model, text, prose, tokenizer)) {
        std::vector<std::string> others;
        for (const auto& [name, list] : hello.at("works").items())
            for (const auto& known : list)
                if (known == work.id) others.push_back(name);
        report(lab, work, take_turns(work, partner, others));
    }
    lab.keep(
        "Ratios over 1: ours is faster. Compare within a run, never across machines.");
}

}  // namespace

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "compare",
         .title = "Ours beside what people use",
         .question = "How fast are others with the same weights, text and threads?",
         .experiment = side_by_side,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--theirs", theirs,
                           "The command of the other side (tests/compare/theirs.py)");
             arguments.add("--weights", weights,
                           "The model's weights at its shape, as files for it");
             arguments.add("--tokens", n_read, "Tokens to read",
                           {.least = 2, .most = 1024, .quick = 96});
             arguments.add("--written", n_written, "Tokens to write",
                           {.least = 1, .most = 1023, .quick = 24});
             arguments.add("--rounds", rounds,
                           "Rounds that count, behind one that does not",
                           {.least = 1, .most = 1000, .quick = 3});
         }});
}
