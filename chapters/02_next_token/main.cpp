// The next token: a table of candidates
//
// What comes after "Thank you very"? You know, and so does a language model. But it
// does not answer with a word. It answers with a table: a probability for every
// token of its vocabulary. Whether it is sure or has no idea, the table is as long.
// Along a page of ordinary text, at how many positions does one candidate hold more
// than 90%?
//
//     A  at hardly any: language is full of surprises
//     B  at a few of them, somewhere between a tenth and a third
//     C  at about half
//     D  at nearly all: most of what people write could be guessed

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpt2/error.hpp"
#include "gpt2/sampler.hpp"
#include "gpt2/utf8.hpp"
#include "lab/experiment.hpp"
#include "lab/surprise.hpp"
#include "lab/table.hpp"
#include "lab/visible.hpp"

const std::string course_prompt = "Thank you very";
std::string prompt = course_prompt;  // --prompt
int n = 256, n_top = 8;              // --tokens, --top

// The table
// ---------
// One forward pass over a prompt, and its last row of scores. They are called
// logits: any numbers, large where the model expects a token. Softmax makes
// probabilities of them.

// [table]
std::vector<float> last_logits(gpt2::Model& model, const gpt2::Tokenizer& tokenizer,
                               const std::string& text) {
    const std::vector<gpt2::Token> tokens = tokenizer.encode(text);
    if (tokens.empty()) throw gpt2::BadInput("--prompt: empty");
    gpt2::KvCache cache = model.new_cache();
    const gpt2::Logits logits = model.forward(tokens, cache);
    return {logits[0].begin(), logits[0].end()};
}
// [table]

// How surprised would it be? The surprise of a token is -log2 of its probability, in
// bits: 0 for what was certain, 1 for a coin, 10 for one chance in 1,024. The
// entropy is the surprise to expect: every token's own, weighted with its
// probability. It is a figure for the whole table, and says how sure the model is
// before it has seen the answer.

// [candidates]
void show_candidates(lab::Experiment& lab, std::span<const float> logits) {
    const gpt2::Sampler as_it_is({.temperature = 1});
    const std::vector<gpt2::Candidate> all = as_it_is.candidates(logits);
    lab::Table table({{"candidate", 20},
                      {"probability", 11, true},
                      {"bits", 8, true},
                      {"together", 10, true}});
    double sum = 0, off = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto [token, probability] = all[i];
        sum += probability;
        if (i >= std::size_t(n_top)) continue;
        const double bits = lab::surprise(logits, token);
        off = std::max(off, std::abs(bits + std::log2(probability)));
        table.add({lab::visible(lab.tokenizer().bytes(token)),
                   fmt::format("{:.2f}%", 100 * probability),
                   fmt::format("{:.2f}", bits), fmt::format("{:.2f}%", 100 * sum)});
    }
    fmt::print("\nafter \"{}\"\n{}entropy of the whole table: {:.2f} bits\n", prompt,
               table.text(), lab::entropy(logits));
    lab.check("sum_to_one", "all probabilities together are 1",
              std::abs(sum - 1) < 1e-9,
              fmt::format("off by {:.0e}", std::abs(sum - 1)));
    lab.check("bits_of_table", "a surprise is -log2 of the probability beside it",
              off < 1e-9, fmt::format("off by {:.0e} at most", off));
}
// [candidates]

// What the course printed
// -----------------------
// The course asked OpenAI's GPT-2 small. Run with its weights, this program must
// print the same figures, to the last digit. Another model has an opinion of its
// own.

// [course]
bool is_openai_small(lab::Experiment& lab, const gpt2::Model& model) {
    return lab.options().shape == "own" && lab.options().model != "random" &&
           model.config() == gpt2::preset("small") &&
           lab.tokenizer().size() == 50257;
}

