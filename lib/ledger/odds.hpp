#pragma once

/// What several tries, a vote, a verifier or a judge are good for: probabilities, and
/// costs in whatever unit the caller counts in.
///
/// Tries are independent of one another, and each is right with the same probability p.
/// Samples of one prompt are like that. Samples of several prompts, taken together, are
/// not: p differs from one to the next, and the average of a formula is no formula of the
/// average. So ask once for each prompt, and average the answers.
namespace ledger {

/// Probability that at least one of n tries is right: all that it takes where a verifier
/// finds it. 1 - (1 - p)^n.
/// @param p  0 to 1
/// @param n  0 to 1,000,000
/// @throws gpt2::BadInput for anything else, as all functions here
double any_right(double p, int n);

/// Mean number of tries, made one after another until one is right, but at most n.
double tries_until_right(double p, int n);

/// The fewest tries of which at least one is right with a probability of `wanted` or
/// more.
/// @param p       above 0, to 1
/// @param wanted  0 to 1; 1 only where p is 1
/// @throws gpt2::BadInput also where more than 1,000,000 are needed
int samples_needed(double p, double wanted);

/// Probability that exactly k of n tries are right (the binomial distribution).
/// @param k  0 to n
double exactly_right(double p, int n, int k);

/// What becomes of a vote that is split evenly, as can happen when n is even.
enum class Tie {
    lost,    ///< a majority is more than half
    tossed,  ///< a fair coin decides
    won,     ///< half is enough
};

/// Probability that the right answer wins a vote of n tries against one other answer,
/// which all wrong tries agree on. Where the wrong ones are of several minds, more than
/// half of the votes are no longer needed, and this is too low.
/// @param n  at least 1
double majority_right(double p, int n, Tie tie = Tie::lost);

/// One way to answer a question.
struct Answering {
    double right;  ///< probability, 0 to 1
    double cost;   ///< on average: tokens, tries or dollars, 0 or more
};

/// A kind of question, and what it costs to be brief or careful about it.
struct Kind {
    Answering brief;    ///< one try, or no thinking
    Answering careful;  ///< many tries, or thinking first
};

/// Who decides how difficult a question is, before it is answered.
struct Judge {
    double easy_taken_for_hard;  ///< share of the easy questions, 0 to 1
    double hard_taken_for_easy;  ///< share of the hard questions, 0 to 1
};

/// Care for questions that a judge takes for hard, brevity for the others.
/// @param hard_share  of all questions, 0 to 1
Answering route(double hard_share, const Kind& easy, const Kind& hard,
                const Judge& judge);

}  // namespace ledger
