#include "gpt2/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <ranges>
#include <utility>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

using Tokens = std::span<const Token>;

double steady_seconds() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Whole blocks from the start that two texts have in common.
int common_blocks(Tokens a, Tokens b) {
    const auto differ = std::ranges::mismatch(a, b);
    return int(differ.in1 - a.begin()) / KvLayout::positions;
}

/// What the prefix cache may give of a prompt. The last token is always read: its row of
/// logits is what the first token is picked from.
Tokens opening(Tokens prompt) { return prompt.first(prompt.size() - 1); }

}  // namespace

Scheduler::Scheduler(Model& model, const ServeOptions& options,
                     std::function<double()> clock)
    : model_(model),
      options_(options),
      clock_(clock ? std::move(clock) : steady_seconds),
      tree_(model.new_cache().pool()) {
    for (const auto& [what, value] :
         {std::pair{"blocks", options.blocks}, std::pair{"together", options.together},
          std::pair{"chunk", options.chunk}})
        if (value < 1)
            throw BadInput(
                fmt::format("scheduler: {}: expected at least 1, found {}", what, value));
}

int Scheduler::submit(Request request) {
    const int most = room_to_write(model_.config(), 0, request.prompt, request.options);
    // The last token is written and never read: it needs no position.
    const int positions = int(request.prompt.size()) + most - 1;
    if (KvLayout::blocks_for(positions) > options_.blocks)
        throw BadInput(fmt::format(
            "request: {} tokens and {} more to write need {} blocks, but there are {}",
            request.prompt.size(), most, KvLayout::blocks_for(positions),
            options_.blocks));
    std::vector<Token> text = request.prompt;
    text.reserve(text.size() + most);
    queue_.push_back({.id = submitted_,
                      .request = std::move(request),
                      .most = most,
                      .positions = positions,
                      .submitted = clock_(),
                      .cache = model_.new_cache(),
                      .text = std::move(text)});
    return submitted_++;
}

bool Scheduler::cancel(int id) {
    for (Sequences* sequences : {&queue_, &flight_})
        for (Sequence& sequence : *sequences)
            if (sequence.id == id) return !std::exchange(sequence.cancelled, true);
    return false;
}

int Scheduler::blocks() const {
    int sum = tree_.blocks();
    for (const Sequence& sequence : flight_) sum += sequence.promised;
    return sum;
}

// [admit]
bool Scheduler::admit(Sequence& next) {
    if (options_.prefixes) {
        const Tokens wanted = opening(next.request.prompt);
        const int known = tree_.known(wanted);
        for (const Sequence& other : flight_)
            if (other.reading() && common_blocks(other.request.prompt, wanted) > known)
                return false;
        tree_.lend(wanted, next.cache);
    }
    const int whole = next.cache.size() / KvLayout::positions;
    const int promised = KvLayout::blocks_for(next.positions) - whole;
    const int missing = blocks() + promised - options_.blocks;
    if (missing > 0 && tree_.drop(missing) < missing) {
        next.cache.truncate(0);
        return false;
    }
    next.promised = promised;
    next.reused = next.cache.size();
    next.waited = clock_() - next.submitted;
    totals_.reused += next.reused;
    return true;
}
// [admit]

/// What of its cache is new and whole goes to the tree, which answers for it from then
/// on.
void Scheduler::file(Sequence& sequence) {
    const int whole = sequence.cache.size() / KvLayout::positions;
    if (!options_.prefixes || whole == sequence.filed) return;
    sequence.filed = whole;
    sequence.promised -=
        tree_.keep(Tokens(sequence.text).first(std::size_t(whole) * KvLayout::positions),
                   sequence.cache);
}

void Scheduler::end(Sequences& from, Sequences::iterator it, Finish finish) {
    it->generation.finish = finish;
    ++(finish == Finish::cancelled ? totals_.cancelled : totals_.served);
    ended_.push_back({.id = it->id,
                      .generation = std::move(it->generation),
                      .submitted = it->submitted,
                      .waited = it->waited,
                      .reused = it->reused});
    from.erase(it);
}

