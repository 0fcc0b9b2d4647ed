#include "ledger/price.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "support.hpp"

namespace {

using ledger::Money;
using ledger::Price;
using support::bad_input;
using testing::HasSubstr;

constexpr std::int64_t dollar = 1'000'000'000;

Money money(const std::string& decimal) { return ledger::parse_dollars(decimal, "here"); }

Price priced(const char* input, const char* output, const char* cached) {
    return {"m", "2026-10", "s", money(input), money(output), money(cached)};
}

std::string entry(const std::string& member = "", const std::string& value = "") {
    std::string json = "{";
    for (auto [name, text] :
         std::map<std::string, std::string>{{"model", "\"a\""},
                                            {"date", "\"2026-10\""},
                                            {"source", "\"s\""},
                                            {"input", "\"2\""},
                                            {"output", "\"10\""},
                                            {"cached_input", "\"0.20\""}}) {
        if (name == member) text = value;
        if (!text.empty()) json += (json == "{" ? "\"" : ", \"") + name + "\": " + text;
    }
    return json + "}";
}

std::string refused(const std::string& json) {
    return bad_input([&] { ledger::parse_prices(json, "list.json"); });
}

}  // namespace

TEST(Money, DecimalsAreExact) {
    EXPECT_EQ(money("0.20").nano, 200'000'000);
    EXPECT_EQ(money("4").nano, 4 * dollar);
    EXPECT_EQ(money("007.5").nano, 7 * dollar + dollar / 2);
    EXPECT_EQ(money("0.000000001").nano, 1);
    EXPECT_EQ(money("1000000000").nano, dollar * dollar);
    // Ten times 0.1 is 1; added up as doubles it is not.
    Money sum;
    double binary = 0;
    for (int i = 0; i < 10; ++i) {
        sum += money("0.1");
        binary += 0.1;
    }
    EXPECT_EQ(sum, money("1"));
    EXPECT_NE(binary, 1);
    EXPECT_EQ(sum.dollars(), 1);
}

TEST(Money, IsWrittenWithAllItsDigits) {
    for (const auto& [nano, text] : std::map<std::int64_t, std::string>{
             {0, "0.00"},
             {1, "0.000000001"},
             {13'200'000, "0.0132"},
             {200'000'000, "0.20"},
             {20 * dollar, "20.00"},
             {-dollar / 2, "-0.50"},
             {std::numeric_limits<std::int64_t>::min(), "-9223372036.854775808"}})
        EXPECT_EQ(to_string(Money{nano}), text);
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
        const Money any{std::int64_t(random() % std::uint64_t(dollar * dollar))};
        EXPECT_EQ(money(to_string(any)), any);
    }
}

TEST(Money, RefusesWhatIsNoDecimal) {
    for (const char* text : {"",
                             ".",
                             "1.",
                             ".5",
                             "-1",
                             "+1",
                             "1e3",
                             "0x1",
                             " 1",
                             "1 ",
                             "1,000",
                             "1.0000000001",
                             "nan",
                             "1..2",
                             "1.2.3",
                             "1000000001",
                             "1000000000.000000001",
                             "99999999999999999999999999999999",
                             "\xff",
                             "1\n2"})
        EXPECT_THAT(bad_input([&] { money(text); }), testing::StartsWith("here: "))
            << text;
    EXPECT_EQ(bad_input([] { money("1e3"); }),
              "here: expected dollars such as 0.20, with at most nine digits behind the "
              "point, found '1e3'");
}

TEST(Money, SumsOutOfRangeAreRefused) {
    const Money most{std::numeric_limits<std::int64_t>::max()};
    EXPECT_THROW(most + Money{1}, gpt2::Error);
    EXPECT_THROW(2 * most, gpt2::Error);
    EXPECT_EQ(1 * most + Money{-1}, Money{most.nano - 1});
}

