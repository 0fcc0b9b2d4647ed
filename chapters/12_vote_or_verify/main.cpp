// Vote, or verify?
//
// A model gets a hard question right one time in ten. So you ask it five times, and
// take the answer that most of the five agree on. The wrong ones all agree with each
// other. How often are you right now?
//
//     A  about 41% of the time: so often is one of the five right
//     B  10%, as before: the votes come from the same model
//     C  less than 1%
//     D  50%: five times as often

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "gpt2/error.hpp"
#include "gpt2/load.hpp"
#include "gpt2/philox.hpp"
#include "gpt2/sampler.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/share.hpp"
#include "ledger/odds.hpp"

double p = 0.1, wanted = 0.9;  // --p, --wanted: shares
int votes = 5, samples = 8;    // --votes, --samples
ledger::Kind easy{{0.98, 1}, {0.99, 1}}, hard{{0.1, 1}, {0.7, 1}};  // --easy ...
double careful = 21;  // --careful: its cost, where being brief costs 1
double hard_share = 0.2, mistaken = 0.2;  // --hard-share, --mistaken
int games = 100'000;                      // --games: simulated
int tries = 1024, most = 32;              // --tries, --most
int tokens = 40;                          // --tokens: of a reply, at most
double temperature = 0.7;                 // --temperature

using lab::Share;
using Text = std::vector<gpt2::Token>;

// The course's three figures
// --------------------------
// On paper: a binomial sum, a power, a logarithm. And as a game of chance, played so
// often that the closed forms would be caught out if they were wrong.

using Right = std::function<double(double p, int n)>;
const Right any = ledger::any_right;
const Right majority = [](double q, int n) { return ledger::majority_right(q, n); };

// [play]
struct Played {
    Share any, majority;
};

Played play(double chance, int n, std::uint64_t seed) {
    Played played;
    for (int game = 0; game < games; ++game) {
        int right = 0;
        for (int i = 0; i < n; ++i)
            right +=
                gpt2::uniform(seed, std::uint64_t(game), std::uint64_t(i)) < chance;
        played.any.count(right > 0);
        played.majority.count(2 * right > n);  // a tie is lost
    }
    return played;
}
// [play]

void on_paper(lab::Experiment& lab) {
    const bool printed = p == 0.1 && wanted == 0.9 && votes == 5 && samples == 8;
    const auto id = [&](const char* name) {
        return (printed ? "" : "my_") + std::string(name);
    };
    const auto note = [&](const char* name, const std::string& what, double value,
                          const char* unit) {
        lab.note(id(name), what, value, unit);
        if (printed) lab.check_published(name, value);
    };
    const auto row = [&](const char* name, const std::string& what, double predicted,
                         const Share& played) {
        lab.row(id(name), what, "%", 100 * predicted, played.percent());
        if (printed) lab.check_published(name, 100 * predicted);
        lab.check(id(name) + "_played", what + ": as often in a game",
                  played.may_come_of(predicted),
                  fmt::format("{:.3f}%, {:.3f}% of {} games", 100 * predicted,
                              100 * played.value(), lab::number(played.of)));
    };
    // [paper]
    const int needed = ledger::samples_needed(p, wanted);
    const std::uint64_t seed = lab.options().seed;
    row("majority", fmt::format("majority of {} votes", votes), majority(p, votes),
        play(p, votes, seed).majority);
    row("verifier", fmt::format("{} samples and a verifier", samples),
        any(p, samples), play(p, samples, seed).any);
    row("q3_right", fmt::format("{} samples and a verifier", needed), any(p, needed),
        play(p, needed, seed).any);
    // [paper]
    lab.headline(id("verifier"));
    note("majority_one", "one try: right", 100 * p, "%");
    note("majority_votes", "votes", votes, "votes");
    note("verifier_samples", "samples", samples, "samples");
    note("verifier_all_wrong", "probability that all of them are wrong",
         1 - any(p, samples), "probability");
    note("q3", fmt::format("samples for {:.3g}% with a verifier", 100 * wanted),
         needed, "samples");
    note("q3_cost", "their cost over one", needed, "times");
}

// A task that a program can check
// -------------------------------
// Somebody speaks, and somebody replies. The reply shall be a question, and it shall
// come to its end: a question mark, then the closing quotation mark, within 40
// tokens. Writing that is luck for a small model. Checking it takes one comparison.