void compare_with_course(lab::Experiment& lab, std::span<const float> logits,
                         bool openai) {
    std::vector<lab::Cells> best;
    const auto all = gpt2::Sampler({.temperature = 1}).candidates(logits);
    for (const auto& [token, probability] : std::span(all).first(10))
        best.push_back({lab::visible(lab.tokenizer().bytes(token)),
                        100 * probability, lab::surprise(logits, token)});
    lab.exhibit("candidates", {"piece", "percent", "bits"}, best);

    const std::pair<std::string, std::string> asked[] = {
        {" much", "thank_you"},
        {" very", "thank_you_very"},
        {",", "thank_you_comma"},
        {"much", "thank_you_much_no_blank"},
        {" Much", "thank_you_much_capital"}};
    for (const auto& [text, id] : asked) {
        const std::vector<gpt2::Token> tokens = lab.tokenizer().encode(text);
        if (tokens.size() != 1) continue;  // not an entry of this vocabulary
        const double bits = lab::surprise(logits, tokens[0]);
        lab.row(id, "probability of " + lab::visible(text), "%", {},
                lab::summarize({100 * std::exp2(-bits)}));
        lab.row(id + "_bits", "surprise of " + lab::visible(text), "bits", {},
                lab::summarize({bits}));
    }
    lab.row("thank_you_entropy", "entropy of the table", "bits", {},
            lab::summarize({lab::entropy(logits)}));
    // Rounded weights give rounded figures.
    if (!openai || lab.options().dtype != gpt2::DType::f32 ||
        lab.options().kv != gpt2::DType::f32)
        return;
    double off = 0;
    for (const lab::Row& row : lab.results().rows)
        if (row.id.starts_with("thank_you") && row.published)
            off =
                std::max(off, std::abs(row.measured.median - *row.published->value));
    lab.check(
        "course_figures", "OpenAI's model gives the course's figures", off < 0.005,
        fmt::format("{:.4f} off at most, half of the last digit is 0.005", off));
}
// [course]

// A table can be moved without touching a weight. Asked outright, GPT-2 small
// answers a question with a shrug; one worked example before it, and it sees what is
// wanted.

// [example]
void show_example(lab::Experiment& lab, gpt2::Model& model) {
    const std::string example = "Q: What is the capital of Germany?\nA: Berlin\n\n";
    const std::string question = "Q: What is the capital of France?\nA:";
    const gpt2::Token paris = lab.tokenizer().encode(" Paris")[0];
    const auto percent = [&](const std::string& text) {
        const std::vector<float> logits = last_logits(model, lab.tokenizer(), text);
        return lab::summarize({100 * std::exp2(-lab::surprise(logits, paris))});
    };
    lab.row("paris", "capital of France: Paris", "%", {}, percent(question));
    lab.row("paris_after_example", "the same, after one example", "%", {},
            percent(example + question));
}
// [example]

// Along a text
// ------------
// Every position of a text is such a question, and the text itself holds the answer.
// One pass with Rows::all returns all tables at once; chapter 03 asks how that can
// be. The mean surprise is the cross-entropy, the very number that training makes
// small. Two to that power is the perplexity: among so many equal candidates the
// model seems to choose.

// [along]
struct Reading {
    std::vector<double> surprise, entropy;  // of text[1], text[2], ...
    int sure = 0;                           // positions: first candidate above 90%
};

Reading read(const gpt2::Logits& logits, std::span<const gpt2::Token> text) {
    Reading reading;
    for (int at = 0; at + 1 < int(text.size()); ++at) {
        reading.surprise.push_back(
            lab::surprise(logits[at], text[std::size_t(at) + 1]));
        reading.entropy.push_back(lab::entropy(logits[at]));
        const gpt2::Token first = gpt2::argmax(logits[at]);
        reading.sure += std::exp2(-lab::surprise(logits[at], first)) > 0.9;
    }
    return reading;
}
// [along]

void show_reading(lab::Experiment& lab, const gpt2::Logits& logits,
                  std::span<const gpt2::Token> text, const Reading& reading) {
    const gpt2::Tokenizer& tokenizer = lab.tokenizer();
    std::vector<lab::Cells> along;
    lab::Table table({{"the text goes on with", 22},
                      {"bits", 8, true},
                      {"entropy", 8, true},
                      {"first candidate", 22},
                      {"probability", 11, true}});
    for (std::size_t i = 0; i < std::min<std::size_t>(60, reading.surprise.size());
         ++i) {
        const gpt2::Token first = gpt2::argmax(logits[int(i)]);
        const double percent =
            100 * std::exp2(-lab::surprise(logits[int(i)], first));
        const std::string piece = lab::visible(tokenizer.bytes(text[i + 1]));
        along.push_back({piece, reading.surprise[i], percent});
        if (i < 16)
            table.add({piece, fmt::format("{:.2f}", reading.surprise[i]),
                       fmt::format("{:.2f}", reading.entropy[i]),
                       lab::visible(tokenizer.bytes(first)),
                       fmt::format("{:.1f}%", percent)});
    }
    fmt::print("\nalong the article\n{}", table.text());
    lab.exhibit("along", {"piece", "bits", "percent_first"}, along);
}

