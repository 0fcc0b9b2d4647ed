#include "gpt2/speculative.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "gpt2/cpu/engine.hpp"
#include "gpt2/load.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::HasSubstr;

// P01 ... are cases of tests/data/cases.tsv.
namespace {

const Config config{97, 200, 24, 2, 3};
using Tokens = std::vector<Token>;

std::unique_ptr<Model> model(unsigned seed = 4, const Config& shape = config) {
    return cpu::load(*random_weights(shape, seed), DType::f32, DType::f32, 2);
}

Tokens text(int n, unsigned seed = 1) {
    return support::random_tokens(n, config.n_vocab, seed);
}

/// Ids of both sides are the same: no tokenizer is needed to say so.
class Same : public Draft {
public:
    explicit Same(Model& m) : model_(m) {}
    std::vector<Guess> guess(std::span<const Token> text, int count,
                             const Sampler& sampler, std::uint64_t sample) override {
        std::vector<Guess> guesses;
        Tokens all(text.begin(), text.end());
        while (int(guesses.size()) < count) {
            KvCache cache = model_.new_cache();
            const Logits logits = model_.forward(all, cache);
            std::vector<Candidate> q = sampler.candidates(logits[0]);
            const Token token =
                draw(q, sampler.random(sample, all.size(), Purpose::guess));
            guesses.push_back({token, std::move(q)});
            all.push_back(token);
        }
        return guesses;
    }

private:
    Model& model_;
};

/// Always the same token, and sure of it.
class Constant : public Draft {
public:
    explicit Constant(Token token) : token_(token) {}
    std::vector<Guess> guess(std::span<const Token>, int count, const Sampler&,
                             std::uint64_t) override {
        return std::vector<Guess>(count, Guess{token_, {{token_, 1.0}}});
    }

private:
    Token token_;
};

/// What generate() writes, and the state that it leaves.
Generation plain(Model& m, const Tokens& prompt, const GenerateOptions& options) {
    KvCache cache = m.new_cache();
    return generate(m, cache, prompt, options);
}

}  // namespace

TEST(Speculative, GreedyOutputIsTheTargetsOwn) {
    // P01, P02. Whatever guesses: another model, the target itself, one token for ever,
    // look-up.
    const auto target = model(4), other = model(5);
    Same stranger(*other), itself(*target);
    Constant constant(7);
    PromptLookup lookup(1, 4);
    Draft* const drafts[] = {&stranger, &itself, &constant, &lookup};
    int accepted = 0, refused = 0;
    for (unsigned seed = 0; seed < 240; ++seed) {
        const Tokens prompt = text(1 + int(seed * 7 % 40), seed);
        const GenerateOptions options{.max_tokens = 1 + int(seed % 23)};
        const Generation expected = plain(*target, prompt, options);
        KvCache cache = target->new_cache();
        const int guesses = int(1 + seed / 4 % 16);
        const Speculation found = speculate(*target, cache, prompt, *drafts[seed % 4],
                                            {.generate = options, .guesses = guesses});
        ASSERT_EQ(found.generation.tokens, expected.tokens) << seed;
        ASSERT_EQ(found.generation.finish, expected.finish);
        ASSERT_EQ(found.generation.seconds.size(), expected.tokens.size());
        ASSERT_EQ(cache.size(), int(prompt.size() + expected.tokens.size()) - 1);
        int written = 1;
        for (const Trip& trip : found.trips) {
            ASSERT_LE(trip.accepted, trip.guessed);
            ASSERT_LE(trip.guessed, guesses);
            written += trip.accepted + 1;
            accepted += trip.accepted;
            refused += trip.guessed - trip.accepted;
            if (seed % 4 == 1) {
                ASSERT_EQ(trip.accepted, trip.guessed) << "the target agrees with itself";
            }
        }
        ASSERT_EQ(written, int(expected.tokens.size()));
    }
    EXPECT_GT(accepted, 100);
    EXPECT_GT(refused, 100);
}

TEST(Speculative, ChecksTheFirstGuessToo) {
    // P01, to the letter: look-up guesses 1 behind 1 1 1, and the target wants another.
    const auto target = model(4);
    PromptLookup lookup(1, 4);
    const Tokens prompt{1, 1, 1};
    const Generation expected = plain(*target, prompt, {.max_tokens = 12});
    ASSERT_NE(expected.tokens[0], 1);
    EXPECT_EQ(lookup.guess(prompt, 1, {}, 0).at(0).token, 1);
    KvCache cache = target->new_cache();
    EXPECT_EQ(speculate(*target, cache, prompt, lookup, {.generate = {.max_tokens = 12}})
                  .generation.tokens,
              expected.tokens);
}

