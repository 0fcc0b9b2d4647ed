#include "gpt2/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "gpt2/error.hpp"

namespace gpt2 {

const char* name_of(Finish finish) {
    switch (finish) {
        case Finish::length:
            return "length";
        case Finish::end_of_text:
            return "end of text";
        case Finish::context:
            return "context full";
        case Finish::stopped:
            return "stopped";
        case Finish::cancelled:
            return "cancelled";
    }
    return "?";
}

int room_to_write(const Config& config, int held, std::span<const Token> prompt,
                  const GenerateOptions& options) {
    if (prompt.empty()) throw BadInput("prompt: empty: there is nothing to continue");
    if (options.max_tokens < 1)
        throw BadInput(
            fmt::format("max tokens: expected at least 1, found {}", options.max_tokens));
    const std::size_t after = held + prompt.size();
    if (after >= std::size_t(config.n_ctx))
        throw BadInput(fmt::format(
            "prompt: {} tokens leave no room to write in a context of {} positions",
            after, config.n_ctx));
    for (std::size_t i = 0; i < prompt.size(); ++i)
        if (prompt[i] < 0 || prompt[i] >= config.n_vocab)
            throw BadInput(
                fmt::format("prompt: token {}: expected an id below {}, found {}", i,
                            config.n_vocab, prompt[i]));
    return std::min(options.max_tokens, config.n_ctx - int(after));
}

Generation generate(Model& model, KvCache& cache, std::span<const Token> prompt,
                    const GenerateOptions& options,
                    const std::function<bool(Token)>& on_token) {
    using Clock = std::chrono::steady_clock;
    const int count = room_to_write(model.config(), cache.size(), prompt, options);

    const Clock::time_point start = Clock::now();
    Generation result;
    const Logits logits = model.forward(prompt, cache);
    const Token first = options.sampler.pick(logits[0], 0, cache.size());

    result.finish = count < options.max_tokens ? Finish::context : Finish::length;
    model.write(cache, first, count, options.sampler, [&](Token token) {
        result.tokens.push_back(token);
        result.seconds.push_back(
            std::chrono::duration<double>(Clock::now() - start).count());
        if (on_token && !on_token(token))
            result.finish = Finish::stopped;
        else if (token == options.end_of_text)
            result.finish = Finish::end_of_text;
        else
            return true;
        return false;
    });
    return result;
}

}  // namespace gpt2
