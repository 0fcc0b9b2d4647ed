#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpt2/serve.hpp"
#include "lab/measured.hpp"

/// Requests as they come to a machine, and what becomes of them there.
namespace lab {

/// Somebody's request.
struct Arrival {
    Seconds at;           ///< from the beginning
    int prompt;           ///< tokens to read
    int answer;           ///< tokens to write, those of its thinking included
    bool thinks = false;  ///< whether it thinks first
};

/// What requests are like, on average.
struct Traffic {
    double rate;          ///< requests a second, above 0; infinite: all come at once
    int prompt;           ///< tokens to read, at least 1
    int answer;           ///< tokens to write, at least 1
    double thinking = 0;  ///< share of the requests that think first, 0 to 1
    int thoughts = 4000;  ///< tokens that these write in addition
};

/// The longest prompt, answer and line of thought that are drawn, as a multiple of the
/// average.
inline constexpr int longest_drawn = 4;

/// Draws requests in order of arrival.
///
/// They come independently of one another, at a constant rate (a Poisson process). Each
/// token is the last one with the same probability, so lengths vary as widely as their
/// mean; the few above four times the mean are cut to that. What a request draws depends
/// on the seed and on its number alone: at another rate, or with more people thinking,
/// all else stays the same.
std::vector<Arrival> draw(const Traffic& traffic, std::size_t count, std::uint64_t seed);

/// Tells the time, and lets it pass.
struct Clock {
    std::function<Seconds()> now;             ///< since the beginning
    std::function<void(Seconds)> wait_until;  ///< returns at that time or later
};

/// The true one: 0 is now, and waiting is sleep.
Clock steady_clock();

/// What one request saw.
struct Answered {
    Arrival arrival;                    ///< the request
    Seconds admitted = 0;               ///< from arrival until it was taken into a step
    std::vector<Seconds> seconds = {};  ///< from arrival until each token was known
    std::vector<gpt2::Token> tokens = {};  ///< what was written
};

/// One forward pass of a scheduler.
struct Pass {
    Seconds seconds;  ///< that it took
    int read;         ///< tokens of prompts
    int written;      ///< tokens that came out of it
};

/// What became of some traffic.
struct Service {
    std::vector<Answered> answers;  ///< in order of arrival; without tokens where lost
    std::vector<Pass> passes;       ///< in order
    gpt2::ServeTotals totals;       ///< as the scheduler counted
    Seconds seconds;                ///< from the beginning until the last token
    int blocks_left;                ///< blocks of KV cache still spoken for

    /// Throughput in requests.
    double answers_per_second() const { return double(answers.size()) / seconds; }

    /// Throughput in tokens written.
    double tokens_per_second() const { return double(totals.written) / seconds; }
};

/// Hands each request to a scheduler when it comes, and returns when all are answered.
/// Answers are written greedily, to the length that was drawn.
/// @param clock   that the model's passes take their time from
/// @param prompt  the tokens of request i
/// @throws BadInput as gpt2::Scheduler
Service serve(gpt2::Model& model, const gpt2::ServeOptions& options, const Clock& clock,
              std::span<const Arrival> arrivals,
              const std::function<std::vector<gpt2::Token>(std::size_t)>& prompt);

/// Whether every request was answered once, with all its tokens, and nothing is left
/// over.
bool complete(const Service& service, std::span<const Arrival> arrivals);

/// Several waits in two numbers.
struct Waits {
    Seconds mean = 0;  ///< over all of them
    Seconds p95 = 0;   ///< the 95th percentile: the least one that 95% do not exceed
};

/// Those of at least one.
Waits waits(std::vector<Seconds> all);

/// A mean and its statistical error.
struct Mean {
    double value;  ///< the mean
    double error;  ///< standard error
};

/// Of at least 20 values that come one after another and are like their neighbours, such
/// as waits: the error is taken from how the means of 20 equal stretches scatter.
Mean mean_of(std::span<const double> values);

/// What people see.
struct Seen {
    Waits first;  ///< from arrival to first token
    Waits beat;   ///< from one token to the next
};

/// Of those who came after `from` and are `counted`; all are, unless it is given.
/// @throws BadInput where nobody is, or nobody got two tokens.
Seen seen(const Service& service, Seconds from = 0,
          const std::function<bool(const Arrival&)>& counted = {});

/// What a request kept in the KV cache, summed over time, in tokens times seconds. Times
/// the bytes of a token it is the capacity that the request took. The prompt counts as
/// there from admission on.
double capacity(const Answered& answer);

}  // namespace lab