TEST(Speculative, ReadsTheVeryLogitsOfPlainDecoding) {
    // Each token comes from the row that plain decoding has there. And the cache that is
    // left must be that of plain decoding to the last bit: whatever is read behind it
    // then gets equal logits.
    const auto target = model(4), other = model(5);
    Same draft(*other);
    for (int guesses = 0; guesses <= 16; ++guesses) {
        const Tokens prompt = text(20, unsigned(guesses));
        KvCache fast = target->new_cache(), slow = target->new_cache();
        const GenerateOptions options{.max_tokens = 30};
        std::vector<std::vector<float>> rows;
        speculate(*target, fast, prompt, draft, {.generate = options, .guesses = guesses},
                  [&](Token, std::span<const float> row) {
                      rows.emplace_back(row.begin(), row.end());
                      return true;
                  });
        const Generation written = generate(*target, slow, prompt, options);
        KvCache again = target->new_cache();
        Tokens reading = prompt;
        ASSERT_EQ(rows.size(), written.tokens.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Logits one = target->forward(reading, again);
            ASSERT_TRUE(std::ranges::equal(rows[i], one[0])) << guesses << " " << i;
            reading = {written.tokens[i]};
        }
        ASSERT_EQ(fast.size(), slow.size());
        const Tokens next = text(40, 99);
        const Logits a = target->forward(next, fast, Rows::all),
                     b = target->forward(next, slow, Rows::all);
        for (int row = 0; row < a.rows(); ++row)
            ASSERT_TRUE(std::ranges::equal(a[row], b[row])) << guesses << " " << row;
    }
}

TEST(Speculative, KeepsToLimits) {
    // P04.
    const auto target = model();
    Same itself(*target);
    for (const int n : {150, 195, 196, 197, 198, 199}) {
        const Tokens prompt = text(n);
        KvCache cache = target->new_cache();
        const Speculation found =
            speculate(*target, cache, prompt, itself,
                      {.generate = {.max_tokens = 500}, .guesses = 5});
        EXPECT_EQ(found.generation.tokens,
                  plain(*target, prompt, {.max_tokens = 500}).tokens);
        EXPECT_EQ(found.generation.finish, Finish::context);
        EXPECT_EQ(cache.size(), config.n_ctx - 1);
    }
    // More guesses than tokens are left to write.
    for (int most = 1; most < 8; ++most) {
        KvCache cache = target->new_cache();
        const Speculation found =
            speculate(*target, cache, text(9), itself,
                      {.generate = {.max_tokens = most}, .guesses = 16});
        EXPECT_EQ(int(found.generation.tokens.size()), most);
        EXPECT_EQ(found.trips.size(), most > 1 ? 1u : 0u);
    }
}

TEST(Speculative, StopsInsideAnAcceptedBlock) {
    // P08.
    const auto target = model();
    Same itself(*target);
    const Tokens prompt = text(12, 3);
    const Generation free = plain(*target, prompt, {.max_tokens = 20});
    for (std::size_t at = 0; at < 20; ++at) {
        GenerateOptions options{.max_tokens = 20, .end_of_text = free.tokens[at]};
        const Generation expected = plain(*target, prompt, options);
        KvCache cache = target->new_cache();
        Speculation found = speculate(*target, cache, prompt, itself,
                                      {.generate = options, .guesses = 6});
        EXPECT_EQ(found.generation.tokens, expected.tokens);
        EXPECT_EQ(found.generation.finish, expected.finish);
        EXPECT_EQ(cache.size(), int(prompt.size() + expected.tokens.size()) - 1);

        KvCache second = target->new_cache();
        std::size_t told = 0;
        found = speculate(*target, second, prompt, itself,
                          {.generate = {.max_tokens = 20}, .guesses = 6},
                          [&](Token, std::span<const float>) { return ++told <= at; });
        EXPECT_EQ(found.generation.tokens,
                  Tokens(free.tokens.begin(), free.tokens.begin() + at + 1));
        EXPECT_EQ(found.generation.finish, Finish::stopped);
    }
}

TEST(Speculative, AsksTheCallerHowManyToGuess) {
    const auto target = model();
    Same itself(*target);
    KvCache cache = target->new_cache();
    const Speculation found = speculate(
        *target, cache, text(5), itself,
        {.generate = {.max_tokens = 16},
         .adapt = [](std::span<const Trip> trips) { return int(trips.size()); }});
    std::vector<int> guessed;
    for (const Trip& trip : found.trips) guessed.push_back(trip.guessed);
    EXPECT_THAT(guessed, testing::ElementsAre(0, 1, 2, 3, 4));  // 1 + 1+2+3+4+5 = 16
    EXPECT_THAT(support::bad_input([&] {
                    KvCache fresh = target->new_cache();
                    speculate(*target, fresh, text(5), itself, {.guesses = -1});
                }),
                HasSubstr("guesses: expected at least 0, found -1"));
    EXPECT_THAT(support::bad_input([&] { PromptLookup(3, 2); }),
                HasSubstr("expected 1 <= least <= most, found 3 and 2"));
}

