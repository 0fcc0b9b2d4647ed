#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpt2/model.hpp"
#include "gpt2/sampler.hpp"

namespace gpt2 {

/// When to stop, and how to choose.
struct GenerateOptions {
    int max_tokens = 100;    ///< at least 1
    Token end_of_text = -1;  ///< stop behind this token; -1: never
    Sampler sampler = {};    ///< how each token is chosen; greedy unless set
};

/// Why writing came to an end.
enum class Finish {
    length,       ///< all of max_tokens were written
    end_of_text,  ///< the model wrote the token that ends a text
    context,      ///< no position is left: n_ctx tokens stand in the text
    stopped,      ///< on_token returned false
    cancelled,    ///< taken back before its end (scheduler only)
};

/// "length", "end of text", "context full", "stopped",
/// "cancelled".
const char* name_of(Finish finish);

/// What was written, and when.
struct Generation {
    std::vector<Token> tokens;    ///< without the prompt
    std::vector<double> seconds;  ///< for each token: from the start until it was known
    Finish finish = Finish::length;  ///< why it ended

    /// The wait for the first token: the time it took to read the prompt.
    double first_token() const { return seconds.front(); }

    /// Mean seconds between two tokens; n tokens have n - 1 such gaps.
    double beat() const {
        return (seconds.back() - seconds.front()) / double(seconds.size() - 1);
    }
};

/// Tokens that can be written behind `held` positions and a prompt: max_tokens, or as
/// many as the context has room for.
/// @throws BadInput as generate, for everything that it refuses
int room_to_write(const Config& config, int held, std::span<const Token> prompt,
                  const GenerateOptions& options);

/// Reads a prompt (prefill), then writes token by token (decode) behind what `cache`
/// holds. `on_token`, where given, is called with every token as soon as it is known, and
/// stops the writing by returning false.
///
/// Writing ends at the context's limit at the latest: nothing is ever forgotten silently.
/// @throws BadInput for an empty prompt, one that fills the context, ids outside the
///         vocabulary, or max_tokens below 1
Generation generate(Model& model, KvCache& cache, std::span<const Token> prompt,
                    const GenerateOptions& options,
                    const std::function<bool(Token)>& on_token = {});

}  // namespace gpt2
