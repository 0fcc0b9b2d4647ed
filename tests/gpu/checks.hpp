#pragma once

// What scripts/gpu_check checks about a model on a device. Nothing in here knows which
// device it is: tests run it on the kernels' CPU machine.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gpt2/generate.hpp"
#include "gpt2/model.hpp"
#include "gpt2/sampler.hpp"
#include "lab/measured.hpp"
#include "lab/same_logits.hpp"

namespace gpu_check {

using gpt2::KvCache;
using gpt2::Logits;
using gpt2::Model;
using gpt2::Token;
using lab::Outcome;

/// All rows of a text that is read at once.
inline Logits read(Model& model, std::span<const Token> text) {
    KvCache cache = model.new_cache();
    return model.forward(text, cache, gpt2::Rows::all);
}

/// No logit is further off than `bound`, in units of the greatest expected in its row.
inline Outcome logits_agree(const Logits& expected, const Logits& found, double bound) {
    double most = expected.rows() == found.rows() ? 0 : INFINITY;
    for (int r = 0; r < std::min(expected.rows(), found.rows()); ++r) {
        double off = 0, scale = 0;
        for (std::size_t i = 0; i < expected[r].size(); ++i) {
            const double d = std::abs(double(expected[r][i]) - double(found[r][i]));
            off = std::max(off, std::isnan(d) ? INFINITY : d);
            scale = std::max(scale, std::abs(double(expected[r][i])));
        }
        most = std::max(most, off / scale);
    }
    return {most <= bound, fmt::format("off by {:.2g} of the greatest at most, of {:.2g} "
                                       "allowed",
                                       most, bound)};
}

/// At least that share of all rows has its greatest logit at the same token.
inline Outcome top_1_agrees(const Logits& expected, const Logits& found, double share) {
    int same = 0;
    for (int r = 0; r < std::min(expected.rows(), found.rows()); ++r)
        same += gpt2::argmax(expected[r]) == gpt2::argmax(found[r]);
    return {same >= share * expected.rows(),
            fmt::format("{} of {} rows, of which {:.0f}% are asked for", same,
                        expected.rows(), 100 * share)};
}

/// Both write the same tokens, greedily. Where they part, it must be at a near tie: the
/// golden model's logits of the two tokens differ by less than `tie` of the greater.
inline Outcome same_text(Model& golden, Model& found, std::span<const Token> prompt,
                         int count, double tie) {
    gpt2::GenerateOptions options;
    options.max_tokens = count;
    KvCache a = golden.new_cache(), b = found.new_cache();
    const auto expected = generate(golden, a, prompt, options).tokens;
    const auto written = generate(found, b, prompt, options).tokens;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (i < written.size() && written[i] == expected[i]) continue;
        if (i >= written.size()) return {false, fmt::format("ends after {} tokens", i)};
        std::vector<Token> text(prompt.begin(), prompt.end());
        text.insert(text.end(), expected.begin(), expected.begin() + std::ptrdiff_t(i));
        KvCache again = golden.new_cache();
        const Logits logits = golden.forward(text, again);
        const float best = logits[0][std::size_t(expected[i])];
        const float other = logits[0][std::size_t(written[i])];
        return {best - other < tie * std::abs(best),
                fmt::format("they part at token {}: {} with {}, {} with {}", i,
                            expected[i], best, written[i], other)};
    }
    return {expected.size() == written.size(), fmt::format("{} tokens", written.size())};
}

/// Model::write's tokens behind `prompt`, `next` first.
inline std::vector<Token> write(Model& model, KvCache& cache, Token next, int count) {
    std::vector<Token> tokens;
    model.write(cache, next, count, {}, [&](Token token) {
        tokens.push_back(token);
        return true;
    });
    return tokens;
}

/// What Model::write writes, and leaves in the cache, is what the loop over forward does,
/// bit for bit: the logits behind it are the same.
inline Outcome writes_as_the_loop(Model& model, std::span<const Token> prompt,
                                  int count) {
    KvCache a = model.new_cache(), b = model.new_cache();
    const Token next = gpt2::argmax(model.forward(prompt, a)[0]);
    model.forward(prompt, b);
    const std::vector<Token> written = write(model, a, next, count);
    std::vector<Token> expected = {next};
    while (int(expected.size()) < count)
        expected.push_back(
            gpt2::argmax(model.forward(std::span(&expected.back(), 1), b)[0]));
    if (written != expected) return {false, "the tokens differ"};
    const Logits x = model.forward(std::span(&next, 1), a);
    const Logits y = model.forward(std::span(&next, 1), b);
    const std::int64_t differ = lab::differing_floats(x[0], y[0]);
    return {differ == 0 && a.size() == b.size(),
            fmt::format("{} tokens; behind them {} of {} logits differ", count, differ,
                        x.n_vocab())};
}

/// Writing `count` tokens takes no memory that it does not give back.
inline Outcome memory_stays(Model& model, int count,
                            const std::function<std::size_t()>& memory_in_use) {
    KvCache cache = model.new_cache();
    std::size_t before = 0;
    for (const bool first : {true, false}) {  // the first time makes room
        write(model, cache, 1, count);
        cache.truncate(0);
        if (first) before = memory_in_use();
    }
    const std::size_t after = memory_in_use();
    return {before == after,
            fmt::format("{} bytes, then {} after {} tokens", before, after, count)};
}

/// Seconds between two tokens, while `count` are written behind `start` positions. The
/// first two are left out: they start the writing up.
inline lab::Seconds beat(Model& model, KvCache& cache, int start, int count) {
    int seen = 0;
    lab::Seconds third = 0, last = 0;
    const lab::Stopwatch watch;
    model.write(cache, 1, count, {}, [&](Token) {
        last = watch.seconds();
        if (++seen == 3) third = last;
        return true;
    });
    cache.truncate(start);
    return (last - third) / (seen - 3);
}

/// A command line succeeds.
inline Outcome succeeds(const std::string& command, const std::string& log) {
    const int status = std::system(("{ " + command + "; } >'" + log + "' 2>&1").c_str());
    return {status == 0, status == 0 ? "" : "see " + log};
}

}  // namespace gpu_check