// [task]
constexpr int open = 0;  // the reply did not come to its end

int sign_at_end(std::string_view reply) {
    const std::size_t quote = reply.find('"');
    if (quote == std::string_view::npos || quote == 0) return open;
    return reply[quote - 1];
}

bool right(int sign) { return sign == '?'; }
// [task]

// The replies begin with words that make it harder or easier to end in a question.
// The first is looked at alone, too.
const std::string scene = "\"I found this in the garden,\" said the boy.\n\n\"";
const std::vector<std::string> beginnings = {"Yes, I",
                                             "I am glad of it. I",
                                             "It is mine",
                                             "No, no",
                                             "Do you know",
                                             "What",
                                             "Who are you? What",
                                             "Who is it? Where is it? What"};

struct Reply {
    Text tokens = {};
    std::string text = {};
    int sign = open;
};

struct Writer {
    gpt2::Model& model;
    const gpt2::Tokenizer& words;
    gpt2::Sampler sampler;
};

// All tries of a prompt are one batch: the prompt is read once, and each try gets a
// fork of its cache. A try has a number, which alone decides what is drawn for it.
// It comes out the same whoever sits beside it.

// [draw]
std::vector<Reply> draw(const Writer& writer, int question, int first, int count,
                        bool stops = true) {
    const Text prompt = writer.words.encode(scene + beginnings[question]);
    gpt2::KvCache read = writer.model.new_cache();
    std::vector<Reply> replies(count);
    const auto write = [&](int i, std::span<const float> row) {
        Reply& reply = replies[i];
        const auto number = std::uint64_t(question) << 32 | std::uint64_t(first + i);
        reply.tokens.push_back(
            writer.sampler.pick(row, number, prompt.size() + reply.tokens.size()));
        reply.text += writer.words.bytes(reply.tokens.back());
        reply.sign = sign_at_end(beginnings[question] + reply.text);
    };
    std::vector<gpt2::KvCache> caches;
    const gpt2::Logits opening = writer.model.forward(prompt, read);
    for (int i = 0; i < count; ++i) {
        caches.push_back(read.fork());
        write(i, opening[0]);
    }
    for (int n = 1; n < tokens; ++n) {
        std::vector<gpt2::Step> steps;
        std::vector<int> writing;
        for (int i = 0; i < count; ++i)
            if (!stops || replies[i].sign == open) {
                steps.push_back({{&replies[i].tokens.back(), 1}, caches[i]});
                writing.push_back(i);
            }
        const gpt2::Logits logits = writer.model.forward(steps);
        for (int k = 0; k < logits.rows(); ++k) write(writing[k], logits[k]);
    }
    return replies;
}
// [draw]

// The first tries of a question teach what p is, and the others are predicted from
// it. Of those the question that is looked at alone has four times as many.
struct Question {
    std::vector<int> learned, tried;  // the sign that each reply ends with
    double written = 0;               // tokens, mean of a reply

    double p() const {
        return double(std::ranges::count_if(learned, right)) /
               double(learned.size());
    }
};

Question ask(const Writer& writer, int question) {
    constexpr int batch = 64;
    Question asked;
    const int last = question == 0 ? 5 * tries : 2 * tries;
    for (int first = 0; first < last; first += batch)
        for (const Reply& reply :
             draw(writer, question, first, std::min(batch, last - first))) {
            (int(asked.learned.size()) < tries ? asked.learned : asked.tried)
                .push_back(reply.sign);
            asked.written += double(reply.tokens.size()) / last;
        }
    return asked;
}

// Three ways to use n tries
// -------------------------
// A verifier picks one that is right, if there is one. A majority needs more than
// half of them. A vote by a key needs only more than any other key has: the key of a
// reply is the sign it ends with, and of equal keys the one that came first wins.

using Signs = std::span<const int>;

// [ways]
bool one_asks(Signs signs) { return std::ranges::any_of(signs, right); }

bool most_ask(Signs signs) {
    return 2 * std::ranges::count_if(signs, right) > std::ssize(signs);
}

