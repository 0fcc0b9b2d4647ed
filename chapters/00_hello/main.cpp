// Hello: a prompt is continued, word by word
//
// Type a beginning, and GPT-2 goes on. Watch the rhythm: a short wait, then token
// after token at a steady beat. The wait is the time it takes to read your prompt;
// the beat is the time it takes to write. Before you look at the table below the
// text: if the prompt were twice as long, what would change?
//
//     A  the wait and the beat both double
//     B  the wait grows, the beat hardly changes
//     C  the beat grows, the wait hardly changes
//     D  neither changes

#include <fmt/format.h>

#include <cstdio>

#include "gpt2/generate.hpp"
#include "gpt2/utf8.hpp"
#include "lab/experiment.hpp"
#include "lab/visible.hpp"
#include "lab/writing.hpp"

// --prompt and its companions
std::string prompt = "The old house had been empty for years, and";
int n = 100;
double temperature = 0, top_p = 1;
int top_k = 0;

void hello(lab::Experiment& lab) {
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const gpt2::Tokenizer& tokenizer = lab.tokenizer();

    // A model knows no letters. It is handed tokens: pieces of text with an id.
    gpt2::check_utf8(prompt, "--prompt");
    const std::vector<gpt2::Token> tokens = tokenizer.encode(prompt);

    // What should happen
    // ------------------
    // The wait is one forward pass over the whole prompt. Each further token is one
    // forward pass over the token before it.

    // [predict]
    const ledger::Engine engine = lab.engine();
    const int length = int(tokens.size());
    const ledger::Seconds wait =
        tokens.empty() ? 0
                       : engine.forward({.tokens = length, .past = 0, .rows = 1});
    const ledger::Seconds beat =
        engine.forward({.tokens = 1, .past = length + n / 2, .rows = 1});
    // [predict]

    // Reading, then writing
    // ---------------------
    // `generate` is a loop around one verb: forward(tokens) gives a score for every
    // token of the vocabulary, the sampler picks one, and that one is fed back. The
    // text appears as it is written. A token may end in the middle of a character;
    // the decoder holds such bytes back until the character is whole.

    // [write]
    gpt2::GenerateOptions options{.max_tokens = n,
                                  .end_of_text = tokenizer.end_of_text()};
    options.sampler = gpt2::Sampler({.temperature = float(temperature),
                                     .top_k = top_k,
                                     .top_p = float(top_p),
                                     .seed = lab.options().seed});
    gpt2::KvCache cache = model->new_cache();
    gpt2::StreamDecoder decoder(tokenizer);
    std::string streamed;
    fmt::print("\n{}", prompt);
    const auto show = [&](const std::string& text) {
        streamed += text;
        fmt::print("{}", text);
        std::fflush(stdout);
    };
    const gpt2::Generation written =
        gpt2::generate(*model, cache, tokens, options, [&](gpt2::Token token) {
            if (token != tokenizer.end_of_text()) show(decoder.push(token));
            return true;
        });
    show(decoder.finish());
    fmt::print("\n\n({} tokens; end: {})\n", written.tokens.size(),
               gpt2::name_of(written.finish));
    // [write]

    // The wait and the beat
    // ---------------------
    // n tokens have n - 1 gaps between them.
    lab.row("first_token_wait", fmt::format("wait: {} tokens read", length), "s",
            wait, lab::summarize({written.first_token()}));
    if (written.tokens.size() > 1) {
        lab.row("token_beat", "beat: one token written", "s", beat,
                lab::summarize(lab::beats(written)));
        lab.headline("token_beat");
    }
    std::vector<lab::Cells> rhythm;
    for (std::size_t i = 0; i < written.tokens.size(); ++i)
        rhythm.push_back({lab::visible(tokenizer.bytes(written.tokens[i])),
                          written.seconds[i] - (i ? written.seconds[i - 1] : 0)});
    lab.exhibit("beats", {"piece", "seconds"}, rhythm);

    // Streaming must not change the text: the pieces, joined, are what decoding all
    // tokens at once gives.
    std::vector<gpt2::Token> text = written.tokens;
    if (written.finish == gpt2::Finish::end_of_text) text.pop_back();
    lab.check("stream_whole", "the streamed pieces join to the whole text",
              streamed == tokenizer.decode(text));

    lab.keep("First a wait, while the prompt is read; then a beat, token by token.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "00_hello",
         .title = "Hello: a prompt is continued, word by word",
         .question = "How long until the first word, and how long between words?",
         .experiment = hello,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--prompt", prompt, "The text to continue");
             arguments.add("--tokens", n, "Tokens to write", {.quick = 40});
             arguments.add("--temperature", temperature,
                           "0: always the best candidate; 1: as the model says");
             arguments.add("--top-k", top_k, "Only the k best candidates; 0: all",
                           {.least = 0});
             arguments.add("--top-p", top_p,
                           "Only the best candidates that together reach this",
                           {.least = 0, .most = 1});
         }});
}