TEST(Speculative, LooksUpTheLongestAndThenTheLatestMatch) {
    PromptLookup lookup(2, 4);
    const Sampler sampler;
    const auto guessed = [&](const Tokens& all, int count) {
        Tokens tokens;
        for (const Guess& guess : lookup.guess(all, count, sampler, 0)) {
            EXPECT_EQ(guess.candidates.size(), 1u);
            tokens.push_back(guess.token);
        }
        return tokens;
    };
    EXPECT_EQ(guessed({1, 2, 3, 4, 1, 2}, 3), (Tokens{3, 4, 1}));
    EXPECT_EQ(guessed({1, 2, 8, 1, 2, 9, 1, 2}, 1), (Tokens{9})) << "the latest";
    EXPECT_EQ(guessed({5, 1, 2, 8, 6, 1, 2, 9, 5, 1, 2}, 1), (Tokens{8}))
        << "the longest";
    EXPECT_EQ(guessed({1, 2, 3, 9, 2}, 3), (Tokens{})) << "one token is too little";
    EXPECT_EQ(guessed({1, 2, 3}, 3), (Tokens{}));
    EXPECT_EQ(guessed({4}, 3), (Tokens{}));
    EXPECT_EQ(guessed({1, 2, 1, 2}, 0), (Tokens{}));
    EXPECT_EQ(guessed({1, 1, 1, 1}, 9), (Tokens{1})) << "a match may overlap itself";
}

TEST(Speculative, AModelDraftKeepsInStepWithItsTarget) {
    // The shipped models: a real draft of another shape and with another end of text.
    const std::filesystem::path models = data_directory() / "models";
    const auto target = load_model(models / "story"),
               small = load_model(models / "story-draft");
    const Tokenizer words = load_tokenizer(models / "story");
    ModelDraft draft(*small, TokenMap(words, load_tokenizer(models / "story-draft")));
    const Tokens prompt = words.encode("Once upon a time there was a king who had");
    for (const float temperature : {0.0f, 0.8f}) {
        const Sampler sampler({.temperature = temperature, .top_k = 40, .seed = 5});
        KvCache cache = target->new_cache();
        const Speculation found =
            speculate(*target, cache, prompt, draft,
                      {.generate = {.max_tokens = 60, .sampler = sampler}, .guesses = 4});
        int accepted = 0;
        for (const Trip& trip : found.trips) accepted += trip.accepted;
        EXPECT_GT(accepted, 0);
        if (temperature == 0) {
            EXPECT_EQ(found.generation.tokens,
                      plain(*target, prompt, {.max_tokens = 60}).tokens);
        }
        // P09: a draft that starts afresh guesses what this one guesses after all its
        // rejections, in every distribution to the last bit.
        Tokens all = prompt;
        all.insert(all.end(), found.generation.tokens.begin(),
                   found.generation.tokens.end());
        ModelDraft fresh(*small, TokenMap(words, load_tokenizer(models / "story-draft")));
        const auto a = draft.guess(all, 5, sampler, 0),
                   b = fresh.guess(all, 5, sampler, 0);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].token, b[i].token);
            ASSERT_EQ(a[i].candidates.size(), b[i].candidates.size());
            for (std::size_t c = 0; c < a[i].candidates.size(); ++c)
                EXPECT_EQ(a[i].candidates[c].probability, b[i].candidates[c].probability);
        }
    }
    // P05: behind its own context it has no more to say, and the target goes on alone.
    const Tokens full(std::size_t(small->config().n_ctx) + 1, prompt[0]);
    EXPECT_TRUE(draft.guess(full, 4, Sampler(), 0).empty());
    EXPECT_EQ(draft.guess(std::span(full).first(full.size() - 3), 9, Sampler(), 0).size(),
              3u);
}

