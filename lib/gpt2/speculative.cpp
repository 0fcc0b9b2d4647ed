#include "gpt2/speculative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

using Tokens = std::span<const Token>;

double probability(std::span<const Candidate> candidates, Token token) {
    const auto found = std::ranges::find(candidates, token, &Candidate::token);
    return found == candidates.end() ? 0 : found->probability;
}

/// Positions from the start that two texts have in common.
std::size_t common(Tokens a, Tokens b) {
    return std::size_t(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

ModelDraft::ModelDraft(Model& model, TokenMap map)
    : model_(model), map_(std::move(map)), cache_(model.new_cache()) {}

std::vector<Guess> ModelDraft::guess(Tokens text, int count, const Sampler& sampler,
                                     std::uint64_t sample) {
    std::vector<Guess> guesses;
    if (count < 1 || text.empty() || !map_.to_draft(text.back())) return guesses;
    std::vector<Token> known;
    for (const Token token : text)
        if (const auto id = map_.to_draft(token)) known.push_back(*id);

    // What the cache holds of an earlier guess that was not kept is forgotten. One token
    // at least is read again: its logits are where guessing begins.
    const std::size_t same = std::min(common(held_, known), known.size() - 1);
    held_.resize(same);
    cache_.truncate(int(same));
    std::vector<Token> next(known.begin() + std::ptrdiff_t(same), known.end());
    // [guess]
    while (int(guesses.size()) < count) {
        if (held_.size() + next.size() > std::size_t(model_.config().n_ctx)) break;
        const Logits logits = model_.forward(next, cache_);
        held_.insert(held_.end(), next.begin(), next.end());
        Guess guess{0, sampler.candidates(logits[0])};
        std::erase_if(guess.candidates,
                      [&](const Candidate& c) { return !map_.to_target(c.token); });
        if (guess.candidates.empty()) break;
        double sum = 0;
        for (const Candidate& candidate : guess.candidates) sum += candidate.probability;
        for (Candidate& candidate : guess.candidates) candidate.probability /= sum;
        const std::uint64_t position = text.size() + guesses.size();
        const Token id =
            draw(guess.candidates, sampler.random(sample, position, Purpose::guess));
        for (Candidate& candidate : guess.candidates)
            candidate.token = *map_.to_target(candidate.token);
        guess.token = *map_.to_target(id);
        guesses.push_back(std::move(guess));
        next = {id};
    }
    // [guess]
    return guesses;
}

PromptLookup::PromptLookup(int least, int most) : least_(least), most_(most) {
    if (least < 1 || most < least)
        throw BadInput(fmt::format(
            "prompt look-up: expected 1 <= least <= most, found {} and {}", least, most));
}

std::vector<Guess> PromptLookup::guess(Tokens text, int count, const Sampler&,
                                       std::uint64_t) {
    // [lookup]
    int best = least_ - 1;
    std::size_t from = text.size();
    for (std::size_t end = text.size() - 1; end > 0; --end) {
        int match = 0;  // tokens before `end` that are those before the end of all
        while (match < most_ && std::size_t(match) < end &&
               text[end - 1 - match] == text[text.size() - 1 - match])
            ++match;
        if (match > best) {
            best = match;
            from = end;
        }
    }
    std::vector<Guess> guesses;
    for (const Token token : text.subspan(from))
        if (int(guesses.size()) < count) guesses.push_back({token, {{token, 1.0}}});
    // [lookup]
    return guesses;
}

double acceptance(std::span<const Candidate> target, std::span<const Candidate> draft,
                  Token guess) {
    return std::min(1.0, probability(target, guess) / probability(draft, guess));
}

std::vector<Candidate> remainder(std::span<const Candidate> target,
                                 std::span<const Candidate> draft) {
    std::vector<Candidate> left;
    double sum = 0;
    for (const auto& [token, p] : target) {
        const double more = p - probability(draft, token);
        if (more <= 0) continue;
        left.push_back({token, more});
        sum += more;
    }
    // Equal but for rounding: a refusal has next to no chance then, and p is as right.
    if (left.empty()) return {target.begin(), target.end()};
    for (Candidate& candidate : left) candidate.probability /= sum;
    return left;
}

Speculation speculate(
    Model& target, KvCache& cache, Tokens prompt, Draft& draft,
    const SpeculateOptions& options,
    const std::function<bool(Token, std::span<const float>)>& on_token) {
    using Clock = std::chrono::steady_clock;
    const GenerateOptions& wanted = options.generate;
    const Sampler& sampler = wanted.sampler;
    const int count = room_to_write(target.config(), cache.size(), prompt, wanted);
    const int before = cache.size();

    const Clock::time_point start = Clock::now();
    Speculation result;
    Generation& written = result.generation;
    written.finish = count < wanted.max_tokens ? Finish::context : Finish::length;
    std::vector<Token> text(prompt.begin(), prompt.end());

    // Writes a token down. Returns whether to go on.
    const auto write = [&](Token token, std::span<const float> row) {
        text.push_back(token);
        written.tokens.push_back(token);
        written.seconds.push_back(
            std::chrono::duration<double>(Clock::now() - start).count());
        if (on_token && !on_token(token, row))
            written.finish = Finish::stopped;
        else if (token == wanted.end_of_text)
            written.finish = Finish::end_of_text;
        else
            return int(written.tokens.size()) < count;
        return false;
    };

    const Logits first = target.forward(prompt, cache);
    bool go_on = write(sampler.pick(first[0], options.sample, cache.size()), first[0]);
    while (go_on) {
        // [verify]
        // A pass writes one token more than it keeps of the guesses.
        const int left = count - int(written.tokens.size()) - 1;
        const int ask = options.adapt ? options.adapt(result.trips) : options.guesses;
        if (ask < 0)
            throw BadInput(fmt::format("guesses: expected at least 0, found {}", ask));
        const std::vector<Guess> guesses =
            draft.guess(text, std::min(ask, left), sampler, options.sample);
        std::vector<Token> reading{text.back()};
        for (const Guess& guess : guesses) reading.push_back(guess.token);
        const Logits logits = target.forward(reading, cache, Rows::all);

        std::vector<Token> fresh;
        for (std::size_t row = 0;; ++row) {
            const std::uint64_t position = before + text.size() + row;
            std::vector<Candidate> p = sampler.candidates(logits[int(row)]);
            if (row < guesses.size()) {
                const auto& [token, q] = guesses[row];
                if (sampler.random(options.sample, position, Purpose::keep) <
                    acceptance(p, q, token)) {
                    fresh.push_back(token);
                    continue;
                }
                p = remainder(p, q);
            }
            fresh.push_back(
                draw(p, sampler.random(options.sample, position, Purpose::token)));
            break;
        }
        result.trips.push_back({int(guesses.size()), int(fresh.size()) - 1});
        for (int i = 0; go_on && i < int(fresh.size()); ++i)
            go_on = write(fresh[i], logits[i]);
        cache.truncate(before + int(text.size()) - 1);
        // [verify]
    }
    return result;
}

}  // namespace gpt2