bool vote_asks(Signs signs) {
    std::map<int, int> count;
    int winner = signs[0];
    for (const int sign : signs) ++count[sign];
    for (const int sign : signs)
        if (count[sign] > count[winner]) winner = sign;
    return right(winner);
}
// [ways]

// Cuts the tries into groups of n, each used once.
template <class Way>
Share in_groups(Signs signs, int n, const Way& way) {
    Share share;
    for (std::size_t i = 0; i + n <= signs.size(); i += n)
        share.count(way(signs.subspan(i, n)));
    return share;
}

// A vote has no formula in p alone: it depends on how the wrong ones are split. So
// draw from those learned.
double expected_vote(Signs learned, int n, std::uint64_t seed) {
    Share share;
    std::vector<int> drawn(n);
    for (std::uint64_t game = 0; game < 20'000; ++game) {
        for (int i = 0; i < n; ++i)
            drawn[i] = learned[std::size_t(gpt2::uniform(seed, game, i) *
                                           double(learned.size()))];
        share.count(vote_asks(drawn));
    }
    return share.value();
}

// What a formula that rises with p comes to where p was learned from a sample: the
// least and the most.
struct Range {
    double least, most;
};

Range range(const Right& formula, const Question& asked, int n) {
    const double off = lab::chance_error(asked.p(), double(asked.learned.size()));
    return {formula(std::max(asked.p() - off, 0.0), n),
            formula(std::min(asked.p() + off, 1.0), n)};
}

bool agrees(const Share& share, const Range& range) {
    return share.may_come_of(range.least, range.most);
}

void alone(lab::Experiment& lab, const Question& asked) {
    const double learned = asked.p();
    std::vector<lab::Cells> cells;
    bool any_holds = true, majority_holds = true;
    for (int n = 1; n <= most; n *= 2) {
        // [alone]
        const Share best = in_groups(asked.tried, n, one_asks);
        const Share half = in_groups(asked.tried, n, most_ask);
        const Share vote = in_groups(asked.tried, n, vote_asks);
        // [alone]
        const double expected = expected_vote(asked.learned, n, lab.options().seed);
        any_holds &= agrees(best, range(any, asked, n));
        majority_holds &= agrees(half, range(majority, asked, n));
        cells.push_back({double(n), best.of, any(learned, n), best.value(),
                         majority(learned, n), half.value(), expected,
                         vote.value()});
        const auto row = [&](const char* way, const std::string& what,
                             double predicted, const Share& share) {
            lab.row(fmt::format("one_{}_{}", way, n), what, "%", 100 * predicted,
                    share.percent());
        };
        if (n == 1) row("try", "one question: one try", learned, best);
        if (n == 8 || 2 * n > most)
            row("any", fmt::format("one question: {} tries, a verifier", n),
                any(learned, n), best);
        if (n == 8) {
            row("majority", "one question: 8 tries, more than half of them",
                majority(learned, n), half);
            row("vote", "one question: 8 tries, a vote by the last sign", expected,
                vote);
        }
    }
    lab.exhibit("one",
                {"n", "groups", "any_predicted", "any", "majority_predicted",
                 "majority", "vote_predicted", "vote"},
                cells);
    lab.check("one_any", "best of n as often as p predicts, for every n", any_holds);
    lab.check("one_majority", "a majority of n as often as p predicts, for every n",
              majority_holds);

    // One after another, until the verifier is content: less money, more time.
    double made = 0, groups = 0;
    for (std::size_t i = 0; i + most <= asked.tried.size(); i += most, ++groups) {
        const auto group = Signs(asked.tried).subspan(i, most);
        made += double(std::min<std::ptrdiff_t>(
            std::ranges::find_if(group, right) - group.begin() + 1, most));
    }
    lab.row("one_until",
            fmt::format("one question: one after another, {} at most", most),
            "samples", ledger::tries_until_right(learned, most),
            lab::summarize({made / groups}));
}

// Several prompts
// ---------------
// Eight questions, and p is another one for each. Whoever asks all of them sees the
// mean of eight formulas. The formula of the mean promises more: a question that is
// hard stays hard, and no number of tries for the others helps it.