TEST(Speculative, DraftsWaitForTokensTheyDoNotKnow) {
    // The widened target may be handed ids that the draft lacks.
    const std::filesystem::path models = data_directory() / "models";
    const auto small = load_model(models / "story-draft");
    const Tokenizer words = load_tokenizer(models / "story-draft");
    Tokenizer moved = words;
    moved.move_end_of_text(5000);
    ModelDraft draft(*small, TokenMap(moved, words));
    const Tokens prompt = words.encode("Once upon a time");
    Tokens unknown = prompt;
    unknown.push_back(4500);
    EXPECT_TRUE(draft.guess(unknown, 3, Sampler(), 0).empty());
    unknown.push_back(prompt[1]);
    Tokens without = prompt;
    without.push_back(prompt[1]);
    const auto a = draft.guess(unknown, 3, Sampler(), 0),
               b = draft.guess(without, 3, Sampler(), 0);
    ASSERT_EQ(a.size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(a[i].token, b[i].token);
    unknown.push_back(5000);  // end of text: known under its other id
    EXPECT_EQ(draft.guess(unknown, 3, Sampler(), 0).size(), 3u);
}

// The law of what comes out
// -------------------------

TEST(Speculative, KeepOrRedrawHasTheTargetsLawExactly) {
    // Enumerated: over all guesses that the draft may make, what is kept and what is
    // drawn anew add up to the target's distribution.
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        const int n = 1 + int(random() % 6);
        const auto law = [&] {
            std::vector<Candidate> some;
            double sum = 0;
            for (Token t = 0; t < n; ++t) {
                if (random() % 3 == 0 && !(some.empty() && t == n - 1)) continue;
                some.push_back({t, double(1 + random() % 100)});
                sum += some.back().probability;
            }
            for (Candidate& c : some) c.probability /= sum;
            return some;
        };
        const std::vector<Candidate> p = law(), q = law();
        std::vector<double> out(n, 0.0), expected(n, 0.0);
        for (const auto& [token, chance] : q) {
            const double kept = acceptance(p, q, token);
            out[token] += chance * kept;
            if (kept == 1) continue;
            for (const auto& [anew, r] : remainder(p, q))
                out[anew] += chance * (1 - kept) * r;
        }
        for (const auto& [token, chance] : p) expected[token] = chance;
        for (int t = 0; t < n; ++t) ASSERT_NEAR(out[t], expected[t], 1e-12) << round;
    }
}

TEST(Speculative, SampledTextsHaveTheTargetsLaw) {
    // Three tokens of a vocabulary of five: 125 texts, each with a probability that plain
    // forward passes give. Pearson's chi-square over many seeds, against that.
    const Config tiny{5, 32, 12, 2, 2};
    const auto target = model(8, tiny), other = model(9, tiny);
    const Tokens prompt{1, 3, 0};
    for (const SamplerOptions& filter :
         {SamplerOptions{.temperature = 0.1f},
          SamplerOptions{.temperature = 0.15f, .top_k = 3},
          SamplerOptions{.temperature = 0.1f, .top_p = 0.8f}}) {
        std::map<Tokens, double> law;
        const std::function<void(Tokens, double)> extend = [&](Tokens all,
                                                               double chance) {
            if (all.size() == prompt.size() + 3) {
                law[Tokens(all.begin() + 3, all.end())] = chance;
                return;
            }
            KvCache cache = target->new_cache();
            const Logits logits = target->forward(all, cache);
            for (const auto& [token, p] : Sampler(filter).candidates(logits[0])) {
                Tokens next = all;
                next.push_back(token);
                extend(next, chance * p);
            }
        };
        extend(prompt, 1);

        Same draft(*other);
        std::map<Tokens, int> seen;
        constexpr int texts = 4000;
        int accepted = 0, guessed = 0;
        for (int i = 0; i < texts; ++i) {
            SamplerOptions options = filter;
            options.seed = 77;
            KvCache cache = target->new_cache();
            const Speculation found =
                speculate(*target, cache, prompt, draft,
                          {.generate = {.max_tokens = 3, .sampler = Sampler(options)},
                           .guesses = 2,
                           .sample = std::uint64_t(i)});
            ++seen[found.generation.tokens];
            for (const Trip& trip : found.trips) {
                accepted += trip.accepted;
                guessed += trip.guessed;
            }
        }
        EXPECT_GT(accepted, texts / 10);
        EXPECT_GT(guessed - accepted, texts / 10);
        double square = 0, rest_seen = 0, rest_expected = 0;
        int cells = 0;
        for (const auto& [one, chance] : law) {
            const double expected = chance * texts, count = seen[one];
            if (expected < 5) {  // too rare for the test: taken together
                rest_seen += count;
                rest_expected += expected;
                continue;
            }
            square += (count - expected) * (count - expected) / expected;
            ++cells;
        }
        if (rest_expected >= 5) {
            square +=
                (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
            ++cells;
        }
        EXPECT_EQ(seen.size(),
                  std::size_t(std::ranges::count_if(
                      seen, [&](const auto& s) { return law.contains(s.first); })))
            << "a text that the target never writes";
        // Far beyond 1 in 10,000 by the normal approximation: 3.9 standard deviations.
        const double free = cells - 1;
        EXPECT_LT(square, free + 3.9 * std::sqrt(2 * free)) << cells;
        EXPECT_GT(square, free - 3.9 * std::sqrt(2 * free)) << "too good to be drawn";
    }
}
