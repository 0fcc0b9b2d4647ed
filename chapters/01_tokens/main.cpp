// Text becomes tokens, and back
//
// A model reads no letters and no words. It reads tokens: pieces of text that turned
// up so often, when the vocabulary was learned, that each was given a number. Price
// lists count tokens too. Take a page of 1,000 characters in English and one in
// Chinese. A Chinese character is three bytes, an English letter is one. How do the
// bills compare?
//
//     A  they are equal: a character is a character
//     B  the Chinese page costs less: one character says as much as a word
//     C  the Chinese page costs three times as much: bytes are what counts
//     D  the Chinese page costs more than three times as much

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "gpt2/error.hpp"
#include "gpt2/utf8.hpp"
#include "lab/experiment.hpp"
#include "lab/format.hpp"
#include "lab/published.hpp"
#include "lab/table.hpp"
#include "lab/visible.hpp"

std::string own_text;            // --text: one to take apart
std::string word = " language";  // --word: one whose merges are shown

// Two vocabularies
// ----------------
// GPT-2's has 50,257 entries. The model that is shipped with this book makes do with
// fewer. All that follows is done with both.
struct Vocabulary {
    std::string id;
    gpt2::Tokenizer tokenizer;

    std::string name() const { return lab::number(tokenizer.size()) + " entries"; }

    std::string piece(gpt2::Token token) const {
        return lab::visible(tokenizer.bytes(token));
    }

    std::string pieces(std::span<const gpt2::Token> tokens) const {
        std::string all;
        for (const gpt2::Token token : tokens)
            all += (all.empty() ? "" : " | ") + piece(token);
        return all;
    }
};

std::vector<Vocabulary> vocabularies(lab::Experiment& lab) {
    const auto gpt2s = gpt2::data_directory() / "gpt2-vocab";
    std::vector<Vocabulary> both{{"gpt2", gpt2::Tokenizer::load(gpt2s)}};
    // --model may name OpenAI's own files: then there is only one.
    if (lab.tokenizer().size() != both[0].tokenizer.size())
        both.push_back({"model", gpt2::Tokenizer::load(lab.options().model)});
    return both;
}

// A character of UTF-8 is one byte that says how long it is, then bytes that
// continue it.
bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::int64_t characters(std::string_view text) {
    return std::int64_t(text.size()) - std::ranges::count_if(text, continues);
}

struct Sample {
    std::string name, text;
    std::string opening, sentence;  // enough of it for a table, and for a picture
};

Sample sample(const std::string& name, const std::string& text, int length = 68,
              std::size_t begin = 0) {
    std::size_t end = std::min(begin + 26, text.size()), stop = begin;
    while (end < text.size() && continues(text[end])) --end;
    for (; stop < text.size(); ++stop)
        if (!continues(text[stop]) && length-- == 0) break;
    return {name, text, text.substr(begin, end - begin),
            text.substr(begin, stop - begin)};
}

// Side by side
// ------------
// What you see, what the file holds, and what the model is given. A blank (shown as
// an open box) belongs to the word behind it. A rare character is no token, but
// several, each a byte or two of it; alone, they are no characters, and are shown as
// \x...

// [side]
void show_side_by_side(const Sample& sample, const std::vector<Vocabulary>& both) {
    lab::Table table({{sample.name, 14}, {lab::visible(sample.opening), 66}});
    std::string bytes;
    for (const char byte : sample.opening)
        bytes += fmt::format("{:02x} ", static_cast<unsigned char>(byte));
    table.add({"bytes", bytes});
    for (const Vocabulary& vocabulary : both) {
        const auto tokens = vocabulary.tokenizer.encode(sample.opening);
        table.add({vocabulary.name(), vocabulary.pieces(tokens)});
        table.add({"", fmt::format("{}", fmt::join(tokens, " "))});
    }
    fmt::print("\n{}", table.text());
}
// [side]