void several(lab::Experiment& lab, const std::vector<Question>& all) {
    double mean = 0;
    for (const Question& asked : all) mean += asked.p() / double(all.size());
    std::vector<lab::Cells> cells;
    bool holds = true;
    for (int n = 1; n <= most; n *= 2) {
        // [several]
        const double by_mean = any(mean, n);
        double by_each = 0;
        Range expected{0, 0};
        Share measured;
        for (const Question& asked : all) {
            by_each += any(asked.p(), n) / double(all.size());
            const Range one = range(any, asked, n);
            expected.least += one.least / double(all.size());
            expected.most += one.most / double(all.size());
            measured += in_groups(Signs(asked.tried).first(tries), n, one_asks);
        }
        // [several]
        holds &= agrees(measured, expected);
        cells.push_back(
            {double(n), measured.of, by_mean, by_each, measured.value()});
        if (n != 1 && n != 8 && 2 * n <= most) continue;
        lab.row(
            fmt::format("several_{}", n),
            n == 1 ? "eight questions: one try of each"
                   : fmt::format("eight questions: {} tries of each, a verifier", n),
            "%", 100 * by_each, measured.percent());
        lab.note(fmt::format("several_{}_by_mean", n),
                 fmt::format("eight questions, by the formula of the mean p: {}", n),
                 100 * by_mean, "%");
    }
    lab.exhibit("several", {"n", "groups", "by_mean", "by_each", "measured"}, cells);
    lab.check("several_each",
              "over all questions, the mean of the formulas comes out", holds);

    std::vector<lab::Cells> questions;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Question& asked = all[i];
        const int votes_of = std::min(most, 16);
        questions.push_back({beginnings[i], asked.p(),
                             in_groups(asked.tried, 1, one_asks).value(),
                             in_groups(asked.tried, votes_of, one_asks).value(),
                             in_groups(asked.tried, votes_of, vote_asks).value(),
                             double(votes_of), asked.written});
    }
    lab.exhibit("questions",
                {"beginning", "learned", "one", "any", "vote", "n", "tokens"},
                questions);
}

// Spending by difficulty
// ----------------------
// Many tries for hard questions, one for easy ones. Somebody has to say which is
// which before there is an answer, and is wrong now and then: an easy question taken
// for hard costs money, a hard one taken for easy costs the answer.

void course_route(lab::Experiment& lab) {
    easy.careful.cost = hard.careful.cost = careful;
    const auto policy = [&](const char* id, const char* what,
                            const ledger::Judge& judge) {
        const ledger::Answering all = ledger::route(hard_share, easy, hard, judge);
        lab.note(fmt::format("paper_{}", id),
                 fmt::format("on paper, {}: right", what), 100 * all.right, "%");
        lab.note(fmt::format("paper_{}_cost", id),
                 fmt::format("on paper, {}: cost", what), all.cost, "times");
    };
    policy("brief", "brief with all", {0, 1});
    policy("careful", "careful with all", {1, 0});
    policy("routed", "care where a judge says hard", {mistaken, mistaken});
    policy("perfect", "care where it is hard", {0, 0});
}

// Hard is a question of which fewer than half of the tries come out right.
bool is_hard(const Question& asked) { return asked.p() < 0.5; }

// What the ledger expects, by a probability for each question that one of n tries
// asks.
using Chance = std::function<double(const Question&, int n)>;

// [expect]
ledger::Answering expect(const std::vector<Question>& all,
                         const ledger::Judge& judge, const Chance& chance) {
    ledger::Kind kinds[2] = {{{0, 1}, {0, double(most)}},
                             {{0, 1}, {0, double(most)}}};
    const auto hard_ones = double(std::ranges::count_if(all, is_hard));
    const double count[2] = {double(all.size()) - hard_ones, hard_ones};
    for (const Question& asked : all) {
        ledger::Kind& kind = kinds[is_hard(asked)];
        kind.brief.right += chance(asked, 1) / count[is_hard(asked)];
        kind.careful.right += chance(asked, most) / count[is_hard(asked)];
    }
    return ledger::route(hard_ones / double(all.size()), kinds[0], kinds[1], judge);
}
// [expect]

struct Routed {
    Share right, careful;
    double cost() const { return 1 + careful.value() * (most - 1); }  // tries
};

