// Reading is parallel, writing is one at a time
//
// Output tokens cost several times what input tokens cost, on every price list. The
// usual explanation is that writing takes more thought. This program lets one GPT-2
// read 512 tokens and write 511, and shows that a token costs exactly the same
// arithmetic either way. What, then, makes writing slow?
//
//     A  a written token needs more arithmetic
//     B  choosing the token takes the time
//     C  the weights must come from memory again for every written token
//     D  everything read so far is computed again for every written token

#include <fmt/format.h>

#include "lab/experiment.hpp"

int n = 512;  // --tokens

void read_vs_write(lab::Experiment& lab) {
    const std::unique_ptr<gpt2::Model> model = lab.load_model();
    const std::vector<gpt2::Token> text = lab.text("article.txt", n);

    // What should happen
    // ------------------
    // A forward pass must do two things: multiply, and fetch what it multiplies by.
    // Your machine has a ceiling for each. Both were measured when the program
    // started, with nothing of GPT-2 in sight: so many bytes a second out of memory,
    // so many multiplications a second.
    //
    // Reading hands the model all 512 tokens at once. Every weight, once fetched, is
    // used 512 times, so the multipliers set the pace. Writing hands it one. Every
    // weight is fetched, used once, and must be fetched again for the next token, so
    // the memory sets the pace. The ledger adds up both costs, operation by
    // operation, and keeps the larger.

    // [predict]
    const ledger::Engine& engine =
        lab.engine();  // the ceilings, the shape, the dtypes
    const auto predict_read = [&] {
        return engine.forward({.tokens = n, .past = 0, .rows = n});
    };
    const auto predict_write = [&] {
        ledger::Seconds sum = 0;
        for (int past = 1; past < n; ++past)
            sum += engine.forward({.tokens = 1, .past = past, .rows = 1});
        return sum;
    };
    // [predict]
    lab.expect({predict_read(), predict_write()});

    // On some machines memory changes its pace from minute to minute, when others
    // use it too. So `time` looks at its ceiling again beside the runs, and the
    // prediction that goes into the table is asked for right behind them.

    // Read
    // ----
    // One call. The causal mask lets position t see only what came before it, so all
    // 512 tables of candidates come out together, the same tables that training uses
    // as exercises.

    // [read]
    const lab::Measured read = lab.time([&] {
        gpt2::KvCache cache = model->new_cache();
        model->forward(text, cache, gpt2::Rows::all);
    });
    const ledger::Seconds read_predicted = predict_read();
    // [read]

    // Write
    // -----
    // The same verb, fed one token at a time. The model does not even choose: the
    // next token of the text is given to it, so nothing is spent on sampling and
    // nothing can be blamed on thinking. The cache spares it every repeated sum. It
    // is slow all the same.

    // [write]
    gpt2::KvCache first = model->new_cache();
    model->forward(std::span(text).first(1), first);
    const lab::Measured write = lab.time([&] {
        gpt2::KvCache cache = first.fork();
        for (int i = 1; i < n; ++i)
            model->forward(std::span(text).subspan(i, 1), cache);
    });
    const ledger::Seconds write_predicted = predict_write();
    // [write]

    // What happened
    // -------------
    // Two rates and their ratio. If the ratio surprises you, look at the bytes
    // fetched per token, reading and writing. That is the whole secret.
    lab.row("read_512_seconds", fmt::format("read {} at once", n), "s",
            read_predicted, read);
    lab.row("write_511_seconds", fmt::format("write {} one by one", n - 1), "s",
            write_predicted, write);
    lab.row("read_512", "reading", "token/s", n / read_predicted, n / read);
    lab.row("write_511", "writing", "token/s", (n - 1) / write_predicted,
            (n - 1) / write);
    lab.ratio("read_over_write", "reading over writing", "read_512", "write_511");
    lab.note("flops_per_token", "FLOPs per token, either way",
             engine.flops_per_token(n), "FLOPs");
    lab.note("bytes_per_token_read", "bytes moved per token, reading",
             engine.bytes_per_token({.tokens = n, .past = 0, .rows = n}), "bytes");
    lab.note("bytes_per_token_write", "bytes moved per token, writing (the last)",
             engine.bytes_per_token({.tokens = 1, .past = n - 1, .rows = 1}),
             "bytes");

    // And it is the same model: read at once or token by token, the last table of
    // candidates is the same, to the last bit of every score.
    lab.check("cache_logits", "both ways give the same logits",
              lab::same_logits(*model, text));

    lab.keep(
        "Reading shares one trip of the weights among all tokens; "
        "writing pays for the trip every time.");
}

int main(int argc, char** argv) {
    return lab::run(
        argc, argv,
        {.name = "04_read_vs_write",
         .title = "Reading is parallel, writing is one at a time",
         .question = "How many times faster does a model read than write, and why?",
         .experiment = read_vs_write,
         .arguments = [](lab::Arguments& arguments) {
             arguments.add("--tokens", n,
                           "Tokens to read, and one more than to write",
                           {.least = 2, .most = 1024, .quick = 96});
         }});
}