// [chips]
void record_chips(lab::Experiment& lab, const std::vector<Sample>& samples,
                  const std::vector<Vocabulary>& both) {
    std::vector<lab::Cells> chips;
    for (const Sample& each : samples)
        for (const Vocabulary& vocabulary : both)
            for (const gpt2::Token token :
                 vocabulary.tokenizer.encode(each.sentence))
                chips.push_back({each.name, vocabulary.id, double(token),
                                 vocabulary.piece(token)});
    lab.exhibit("chips", {"text", "vocabulary", "token", "piece"}, chips);
}
// [chips]

// How a token is built
// --------------------
// The vocabulary comes with a list of rules, in the order in which they were
// learned: the pair of neighbours that was most frequent first. To encode a word,
// start from its bytes and apply the earliest rule that fits, until none does. What
// is left are the tokens.

// [merge]
void show_merges(lab::Experiment& lab, const Vocabulary& vocabulary) {
    lab::Table table({{"rule", 8, true}, {vocabulary.name(), 66}});
    const auto steps = vocabulary.tokenizer.merge_steps(word);
    bool spelled = true;
    std::vector<lab::Cells> merges;
    double step = 0;
    for (const auto& [rule, tokens] : steps) {
        table.add(
            {rule < 0 ? "bytes" : lab::number(rule), vocabulary.pieces(tokens)});
        spelled = spelled && vocabulary.tokenizer.decode(tokens) == word;
        for (const gpt2::Token token : tokens)
            merges.push_back({step, vocabulary.piece(token)});
        ++step;
    }
    fmt::print("\n{}", table.text());
    if (vocabulary.id == "gpt2") lab.exhibit("merges", {"step", "piece"}, merges);
    lab.check("merged_" + vocabulary.id,
              "merging ends with the tokens, and every step spells the word",
              spelled && steps.back().tokens == vocabulary.tokenizer.encode(word),
              fmt::format("{} merges", steps.size() - 1));
}
// [merge]

// Count, and pay
// --------------
// What should happen, if bytes were what counts? Then every text would have as many
// tokens to a byte as English has. That is the prediction for the other three. It
// errs on the cheap side: the rules were learned from pages that were mostly
// English, and it is English that was given the long tokens.
//
// The bill is for a thousand pages of 1,000 characters, at a public price for input.
// Vendors count with vocabularies of their own, longer than these; the rule is the
// same. Money is added up in whole nano-dollars: a token costs a few thousand of
// them.

// [bill]
std::int64_t nanodollars_per_token(const std::string& id) {
    const auto file = gpt2::data_directory() / "published.json";
    const double price = lab::read_published(file)[id].value.value_or(0);
    if (!(price > 0 && price <= 100))
        throw gpt2::BadInput(
            fmt::format("{}: '{}': expected dollars for a million tokens, found {}",
                        file.string(), id, price));
    return std::llround(price * 1000);
}

void count(lab::Experiment& lab, const std::vector<Sample>& samples,
           const Vocabulary& vocabulary) {
    const std::int64_t price = nanodollars_per_token("price_opus_input");
    lab::Table table({{vocabulary.name()},
                      {"characters", 10, true},
                      {"bytes", 8, true},
                      {"tokens", 8, true},
                      {"per character", 9, true},
                      {"per byte", 8, true},
                      {"1,000 pages", 11, true}});
    std::vector<lab::Cells> bill;
    double english = 0;  // tokens per byte
    for (const auto& [name, text, opening, sentence] : samples) {
        const auto tokens = std::int64_t(vocabulary.tokenizer.encode(text).size());
        const std::int64_t length = characters(text);
        const double per_character = double(tokens) / double(length);
        const double per_byte = double(tokens) / double(text.size());
        const std::int64_t cents = tokens * price * 1'000'000 / length / 10'000'000;
        table.add({name, lab::number(double(length)),
                   lab::number(double(text.size())), lab::number(double(tokens)),
                   fmt::format("{:.3f}", per_character),
                   fmt::format("{:.3f}", per_byte),
                   fmt::format("${}.{:02}", cents / 100, cents % 100)});
        bill.push_back({name, double(length), double(text.size()), double(tokens),
                        double(cents) / 100});

        std::optional<double> predicted;
        if (english > 0)
            predicted = english * 1000 * double(text.size()) / double(length);
        if (english == 0) english = per_byte;
        lab.row(name + "_" + vocabulary.id,
                fmt::format("1,000 characters: {}, {}", name, vocabulary.name()),
                "tokens", predicted, lab::summarize({1000 * per_character}));
    }
    fmt::print("\n{}", table.text());
    lab.exhibit("bill_" + vocabulary.id,
                {"text", "characters", "bytes", "tokens", "dollars"}, bill);
    lab.ratio("chinese_over_english_" + vocabulary.id,
              "Chinese over English, " + vocabulary.name(),
              "chinese_" + vocabulary.id, "english_" + vocabulary.id);
}
// [bill]

