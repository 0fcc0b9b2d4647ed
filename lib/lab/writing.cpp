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

Writing last_runs(std::vector<gpt2::Generation> runs, int n) {
    runs.erase(runs.begin(), runs.end() - n);
    std::vector<double> seconds;
    for (const gpt2::Generation& run : runs) seconds.push_back(run.seconds.back());
    return {summarize(std::move(seconds)), std::move(runs)};
}

Writing time_writing(Experiment& lab, gpt2::Model& model,
                     std::span<const gpt2::Token> prompt,
                     const gpt2::GenerateOptions& options) {
    std::vector<gpt2::Generation> runs;
    const Measured all = lab.time([&] {
        gpt2::KvCache cache = model.new_cache();
        runs.push_back(gpt2::generate(model, cache, prompt, options));
    });
    return last_runs(std::move(runs), all.runs);
}

}  // namespace lab