void along_a_text(lab::Experiment& lab, gpt2::Model& model) {
    const std::vector<gpt2::Token> text = lab.text("article.txt", n);
    const ledger::Engine& engine = lab.engine();
    const ledger::Step all{.tokens = n, .past = 0, .rows = n};
    lab.expect({engine.forward(all)});
    gpt2::Logits logits(0, 0);
    const lab::Measured seconds = lab.time([&] {
        gpt2::KvCache cache = model.new_cache();
        logits = model.forward(text, cache, gpt2::Rows::all);
    });
    const Reading reading = read(logits, text);
    show_reading(lab, logits, text, reading);

    // [perplexity]
    const auto count = double(reading.surprise.size());
    double mean = 0, perplexity = 1;
    for (const double bits : reading.surprise) {
        mean += bits / count;
        perplexity *= std::pow(std::exp2(bits), 1 / count);  // geometric mean of 1/p
    }
    // [perplexity]
    lab.row("text_seconds", fmt::format("read {} tokens, all tables", n), "s",
            engine.forward(all), seconds);
    lab.row("text_surprise", "mean surprise along it", "bits", {},
            lab::summarize({mean}));
    lab.row("text_perplexity", "perplexity", "candidates", {},
            lab::summarize({perplexity}));
    lab.row("sure_positions", "first candidate above 90%", "%", {},
            lab::summarize({100 * reading.sure / count}));
    lab.headline("sure_positions");
    lab.note("blind_guess", "mean surprise of a blind guess among all tokens",
             std::log2(double(lab.tokenizer().size())), "bits");

    // Must hold
    // ---------
    const double most = std::log2(double(logits.n_vocab()));
    const auto [least, greatest] = std::ranges::minmax(reading.entropy);
    lab.check("entropy_range",
              "no entropy is below 0 or above log2 of the vocabulary",
              least >= 0 && greatest <= most + 1e-9,
              fmt::format("{:.3f} to {:.3f} of {:.3f} bits", least, greatest, most));
    lab.check("perplexity", "the perplexity is 2 to the mean surprise",
              std::abs(perplexity / std::exp2(mean) - 1) < 1e-9);

    // [one_by_one]
    gpt2::KvCache cache = model.new_cache();
    std::size_t differ = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        const gpt2::Logits row = model.forward(std::span(text).subspan(i, 1), cache);
        differ += lab::surprise(row[0], text[i + 1]) != reading.surprise[i];
    }
    lab.check("surprise_bits",
              "read one by one, every surprise is the same, bit by bit", differ == 0,
              fmt::format("{} of {} differ", differ, count));
    // [one_by_one]
}

void next_token(lab::Experiment& lab) {
    gpt2::check_utf8(prompt, "--prompt");
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const bool openai = is_openai_small(lab, *model);

    const std::vector<float> logits = last_logits(*model, lab.tokenizer(), prompt);
    show_candidates(lab, logits);
    if (prompt == course_prompt) compare_with_course(lab, logits, openai);
    if (openai) show_example(lab, *model);
    along_a_text(lab, *model);

    lab.keep(
        "One pass gives every token a probability; surprise and entropy, in bits, "
        "say how much the model knew.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "02_next_token",
         .title = "The next token: a table of candidates",
         .question = "What does one forward pass say about the next token?",
         .experiment = next_token,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--prompt", prompt,
                           "The text whose next token is asked for");
             arguments.add("--top", n_top, "Candidates to show", {.most = 100});
             arguments.add("--tokens", n, "Tokens of the article to read",
                           {.least = 2, .most = 1024, .quick = 48});
         }});
}