// Nothing is lost
// ---------------
// All 256 bytes are entries, so whatever no rule fits stays a byte. Every text has
// tokens, and they are that text and no other: a file that is no text at all comes
// back too.

// [whole]
bool comes_back(const gpt2::Tokenizer& tokenizer, std::string_view bytes) {
    return tokenizer.decode(tokenizer.encode(bytes)) == bytes;
}

void check_whole(lab::Experiment& lab, const std::vector<Sample>& samples,
                 const Vocabulary& vocabulary) {
    const auto& [name, tokenizer] = vocabulary;
    int lost = 0, alone = 0;
    for (gpt2::Token id = 0; id < tokenizer.size(); ++id) {
        lost += !comes_back(tokenizer, tokenizer.bytes(id));
        alone += tokenizer.encode(tokenizer.bytes(id)).size() == 1;
    }
    lab.check("entries_" + name, "every entry's bytes come back whole", lost == 0,
              fmt::format("{}, of which {} are one token when met alone",
                          vocabulary.name(), alone));

    std::mt19937_64 random(lab.options().seed);
    lost = 0;
    for (int i = 0; i < 1000; ++i) {
        std::string bytes(random() % 200, '\0');
        for (char& byte : bytes) byte = char(random() % 256);
        lost += !comes_back(tokenizer, bytes);
    }
    for (const Sample& each : samples) lost += !comes_back(tokenizer, each.text);
    lab.check("random_" + name,
              "so does every text, and 1,000 strings of random bytes", lost == 0);
}
// [whole]

// Traps
// -----
// A word at the beginning of a line is another token than the same word behind a
// blank; so a prompt that ends in a blank asks the model for a word it has hardly
// ever seen there. A line that ends as Windows ends it costs more than one that does
// not. And an end of text that a person types is just so many characters: only a
// program can say it.

// [traps]
void show_traps(lab::Experiment& lab, const Vocabulary& vocabulary) {
    const auto& [id, tokenizer] = vocabulary;
    lab::Table table({{"trap", 24}, {"tokens", 6, true}, {vocabulary.name(), 50}});
    for (const char* text :
         {"the", " the", "The", "read the", "read the ", "read\nwrite\n",
          "read\r\nwrite\r\n", "<|endoftext|>"}) {
        const std::vector<gpt2::Token> tokens = tokenizer.encode(text);
        table.add({lab::visible(text), fmt::format("{}", tokens.size()),
                   vocabulary.pieces(tokens)});
    }
    fmt::print("\n{}", table.text());
    const std::string mark(tokenizer.bytes(tokenizer.end_of_text()));
    lab.check("typed_end_" + id,
              "an end of text is one token only where it is asked for",
              tokenizer.encode(mark).size() > 1 &&
                  tokenizer.encode(mark, gpt2::Special::parse) ==
                      std::vector{tokenizer.end_of_text()});
}
// [traps]

// The last trap is a program's. A token that ends in the middle of a character must
// not be printed yet: the screen would show a broken character, then another. The
// decoder holds it back until the character is whole.