// [route]
Routed route(const std::vector<Question>& all, const ledger::Judge& judge,
             std::uint64_t seed) {
    Routed routed;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (int first = 0; first + most <= tries; first += most) {
            const bool hard_one = is_hard(all[i]);
            const bool errs =
                gpt2::uniform(seed, ~i, std::uint64_t(first)) <
                (hard_one ? judge.hard_taken_for_easy : judge.easy_taken_for_hard);
            const bool care = hard_one != errs;
            routed.careful.count(care);
            routed.right.count(one_asks(
                Signs(all[i].tried).subspan(std::size_t(first), care ? most : 1)));
        }
    return routed;
}
// [route]

void spend_by_difficulty(lab::Experiment& lab, const std::vector<Question>& all) {
    bool right_holds = true, cost_holds = true;
    struct Policy {
        ledger::Answering expected;
        Routed measured;
    };
    const auto follow = [&](const ledger::Judge& judge) {
        const Policy policy{
            expect(all, judge,
                   [](const Question& asked, int n) { return any(asked.p(), n); }),
            route(all, judge, lab.options().seed)};
        const auto at = [&](double Range::*end) {
            return expect(all, judge,
                          [&](const Question& asked, int n) {
                              return range(any, asked, n).*end;
                          })
                .right;
        };
        right_holds &=
            agrees(policy.measured.right, {at(&Range::least), at(&Range::most)});
        cost_holds &= policy.measured.careful.may_come_of(
            (policy.expected.cost - 1) / (most - 1));
        return policy;
    };
    for (const auto& [id, what, judge] :
         {std::tuple{"brief", "one try for all", ledger::Judge{0, 1}},
          {"careful", "a verifier and its tries for all", ledger::Judge{1, 0}},
          {"routed", "tries where a judge says hard",
           ledger::Judge{mistaken, mistaken}}}) {
        const Policy policy = follow(judge);
        lab.row(id, fmt::format("{}: right", what), "%", 100 * policy.expected.right,
                policy.measured.right.percent());
        lab.row(fmt::format("{}_cost", id), fmt::format("{}: cost", what), "samples",
                policy.expected.cost, lab::summarize({policy.measured.cost()}));
    }
    std::vector<lab::Cells> cells;
    for (const double wrong : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
        const Policy policy = follow({wrong, wrong});
        cells.push_back({wrong, policy.expected.right, policy.measured.right.value(),
                         policy.expected.cost, policy.measured.cost()});
    }
    lab.exhibit("routing",
                {"mistaken", "right_predicted", "right", "cost_predicted", "cost"},
                cells);
    lab.check("routing_right",
              "with any judge, as many are right as the ledger says", right_holds);
    lab.check("routing_cost", "with any judge, they cost as many tries as it says",
              cost_holds);
}

// Money, and time
// ---------------
// A try written beside others is a passenger: the weights make the trip anyway. So n
// tries cost n times the tokens, and less than n times the wait.

ledger::Seconds predict(const ledger::Engine& engine, int prompt, int n) {
    ledger::Seconds sum = engine.forward({.tokens = prompt, .past = 0, .rows = 1});
    for (int i = 0; i < tokens - 1; ++i)
        sum += engine.forward(std::vector<ledger::Step>(
            std::size_t(n), {.tokens = 1, .past = prompt + i, .rows = 1}));
    return sum;
}

void together(lab::Experiment& lab, const Writer& wide,
              const ledger::Engine& engine) {
    const int prompt = int(wide.words.encode(scene + beginnings[0]).size());
    std::vector<lab::Cells> cells;
    for (int n = 1; n <= most; n *= 2) {
        const lab::Measured seconds =
            lab.time([&] { draw(wide, 0, 0, n, false); }, 0.2);
        const double predicted = predict(engine.on(lab.machine()), prompt, n);
        cells.push_back({double(n), double(n * tokens), predicted, seconds.median});
        if (n == 1 || n == 8 || 2 * n > most)
            lab.row(fmt::format("time_{}", n),
                    n == 1
                        ? fmt::format("one try of {} tokens", tokens)
                        : fmt::format("{} tries of {} tokens, together", n, tokens),
                    "s", predicted, seconds);
        if (n == 8 || (2 * n > most && n > 1))
            lab.ratio(fmt::format("wait_{}", n),
                      fmt::format("{} times the tokens: the wait", n),
                      fmt::format("time_{}", n), "time_1");
    }
    lab.exhibit("time", {"n", "tokens", "predicted", "seconds"}, cells);
}

