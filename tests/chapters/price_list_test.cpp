// 10_price_list: its bills against sums made here, and what it refuses.

#include <gmock/gmock.h>

#include <set>

#include "chapters/program.hpp"

namespace {

using support::column;
using support::note;
using support::row;

using testing::HasSubstr;
using Column = std::vector<double>;

support::Outcome run(const std::string& options) {
    return support::run("10_price_list", "--quick --shape own " + options);
}

lab::Results finish(const std::string& options) {
    return support::finish("10_price_list", "--quick --shape own " + options).results;
}

/// A run without options of its own.
const lab::Results& plain() {
    static const lab::Results results = finish("");
    return results;
}

}  // namespace

TEST(PriceList, TheCoursesFiguresComeOut) {
    const lab::Results& results = plain();
    EXPECT_EQ(note(results, "price_opus_input"), 4);
    EXPECT_EQ(note(results, "price_opus_output"), 20);
    EXPECT_EQ(note(results, "price_opus_cached"), 0.2);
    EXPECT_EQ(note(results, "price_sonnet_input"), 2);
    EXPECT_EQ(note(results, "price_sonnet_output"), 10);
    EXPECT_EQ(note(results, "price_sonnet_cached"), 0.2);
    EXPECT_EQ(note(results, "price_ratio"), 5);
    EXPECT_NEAR(note(results, "price_ratio_cached_opus"), 1.0 / 20, 1e-9);
    EXPECT_NEAR(note(results, "price_ratio_cached_sonnet"), 1.0 / 10, 1e-9);
    std::set<std::string> checks;
    for (const lab::Check& check : results.checks) {
        EXPECT_TRUE(check.holds) << check.id;
        EXPECT_TRUE(checks.insert(check.id).second) << check.id;
    }
    for (const lab::Note& one : results.notes)
        EXPECT_TRUE(!one.published || checks.count(one.id)) << one.id;
    for (const char* id : {"say_less", "retrieved"})
        EXPECT_TRUE(row(results, id).published) << id;
    EXPECT_EQ(results.headline, "output_over_input_f32_1");
}