// [stream]
void stream(lab::Experiment& lab, const std::vector<Sample>& samples,
            const Vocabulary& vocabulary) {
    const auto& [id, tokenizer] = vocabulary;
    lab::Table table({{"token", 24}, {"on the screen", 24}});
    std::size_t cut = 0, tokens = 0;
    bool whole = true;
    for (const auto& [name, text, opening, sentence] : samples) {
        gpt2::StreamDecoder decoder(tokenizer);
        std::string streamed;
        for (const gpt2::Token token : tokenizer.encode(text)) {
            const std::string out = decoder.push(token);
            const std::string_view bytes = tokenizer.bytes(token);
            if (name == "emoji" && streamed.size() < 16)
                table.add({lab::visible(bytes), lab::visible(out)});
            whole = whole && (out.empty() || !continues(out[0]));
            streamed += out;
            cut += out.empty() || !out.ends_with(bytes);
            ++tokens;
        }
        whole = whole && streamed + decoder.finish() == text;
    }
    fmt::print("\n{}, streamed\n{}", vocabulary.name(), table.text());
    lab.check("streamed_" + id,
              "streamed text joins to the whole, no character ever broken", whole,
              fmt::format("{} of {} tokens end within one", cut, tokens));
}
// [stream]

// And the price of the translation itself? Set it beside the time a model takes for
// a token, in the chapters that follow: text becomes tokens practically for nothing.

// [speed]
void speed(lab::Experiment& lab, const Vocabulary& vocabulary) {
    std::string text;
    const std::string article = lab.whole_text("article.txt");
    const std::size_t enough = lab.quick() ? 100'000 : 1'000'000;
    while (text.size() < enough) text += article;
    std::vector<gpt2::Token> tokens;
    const lab::Measured encode =
        lab.time([&] { tokens = vocabulary.tokenizer.encode(text); });
    const lab::Measured decode =
        lab.time([&] { vocabulary.tokenizer.decode(tokens); });
    const auto megabytes = double(text.size()) / 1e6;
    lab.row("encode_" + vocabulary.id, "text to tokens, " + vocabulary.name(),
            "MB/s", {}, megabytes / encode);
    lab.row("decode_" + vocabulary.id, "tokens to text, " + vocabulary.name(),
            "MB/s", {}, megabytes / decode);
}
// [speed]

void tokens(lab::Experiment& lab) {
    gpt2::check_utf8(own_text, "--text");
    gpt2::check_utf8(word, "--word");
    lab.load_model();  // says which it is; only its vocabulary is used
    const std::vector<Vocabulary> both = vocabularies(lab);
    const std::string code = lab.whole_text("code.txt");
    std::vector<Sample> samples{sample("english", lab.whole_text("english.txt")),
                                sample("chinese", lab.whole_text("chinese.txt"), 49),
                                sample("code", code, 68, code.find('\n') + 1),
                                sample("emoji", lab.whole_text("emoji.txt"), 46)};
    if (!own_text.empty()) samples.push_back(sample("yours", own_text));

    for (const Sample& each : samples) show_side_by_side(each, both);
    record_chips(lab, samples, both);
    for (const Vocabulary& vocabulary : both) show_merges(lab, vocabulary);
    for (const Vocabulary& vocabulary : both) count(lab, samples, vocabulary);
    for (const Vocabulary& vocabulary : both) {
        check_whole(lab, samples, vocabulary);
        show_traps(lab, vocabulary);
        stream(lab, samples, vocabulary);
        speed(lab, vocabulary);
    }
    lab.headline("chinese_over_english_gpt2");
    lab.keep(
        "Any text becomes tokens and comes back whole; only how many differs, "
        "and that is what is billed.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "01_tokens",
         .title = "Text becomes tokens, and back",
         .question = "How many tokens is a text, and who pays for more of them?",
         .experiment = tokens,
         .arguments =
             [](lab::Arguments& arguments) {
                 arguments.add("--text", own_text, "One more text to take apart");
                 arguments.add("--word", word,
                               "A word, with its blank, to build by merging");
             },
         .shape = "own"});
}
