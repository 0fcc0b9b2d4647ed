#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

#include "gpt2/generate.hpp"
#include "gpt2/model.hpp"
#include "gpt2/prefix_cache.hpp"

namespace gpt2 {

/// What somebody wants written.
struct Request {
    std::vector<Token> prompt;     ///< at least one token
    GenerateOptions options = {};  ///< as for generate()
    std::uint64_t sample = 0;      ///< which of the seed's draws: many samples of one
                                   ///< prompt are 0, 1, 2 ...; generate() draws 0
    /// Called with every token as it is known, and with the row that it was picked from,
    /// [n_vocab], which lives as long as the call. Returning false stops the writing. It
    /// may submit and cancel.
    std::function<bool(Token, std::span<const float>)> on_token = {};
};

/// What became of a request.
struct Served {
    int id;                 ///< as submit() gave it
    Generation generation;  ///< its seconds count from `submitted`; without tokens where
                            ///< it was cancelled before the first
    double submitted;       ///< on the scheduler's clock
    double waited;          ///< seconds in the queue
    int reused;             ///< prompt tokens that the prefix cache knew
};

/// What a scheduler may use.
struct ServeOptions {
    int blocks = 512;      ///< of KV cache, 32 positions each, prefix cache included
    int together = 64;     ///< requests in flight at most
    int chunk = 128;       ///< prompt tokens read in one step, by all together
    bool prefixes = true;  ///< whether a prefix cache keeps what was read and written
};

/// What a scheduler has done so far.
struct ServeTotals {
    std::int64_t steps = 0;      ///< forward passes
    std::int64_t read = 0;       ///< prompt tokens that went through the model
    std::int64_t reused = 0;     ///< prompt tokens that the prefix cache knew
    std::int64_t written = 0;    ///< tokens written
    std::int64_t served = 0;     ///< requests that came to their end
    std::int64_t cancelled = 0;  ///< requests that did not
    int most_together = 0;       ///< requests in one step
    int most_blocks = 0;         ///< blocks spoken for at once
};

/// Serves many requests with one model, by continuous batching (Orca: Yu et al. 2022).
///
/// Each step is one forward pass. Every request in flight takes part with what of its
/// text is not in its cache yet: the one token that it wrote last, or the next part of
/// its prompt. So prompts are read beside others that write, requests join and leave
/// between any two steps, and all share one trip of the weights.
///
/// - First come, first served. Whoever stands at the head of the queue is admitted as
///   soon as there are blocks for the longest text that it can come to. So memory never
///   runs out half way, and nobody is passed over for ever.
/// - A request's tokens and logits are those of the request served alone: on the CPU
///   engine to the last bit, whatever joins, leaves, hits or is cancelled beside it.
/// - Whoever begins as another does that is still reading waits until it has read: eight
///   samples of one prompt cost one prefill.
///
/// Used by one thread at a time. The model may be used for other things between steps.
class Scheduler {
public:
    /// @param model  must outlive the scheduler
    /// @param clock  seconds, from any beginning; the steady clock unless it is given
    /// @throws BadInput unless all limits are at least 1
    explicit Scheduler(Model& model, const ServeOptions& options = {},
                       std::function<double()> clock = {});

    /// Puts a request at the end of the queue.
    /// @return its id: 0, 1, 2 ... in order of submission
    /// @throws BadInput for what generate() would refuse, and for a request that needs
    ///         more blocks than there are
    int submit(Request request);

    /// Takes a request out of the queue or out of flight at the beginning of the next
    /// step, which returns what it had written.
    /// @return false where no such request is left
    bool cancel(int id);

    /// Whether there is nothing left to do, and nothing to return.
    bool idle() const { return queue_.empty() && flight_.empty() && ended_.empty(); }

    /// Runs one forward pass over all in flight and whoever can join them.
    /// @return what came to its end, in order of admission
    /// @throws what a callback throws, once the step is complete; what it wrote is kept.
    ///         Error where the model's logits are nonsense, std::bad_alloc: nothing has
    ///         changed then.
    std::vector<Served> step();

    /// Steps until all is done.
    std::vector<Served> run();

    int queued() const { return int(queue_.size()); }      ///< requests not yet admitted
    int in_flight() const { return int(flight_.size()); }  ///< admitted, not yet ended

    /// Blocks spoken for: kept by the prefix cache, or promised to a request in flight.
    int blocks() const;

    /// What was done since the beginning.
    const ServeTotals& totals() const { return totals_; }

private:
    /// A request, from submission to its end.
    struct Sequence {
        int id;
        Request request;
        int most;          // tokens that it may write
        int positions;     // that its cache may come to hold
        double submitted;  // on the clock
        KvCache cache;
        std::vector<Token> text;  // the prompt, and what was written
        Generation generation = {};
        double waited = 0;
        int reused = 0;
        int promised = 0;  // blocks it may come to need that the tree does not answer for
        int filed = 0;     // whole blocks shown to the tree
        bool cancelled = false;

        bool reading() const { return cache.size() < int(request.prompt.size()); }
    };
    using Sequences = std::list<Sequence>;

    std::vector<Step> plan();
    bool admit(Sequence& next);
    void write_down(std::span<const Step> batch, const Logits& logits);
    void file(Sequence& sequence);
    void end(Sequences& from, Sequences::iterator it, Finish finish);

    Model& model_;
    ServeOptions options_;
    std::function<double()> clock_;
    PrefixCache tree_;
    Sequences queue_, flight_;   // in order of submission
    std::vector<Served> ended_;  // and not yet returned
    ServeTotals totals_;
    int submitted_ = 0;
};

}  // namespace gpt2