TEST(Cost, EveryTokenHasOnePrice) {
    const Price price = priced("2", "10", "0.20");
    EXPECT_EQ(to_string(cost(price, {.input = 1'000'000})), "2.00");
    EXPECT_EQ(to_string(cost(price, {.output = 1'000'000})), "10.00");
    // All of the input cached: the input price is not asked on top.
    EXPECT_EQ(to_string(cost(price, {.input = 1'000'000, .cached = 1'000'000})), "0.20");
    EXPECT_EQ(cost(price, {.input = 1000, .cached = 960, .output = 50}).nano,
              40 * 2000 + 960 * 200 + 50 * 10'000);
    EXPECT_EQ(cost(price, {}), Money{});
}

TEST(Cost, RoundsOnceAndHalfUp) {
    // 0.0005 dollars a million are half a nano-dollar a token.
    const Price half = priced("0.0005", "0.0005", "0.0005");
    EXPECT_EQ(cost(half, {.input = 1}).nano, 1);
    EXPECT_EQ(cost(half, {.input = 2}).nano, 1);
    EXPECT_EQ(cost(half, {.input = 3}).nano, 2);
    // Three halves together, not three times one half rounded.
    EXPECT_EQ(cost(half, {.input = 2, .cached = 1, .output = 1}).nano, 2);
    const Price less = priced("0.000499999", "0", "0");
    EXPECT_EQ(cost(less, {.input = 1}).nano, 0);
}

TEST(Cost, EqualsTheSumOfItsTokens) {
    // Prices of whole nano-dollars a token: added one token at a time.
    std::mt19937 random(5);
    const auto draw = [&](int most) { return int(random() % unsigned(most + 1)); };
    for (int trial = 0; trial < 50; ++trial) {
        Price price = priced("0", "0", "0");
        for (Money* each : {&price.input, &price.output, &price.cached_input})
            *each = Money{1'000'000 * std::int64_t(draw(100'000))};
        const int input = draw(3000), cached = draw(input), output = draw(3000);
        Money sum;
        for (int i = 0; i < input; ++i)
            sum +=
                Money{(i < cached ? price.cached_input : price.input).nano / 1'000'000};
        for (int i = 0; i < output; ++i) sum += Money{price.output.nano / 1'000'000};
        EXPECT_EQ(cost(price, {.input = input, .cached = cached, .output = output}), sum);
    }
}

TEST(Cost, TakesTheLargestAndRefusesMore) {
    const Price dear = priced("1000", "1000", "1000");
    const std::int64_t most = 1'000'000'000'000;
    EXPECT_EQ(to_string(cost(dear, {most, most, most})), "2000000000.00");
    EXPECT_EQ(to_string(cost(dear, {most - 1, most / 2 - 1, most - 1})),
              "1999999999.998");
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    for (const ledger::Usage& usage : std::vector<ledger::Usage>{{most + 1, 0, 0},
                                                                 {1, 2, 0},
                                                                 {1, -1, 0},
                                                                 {-1, -1, 0},
                                                                 {0, 0, -1},
                                                                 {0, 0, most + 1},
                                                                 {least, 1, 0}})
        EXPECT_THAT(bad_input([&] { cost(dear, usage); }), HasSubstr("10^12 tokens"));
    Price odd = dear;
    odd.output = Money{-1};
    EXPECT_THAT(bad_input([&] { cost(odd, {}); }), HasSubstr("found 1000.00 input"));
    odd.output = dear.output + Money{1};
    EXPECT_THAT(bad_input([&] { cost(odd, {}); }), HasSubstr("1000.000000001 output"));
}

// M02 ... are cases of tests/data/cases.tsv.

TEST(Cost, M02EveryTokenIsInOneClass) {
    // 2,000 tokens of prompt, 500 of them known: 1,500 at the input's price. A class for
    // tokens that are put into a cache, the case's 300, does not exist: these lists have
    // no price for it (data/prices/README.md), and such tokens are plain input.
    const Price price = priced("2", "10", "0.20");
    EXPECT_EQ(cost(price, {.input = 2000, .cached = 500}),
              1500 * money("0.000002") + 500 * money("0.0000002"));
    EXPECT_EQ(cost(price, {.input = 2000, .cached = 500}),
              cost(price, {.input = 1500}) + cost(price, {.input = 500, .cached = 500}));
    EXPECT_THAT(bad_input([&] { cost(price, {.input = 2000, .cached = 2001}); }),
                HasSubstr("the cached ones among the input"));
}

TEST(Cost, M03SmallRequestsAddUp) {
    const Price price = priced("0.30", "0", "0");
    const Money one = cost(price, {.input = 25});
    EXPECT_EQ(one.nano, 7500);
    Money sum;
    for (int i = 0; i < 1000; ++i) sum += one;
    EXPECT_EQ(to_string(sum), "0.0075");
}

TEST(Prices, M03APriceOfOneTokenIsRefused) {
    EXPECT_EQ(refused("[" + entry("input", "\"0.0000003\"") + "]"),
              "list.json: [0]: input: expected dollars for a million tokens, found "
              "0.0000003, which looks like the price of one");
    EXPECT_THAT(refused("[" + entry("input", "\"3e-7\"") + "]"),
                HasSubstr("expected dollars such as 0.20"));
    EXPECT_THAT(refused("[" + entry("output", "\"0.000099999\"") + "]"),
                HasSubstr("output: expected dollars for a million"));
    for (const char* fair : {"\"0.0001\"", "\"0\""})
        EXPECT_EQ(ledger::parse_prices("[" + entry("input", fair) + "]", "l").size(), 1u);
}

// M04 cannot arise here. A bill counts the tokens that were handed over, and knows
// nothing of drafts; that none is handed over behind the end of a text, drafted or not,
// is tested with speculative decoding (P08) and with the scheduler (B04).

TEST(Cost, M05Limits) {
    const Price price = priced("75", "75", "75");
    EXPECT_EQ(cost(price, {.input = 0}), Money{});
    EXPECT_EQ(cost(price, {.output = std::int64_t(1) << 31}).nano,
              (std::int64_t(1) << 31) * 75'000);
    for (const std::int64_t tokens :
         {std::int64_t(-1), std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_THAT(bad_input([&] { cost(price, {.input = tokens}); }),
                    HasSubstr("10^12 tokens"));
        EXPECT_THAT(bad_input([&] { cost(price, {.output = tokens}); }),
                    HasSubstr("10^12 tokens"));
    }
    EXPECT_THAT(refused("[" + entry("input", "\"NaN\"") + "]"),
                HasSubstr("expected dollars such as"));
    EXPECT_THAT(refused("[" + entry("input", "NaN") + "]"), HasSubstr("not JSON"));
    EXPECT_THAT(bad_input([&] { ledger::find_price({price}, "another", "list"); }),
                HasSubstr("no price of 'another'"));
    // A bill is a value and nobody's counter: two threads have two, and add them up.
    Money sum;
    for (int i = 0; i < 1'000'000; ++i) sum += cost(price, {.output = 1});
    EXPECT_EQ(sum + sum, money("150"));
}

TEST(PerMillion, IsTheHourShared) {
    const Money hour = money("0.36");  // a tenth of a thousandth of a dollar a second
    EXPECT_EQ(to_string(ledger::per_million(0.001, hour)), "0.10");
    EXPECT_EQ(to_string(ledger::per_million(0.25, hour)), "25.00");
    EXPECT_EQ(ledger::per_million(0, hour), Money{});
    EXPECT_EQ(ledger::per_million(1, Money{}), Money{});
    // 1.5 and 2.4 nano-dollars.
    EXPECT_EQ(ledger::per_million(5.4e-3, Money{1}).nano, 2);
    EXPECT_EQ(ledger::per_million(8.64e-3, Money{1}).nano, 2);
}

TEST(PerMillion, RefusesWhatIsNoPrice) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    constexpr double endless = std::numeric_limits<double>::infinity();
    for (const double seconds : {-1e-9, none, endless, 36.01})
        EXPECT_THAT(bad_input([&] { ledger::per_million(seconds, money("0.10")); }),
                    HasSubstr("expected 0 to 1,000 dollars a million tokens"));
    EXPECT_THAT(bad_input([] { ledger::per_million(1, Money{-1}); }),
                HasSubstr("found 1 s a token at -0.000000001 an hour"));
}

TEST(Prices, TheShippedListIsWhatTheCoursePrints) {
    const std::vector<Price> prices =
        ledger::read_prices(SOURCE_DIR "/data/prices/2026-10.json");
    const auto find = [&](const char* model) -> const Price& {
        return find_price(prices, model, "list");
    };
    const Price &opus = find("Claude Opus 5.5"), &sonnet = find("Claude Sonnet 5.5");
    EXPECT_EQ(to_string(opus.input), "4.00");
    EXPECT_EQ(to_string(opus.output), "20.00");
    EXPECT_EQ(to_string(opus.cached_input), "0.20");
    EXPECT_EQ(to_string(sonnet.input), "2.00");
    EXPECT_EQ(to_string(sonnet.output), "10.00");
    EXPECT_EQ(to_string(sonnet.cached_input), "0.20");
    EXPECT_EQ(20 * opus.cached_input, opus.input);
    EXPECT_EQ(10 * sonnet.cached_input, sonnet.input);
    for (const Price& price : prices) {
        EXPECT_EQ(5 * price.input, price.output) << price.model;
        EXPECT_EQ(price.date, "2026-10");
        EXPECT_THAT(price.source, HasSubstr("Chapter 15"));
    }
}

TEST(Prices, ReadsAList) {
    const auto prices = ledger::parse_prices(
        "[" + entry() + ", " + entry("model", "\"b \\u00e9\"") + "]", "list.json");
    ASSERT_EQ(prices.size(), 2u);
    EXPECT_EQ(prices[0].model, "a");
    EXPECT_EQ(prices[0].source, "s");
    EXPECT_EQ(prices[1].model, "b \u00e9");
    EXPECT_EQ(&find_price(prices, "b \u00e9", "list.json"), &prices[1]);
    EXPECT_EQ(bad_input([&] { find_price(prices, "A\n", "list.json"); }),
              "list.json: no price of 'A?'; there are 'a', 'b ?\?'");
}

TEST(Prices, RefusesOtherEntries) {
    const auto one = [&](const char* member, const char* value) {
        return refused("[" + entry(member, value) + "]");
    };
    for (const char* member :
         {"model", "date", "source", "input", "output", "cached_input"}) {
        EXPECT_EQ(one(member, ""),
                  "list.json: [0]: " + std::string(member) + ": missing");
        for (const char* value : {"3", "0.2", "null", "\"\"", "[\"2\"]", "true"})
            EXPECT_THAT(one(member, value),
                        testing::StartsWith("list.json: [0]: " + std::string(member) +
                                            ": expected a text, found "));
    }
    for (const char* price : {"\"-1\"", "\"1e-3\"", "\"2 \"", "\"two\""})
        EXPECT_THAT(one("cached_input", price),
                    HasSubstr("list.json: [0]: cached_input: expected dollars such as"));
    EXPECT_EQ(one("output", "\"1000.01\""),
              "list.json: [0]: output: expected at most 1000 dollars, found 1000.01");
    for (const char* date :
         {"\"2026\"", "\"2026-13\"", "\"2026-00\"", "\"2026-10-32\"", "\"2026/10\"",
          "\"2026-1-01\"", "\"October\"", "\"2026-10-0\""})
        EXPECT_THAT(one("date", date),
                    HasSubstr("list.json: [0]: date: expected a date"));
    EXPECT_EQ(refused("[" + entry() + ", " + entry() + "]"),
              "list.json: [1]: model: 'a' is listed twice");
    EXPECT_EQ(refused("[{\"cost\": \"1\"}]"), "list.json: [0]: unknown member 'cost'");
    EXPECT_EQ(refused("[{\"input\": \"1\", \"input\": \"2\"}]"),
              "list.json: \"input\" stands twice in one object");
}

TEST(Prices, RefusesWhatIsNoList) {
    for (const char* json : {"[]", "{}", "3", "null", "\"a\""})
        EXPECT_EQ(refused(json),
                  std::string("list.json: expected a list of one price or more, found ") +
                      json);
    EXPECT_EQ(refused("[3]"), "list.json: [0]: expected an object, found 3");
    for (const char* json : {"[{]", "", "[\"\xff\"]", "[1e999]"})
        EXPECT_THAT(refused(json), testing::StartsWith("list.json: not JSON: "));
    EXPECT_EQ(refused(std::string(100'000, '[')),
              "list.json: not JSON: nested deeper than 64");
    // Every prefix of a list is refused, and nothing worse.
    const std::string whole = "[" + entry() + "]";
    for (std::size_t n = 0; n < whole.size(); ++n) refused(whole.substr(0, n));
}

TEST(Prices, RefusesFilesThatAreNone) {
    const support::TempDir dir;
    const auto file = [&](const std::filesystem::path& path) {
        return bad_input([&] { ledger::read_prices(path); });
    };
    EXPECT_THAT(file("/nowhere/list.json"),
                HasSubstr("/nowhere/list.json: cannot be opened: No such file"));
    EXPECT_THAT(file(dir.path()), HasSubstr("expected a regular file"));
    EXPECT_THAT(file("/dev/zero"), HasSubstr("expected a regular file"));
    support::spew(dir / "large", std::string((1 << 20) + 1, ' '));
    EXPECT_THAT(file(dir / "large"),
                HasSubstr("large: expected at most 1048576 bytes, found 1048577"));
}
