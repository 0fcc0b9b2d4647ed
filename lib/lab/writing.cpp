#include "lab/writing.hpp"

namespace lab {

std::vector<double> beats(const gpt2::Generation& written) {
    std::vector<double> seconds;
    for (std::size_t i = 1; i < written.seconds.size(); ++i)
        seconds.push_back(written.seconds[i] - written.seconds[i - 1]);
    return seconds;
}

Measured Writing::first_token() const {
    std::vector<double> waits;
    for (const gpt2::Generation& run : runs) waits.push_back(run.first_token());
    return summarize(std::move(waits));
}

Measured Writing::beat() const {
    std::vector<double> all;
    for (const gpt2::Generation& run : runs)
        for (const double seconds : beats(run)) all.push_back(seconds);
    return summarize(std::move(all));
}

Writing time_writing(Experiment& lab, gpt2::Model& model,
                     std::span<const gpt2::Token> prompt,
                     const gpt2::GenerateOptions& options) {
    Writing writing;
    writing.total = lab.time([&] {
        gpt2::KvCache cache = model.new_cache();
        writing.runs.push_back(gpt2::generate(model, cache, prompt, options));
    });
    writing.runs.erase(writing.runs.begin(), writing.runs.end() - writing.total.runs);
    return writing;
}

}  // namespace lab