// [step]
std::vector<Served> Scheduler::step() {
    for (Sequences* sequences : {&queue_, &flight_})
        for (auto it = sequences->begin(); it != sequences->end();) {
            const auto sequence = it++;
            if (sequence->cancelled) end(*sequences, sequence, Finish::cancelled);
        }
    const std::vector<Step> batch = plan();
    if (!batch.empty()) {
        const Logits logits = model_.forward(batch);
        write_down(batch, logits);
    }
    return std::exchange(ended_, {});
}
// [step]

// [plan]
std::vector<Step> Scheduler::plan() {
    std::vector<Step> batch;
    int budget = options_.chunk;
    // Everyone takes part with what is not in the cache yet. Only prompts can be long,
    // and all together they get `chunk` tokens: nobody's beat waits for a whole book.
    const auto join = [&](Sequence& sequence) {
        const Tokens rest = Tokens(sequence.text).subspan(sequence.cache.size());
        std::size_t count = rest.size();
        if (sequence.reading()) {
            count = std::min(count, std::size_t(budget));
            budget -= int(count);
        }
        batch.push_back({rest.first(count), sequence.cache,
                         count == rest.size() ? Rows::last : Rows::none});
    };
    // At most the last one in flight has part of its prompt still to read, for whoever
    // came behind it found no budget. So every step here has a token at least.
    for (Sequence& sequence : flight_) join(sequence);
    while (budget > 0 && !queue_.empty() && in_flight() < options_.together &&
           admit(queue_.front())) {
        flight_.splice(flight_.end(), queue_, queue_.begin());
        join(flight_.back());
    }
    totals_.most_together = std::max(totals_.most_together, in_flight());
    totals_.most_blocks = std::max(totals_.most_blocks, blocks());
    return batch;
}
// [plan]

void Scheduler::write_down(std::span<const Step> batch, const Logits& logits) {
    std::vector<Token> picked;
    try {
        auto sequence = flight_.begin();
        for (const Step& step : batch) {
            const Request& request = (sequence++)->request;
            if (step.rows == Rows::last)
                picked.push_back(request.options.sampler.pick(
                    logits[int(picked.size())], request.sample, step.cache.size()));
        }
    } catch (...) {
        for (const Step& step : batch)
            step.cache.truncate(step.cache.size() - int(step.tokens.size()));
        throw;
    }

    const double now = clock_();
    ++totals_.steps;
    std::exception_ptr fault;
    int row = 0;
    auto next = flight_.begin();
    for (const Step& step : batch) {
        const auto it = next++;
        Sequence& sequence = *it;
        const int before = sequence.cache.size() - int(step.tokens.size());
        if (before < int(sequence.request.prompt.size()))
            totals_.read += std::int64_t(step.tokens.size());
        file(sequence);
        if (step.rows == Rows::none) continue;

        const Token token = picked[row];
        sequence.text.push_back(token);
        sequence.generation.tokens.push_back(token);
        sequence.generation.seconds.push_back(now - sequence.submitted);
        ++totals_.written;
        bool go_on = true;
        try {
            if (sequence.request.on_token)
                go_on = sequence.request.on_token(token, logits[row]);
        } catch (...) {
            go_on = false;
            if (!fault) fault = std::current_exception();
        }
        ++row;
        const GenerateOptions& options = sequence.request.options;
        if (!go_on)
            end(flight_, it, Finish::stopped);
        else if (token == options.end_of_text)
            end(flight_, it, Finish::end_of_text);
        else if (int(sequence.generation.tokens.size()) == sequence.most)
            end(flight_, it,
                sequence.most < options.max_tokens ? Finish::context : Finish::length);
    }
    if (fault) std::rethrow_exception(fault);
}

std::vector<Served> Scheduler::run() {
    std::vector<Served> all;
    while (!idle()) std::ranges::move(step(), std::back_inserter(all));
    return all;
}

}  // namespace gpt2