TEST(PriceList, BillsWhatIsAsked) {
    const lab::Results& results = plain();
    // Dollars for a thousand, at 2 a million in, 10 out, 0.20 known.
    EXPECT_DOUBLE_EQ(note(results, "bill_page_asked"), 400 * 10e-3);
    EXPECT_DOUBLE_EQ(note(results, "bill_book_asked"), 130'000 * 2e-3);
    EXPECT_DOUBLE_EQ(note(results, "bill_document_asked"), 3000 * 2e-3);
    EXPECT_DOUBLE_EQ(note(results, "bill_talk_without_asked"),
                     (20 * 100 + 350 * 190) * 2e-3 + 20 * 250 * 10e-3);
    EXPECT_DOUBLE_EQ(note(results, "bill_agent_without_asked"),
                     (20 * 3000 + 1200 * 190) * 2e-3 + 20 * 200 * 10e-3);
    int known = 0;
    for (int k = 1; k < 20; ++k) known += (3000 + 1200 * (k - 1) + 199) / 32 * 32;
    EXPECT_EQ(note(results, "agent_handed"), 288'000);
    EXPECT_EQ(note(results, "agent_known"), known);
    EXPECT_NEAR(note(results, "bill_agent_with_asked"),
                (288'000 - known) * 2e-3 + known * 0.2e-3 + 40, 1e-9);
    // One round's bars are its bill.
    const Column fresh = column(results, "agent", "fresh");
    const Column old = column(results, "agent", "known");
    const Column out = column(results, "agent", "output");
    double sum = 0;
    for (std::size_t k = 0; k < fresh.size(); ++k) sum += fresh[k] + old[k] + out[k];
    EXPECT_EQ(fresh.size(), 20u);
    EXPECT_NEAR(1000 * sum, note(results, "bill_agent_with_asked"), 1e-9);
    EXPECT_NEAR(column(results, "agent", "input_without")[19], 25'800 * 2e-6, 1e-12);
}

TEST(PriceList, AgreesWithChapterNine) {
    const lab::Results results =
        finish("--task 64 --action 8 --back 20 --message 16 --answer 8");
    EXPECT_NEAR(note(results, "bill_agent_without_asked"), 14.8, 1e-9);
    EXPECT_NEAR(note(results, "bill_agent_with_asked"), 4.3168, 1e-9);
    EXPECT_NEAR(note(results, "bill_talk_without_asked"), 11.36, 1e-9);
    EXPECT_NEAR(note(results, "bill_talk_with_asked"), 3.8144, 1e-9);
}

TEST(PriceList, TheCoursesDocument) {
    const lab::Results results = finish("--batch 8 --asked 100");
    // 14 GB and 100 tokens of half a megabyte each; 3,000 more.
    EXPECT_NEAR(note(results, "document_alone"), 15.55 / 14.05, 1e-12);
    EXPECT_NEAR(note(results, "document_together"), (14 + 8 * 1.55) / 14.4, 1e-12);
    EXPECT_NEAR(note(results, "document_alone_beat"), 15.55e-3, 1e-12);
    const lab::Results other =
        finish("--weights 28 --bandwidth 2 --token-cache 1 --document 1000 --batch 1");
    EXPECT_NEAR(note(other, "document_alone_beat"), (28 + (20 + 1000) * 1e-3) / 2000,
                1e-12);
}

TEST(PriceList, ItsOwnListsArePricesOfTheHour) {
    const lab::Results cheap = finish("--batch 2 --hour 0.10");
    const lab::Results dear = finish("--batch 2 --hour 10");
    for (const char* id : {"f32_1", "f32_2", "int8_1", "int8_2"}) {
        for (const char* price : {"input_", "output_"}) {
            EXPECT_GT(row(cheap, price + std::string(id)).measured.min, 0);
            EXPECT_GT(row(cheap, price + std::string(id)).predicted, 0);
        }
        EXPECT_GT(row(cheap, "cached_" + std::string(id)).predicted, 0);
        // What the ledger says does not depend on the rent.
        EXPECT_LT(*row(dear, "cached_over_input_" + std::string(id)).predicted, 1);
    }
    for (const char* list : {"f32_1", "int8_2"})
        EXPECT_GT(note(dear, "bill_page_" + std::string(list)), 0);
    EXPECT_EQ(column<std::string>(cheap, "together", "dtype"),
              (std::vector<std::string>{"f32", "f32", "int8", "int8"}));
    EXPECT_EQ(column(cheap, "together", "together"), (Column{1, 2, 1, 2}));

    // A ratio of the larger machine: 8 billion weights, one trip, alone.
    const Column people = column(cheap, "elsewhere", "together");
    const Column ratio = column(cheap, "elsewhere", "ratio");
    EXPECT_EQ(people.front(), 1);
    EXPECT_EQ(people.back(), note(cheap, "h100_full_people"));
    EXPECT_TRUE(std::ranges::is_sorted(ratio, std::greater()));
    EXPECT_EQ(ratio.front(), note(cheap, "h100_alone"));
    const double five = note(cheap, "h100_list");
    for (std::size_t i = 0; i < people.size(); ++i)
        EXPECT_EQ(ratio[i] <= 5, people[i] >= five) << people[i];
}

TEST(PriceList, TakesTheSmallestAndOtherModels) {
    const lab::Results least = finish(
        "--batch 1 --opening 1 --question 1 --beats 1 --asked 1 --brief 1 --rounds 1 "
        "--turns 1 --task 1 --action 1 --back 1 --message 1 --answer 1 --page 1");
    EXPECT_DOUBLE_EQ(note(least, "bill_agent_with_asked"), 2e-3 + 10e-3);
    EXPECT_EQ(column(least, "together", "together"), (Column{1, 1}));
    const lab::Results odd = finish(
        "--batch 3 --opening 33 --kv f16 --dtype int8 --threads 1 --seed 5 "
        "--context 8000 --billed 'Claude Opus 5.5'");
    EXPECT_DOUBLE_EQ(note(odd, "bill_page_asked"), 8);
    EXPECT_EQ(column(odd, "together", "together"), (Column{1, 2, 3}));
    EXPECT_EQ(odd.headline, "output_over_input_int8_1");
}

TEST(PriceList, BillsFromAnyList) {
    const support::TempDir dir;
    const auto list = [&](const std::string& input) {
        support::spew(dir / "list.json", R"([{"model": "x", "date": "2026-11-30",
            "source": "here", "output": "3", "cached_input": "0", "input": ")" +
                                             input + "\"}]");
        return " --prices " + (dir / "list.json").string();
    };
    const lab::Results results = finish("--billed x" + list("0.5"));
    EXPECT_DOUBLE_EQ(note(results, "bill_book_asked"), 130'000 * 0.5e-3);
    EXPECT_EQ(note(results, "price_opus_input"), 4);  // the course's stays
    const std::string where = "10_price_list: " + (dir / "list.json").string();
    EXPECT_EQ(run(list("0.5")).err,
              where + ": no price of 'Claude Sonnet 5.5'; there are 'x'\n");
    EXPECT_EQ(run("--billed x" + list("0.0005")).err,
              where + ": x: input: expected 0.001 dollars or more\n");
    EXPECT_THAT(run("--billed x" + list("0.000002")).err,
                HasSubstr("looks like the price of one"));
}

TEST(PriceList, RefusesOtherOptions) {
    const auto refused = [](const std::string& options) {
        const support::Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 2) << options << outcome.out;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(refused("--opening 1000 --question 21"),
              "10_price_list: --opening, --question, --beats: they ask for 1025 "
              "positions, but the context has 1024\n");
    EXPECT_EQ(refused("--asked 500 --brief 300"),
              "10_price_list: --asked, --brief: they ask for 1100 positions, but the "
              "context has 1024\n");
    EXPECT_EQ(refused("--hour 0"),
              "10_price_list: --hour: expected more than 0 and at most 10 dollars, found "
              "0.00\n");
    EXPECT_THAT(refused("--hour 1e-1"), HasSubstr("--hour: expected dollars such as"));
    for (const char* options :
         {"--hour 10.01",      "--hour -1",      "--batch 0",
          "--batch 65",        "--opening 0",    "--question 0",
          "--beats 0",         "--asked 0",      "--brief 0",
          "--context 99",      "--context 8001", "--page 0",
          "--book 1000001",    "--document 0",   "--turns 1001",
          "--message 0",       "--answer 0",     "--rounds 0",
          "--task 0",          "--action 0",     "--back 0",
          "--weights 0",       "--bandwidth 0",  "--token-cache 0",
          "--token-cache nan", "--billed ''",    "--prices /nowhere.json",
          "--prices /"})
        refused(options);
}