void vote_or_verify(lab::Experiment& lab) {
    if (most > tries)
        throw gpt2::BadInput(fmt::format(
            "--most: expected at most --tries, which is {}, found {}", tries, most));
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const ledger::Engine engine = lab.engine();
    // The narrow model writes the same words for fewer bytes (chapter 07) ...
    const std::unique_ptr<gpt2::Model> narrow =
        lab.options().shape == "own" ? nullptr : lab.load_model({.shape = "own"});
    const gpt2::Sampler sampler({.temperature = float(temperature),
                                 .top_k = 40,
                                 .seed = lab.options().seed});
    const Writer wide{*model, lab.tokenizer(), sampler};
    // ... but ends its texts with a token of another id.
    const gpt2::Tokenizer words = gpt2::load_tokenizer(lab.options().model);
    const Writer writer{narrow ? *narrow : *model, words, sampler};
    lab.expect({predict(engine, 20, 1), predict(engine, 20, most)});

    on_paper(lab);
    course_route(lab);
    std::vector<Question> all;
    for (int i = 0; i < int(beginnings.size()); ++i) {
        all.push_back(ask(writer, i));
        fmt::print("{:.0f}% of {} ask: \"{} ...\"\n", 100 * all.back().p(),
                   lab::number(double(tries)), beginnings[i]);
        std::fflush(stdout);
    }
    alone(lab, all[0]);
    several(lab, all);
    spend_by_difficulty(lab, all);

    const auto some = draw(writer, 0, 0, 8), again = draw(wide, 0, 0, 8);
    bool same = true;
    for (int i = 0; i < 8; ++i)
        same &= draw(writer, 0, i, 1)[0].tokens == some[i].tokens;
    lab.check("same_tries", "a try drawn alone is the one drawn in company", same);
    int alike = 0;
    for (int i = 0; i < 8; ++i) alike += some[i].tokens == again[i].tokens;
    lab.note("alike", "of 8 tries, the same at both shapes", alike, "samples");
    together(lab, wide, engine);

    lab.keep(
        "A vote finds what the model says most often; a verifier finds what it can "
        "say at all.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "12_vote_or_verify",
         .title = "Vote, or verify?",
         .question = "What are many tries worth, and who picks the right one?",
         .experiment = vote_or_verify,
         .arguments = [](lab::Arguments& arguments) {
             const auto share = [&](const char* name, double& value,
                                    const char* help) {
                 arguments.add(name, value, help, lab::Real{0, 1});
             };
             arguments.add("--p", p, "Share of the tries that are right",
                           lab::Real{0.001, 1});
             arguments.add("--wanted", wanted, "Share of the questions to get right",
                           lab::Real{0, 0.999});
             arguments.add("--votes", votes, "Tries that vote",
                           {.least = 1, .most = 1001});
             arguments.add("--samples", samples, "Tries with a verifier",
                           {.least = 1, .most = 1000});
             share("--easy", easy.brief.right, "Easy questions: right, brief");
             share("--easy-careful", easy.careful.right,
                   "Easy questions: right, careful");
             share("--hard", hard.brief.right, "Hard questions: right, brief");
             share("--hard-careful", hard.careful.right,
                   "Hard questions: right, careful");
             share("--hard-share", hard_share,
                   "Share of the questions that are hard");
             share("--mistaken", mistaken,
                   "Share of questions that the judge mistakes");
             arguments.add("--careful", careful, "What care costs, over being brief",
                           lab::Real{1, 1e6});
             arguments.add("--games", games, "Games to simulate",
                           {.least = 100, .most = 10'000'000, .quick = 20'000});
             arguments.add("--tries", tries,
                           "Tries of a question, and as many to learn p from",
                           {.least = 32, .most = 100'000, .quick = 64});
             arguments.add("--most", most, "Tries that are used together, at most",
                           {.least = 2, .most = 64});
             arguments.add("--tokens", tokens, "Tokens of a reply, at most",
                           {.least = 2, .most = 200});
             arguments.add("--temperature", temperature, "Of the sampler",
                           lab::Real{0, 10});
         }});
}
