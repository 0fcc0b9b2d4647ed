// The book's calculators run in the reader's browser. Here Node.js runs the same script
// on a grid of inputs, and the ledger says what must come out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "ledger/cost.hpp"
#include "ledger/drafting.hpp"
#include "ledger/life.hpp"
#include "ledger/odds.hpp"
#include "ledger/price.hpp"
#include "ledger/talk.hpp"
#include "ledger/thinking.hpp"
#include "support.hpp"

namespace {

using nlohmann::json;

/// What `calculators[kind]` of the page's script answers to each of the inputs.
json answers(const std::string& kind, const json& inputs) {
    const support::TempDir folder;
    support::spew(folder / "inputs.json", inputs.dump());
    const std::string script =
        "const c = require('" SOURCE_DIR
        "/book/theme/calculators.js');"
        "const f = require('fs');"
        "const inputs = JSON.parse(f.readFileSync(process.argv[1]));"
        "f.writeFileSync(process.argv[2], "
        "JSON.stringify(inputs.map(c." +
        kind + ")))";
    const std::string command = "node -e \"" + script + "\" '" +
                                (folder / "inputs.json").string() + "' '" +
                                (folder / "answers.json").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return json::parse(support::slurp(folder / "answers.json"));
}

bool node_is_here() { return std::system("node --version >/dev/null 2>&1") == 0; }

gpt2::DType dtype_of(int bytes) {
    return bytes == 4 ? gpt2::DType::f32 : gpt2::DType::f16;
}

}  // namespace

TEST(Calculators, KvCacheIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const int layers : {1, 12, 32, 80})
        for (const int heads : {1, 8, 12, 96})
            for (const int dim : {1, 64, 128})
                for (const int bytes : {2, 4})
                    for (const int tokens : {1, 1024, 131072})
                        for (const double gib : {0.0, 0.5, 8.0, 80.0})
                            inputs.push_back({{"layers", layers},
                                              {"heads", heads},
                                              {"dim", dim},
                                              {"bytes", bytes},
                                              {"tokens", tokens},
                                              {"gib", gib}});
    const json found = answers("kv", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const std::int64_t per_token = ledger::kv_bytes_per_token(
            in["layers"], in["heads"], in["dim"], dtype_of(in["bytes"]));
        const std::int64_t per_sequence = per_token * in["tokens"].get<int>();
        const auto memory = std::int64_t(in["gib"].get<double>() * 1073741824);
        EXPECT_EQ(found[i]["perToken"], per_token) << in;
        EXPECT_EQ(found[i]["perSequence"], per_sequence) << in;
        EXPECT_EQ(found[i]["sequences"], memory / per_sequence) << in;
    }
}

TEST(Calculators, PaceIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const double weights : {0.25, 0.5, 14.0, 140.0})
        for (const int bytes : {1, 2, 4})
            for (const double bandwidth : {20.0, 1000.0, 2000.0})
                for (const double peak : {0.2, 300.0})
                    for (const int sequences : {1, 8, 200, 5000})
                        for (const double cache : {0.0, 0.05, 16.0})
                            inputs.push_back({{"weights", weights},
                                              {"bytes", bytes},
                                              {"bandwidth", bandwidth},
                                              {"peak", peak},
                                              {"sequences", sequences},
                                              {"cache", cache}});
    const json found = answers("pace", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const int sequences = in["sequences"];
        const double weights = in["weights"].get<double>() * 1e9;
        const ledger::Machine machine{
            .read_bandwidth = in["bandwidth"].get<double>() * 1e9,
            .multiply_add_peak = in["peak"].get<double>() * 1e12,
            .threads = 1};
        const double bytes = weights + sequences * in["cache"].get<double>() * 1e9;
        const double flops = 2 * weights / in["bytes"].get<int>() * sequences;
        const ledger::Seconds beat = ledger::predict(
            ledger::Operation{"one token of each", 1, flops, bytes}, machine);
        EXPECT_NEAR(found[i]["beat"].get<double>() / beat, 1, 1e-12) << in;
        EXPECT_NEAR(found[i]["rate"].get<double>() * beat / sequences, 1, 1e-12) << in;
    }
}

TEST(Calculators, FitIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const double weights : {0.5, 14.0, 140.0})
        for (const int bytes : {1, 2, 4})
            for (const double memory : {8.0, 80.0, 640.0})
                for (const double bandwidth : {20.0, 2000.0})
                    for (const double peak : {0.2, 300.0})
                        for (const double kib : {36.0, 128.0})
                            for (const int tokens : {100, 8192, 131072})
                                inputs.push_back({{"weights", weights},
                                                  {"bytes", bytes},
                                                  {"memory", memory},
                                                  {"bandwidth", bandwidth},
                                                  {"peak", peak},
                                                  {"kib", kib},
                                                  {"tokens", tokens}});
    const json found = answers("fit", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    int none = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const double weights = in["weights"].get<double>() * 1e9;
        const double cache = in["kib"].get<double>() * 1024 * in["tokens"].get<int>();
        const double room = in["memory"].get<double>() * 1e9 - weights;
        const double fit = std::max(0.0, std::floor(room / cache));
        EXPECT_EQ(found[i]["fit"], fit) << in;
        const ledger::Machine machine{
            .read_bandwidth = in["bandwidth"].get<double>() * 1e9,
            .multiply_add_peak = in["peak"].get<double>() * 1e12,
            .threads = 1};
        const double flops = 2 * weights / in["bytes"].get<int>();
        const double knee = ledger::predict({"weights", 1, 0, weights}, machine) /
                            ledger::predict({"one", 1, flops, 0}, machine);
        EXPECT_NEAR(found[i]["knee"].get<double>() / knee, 1, 1e-12) << in;
        if (fit == 0) {  // a beat for nobody
            EXPECT_TRUE(found[i]["beat"].is_null() && found[i]["rate"].is_null()) << in;
            ++none;
            continue;
        }
        const ledger::Operation pass[] = {{"matrices", 1, fit * flops, weights},
                                          {"attention", 1, 0, fit * cache}};
        const ledger::Seconds beat = ledger::predict(pass, machine);
        EXPECT_NEAR(found[i]["beat"].get<double>() / beat, 1, 1e-12) << in;
        EXPECT_NEAR(found[i]["rate"].get<double>() * beat / fit, 1, 1e-12) << in;
    }
    EXPECT_GT(none, 0);
    EXPECT_LT(none, int(inputs.size()) / 2);
}

TEST(Calculators, WaysAreTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const double weights : {0.5, 14.0, 140.0})
        for (const double bandwidth : {20.0, 1000.0})
            for (const double cache : {0.0, 0.0369, 0.5, 2.6})
                for (const int prompt : {1, 100, 30'000})
                    for (const int answer : {1, 2, 200})
                        for (const int thinking : {0, 1, 4000})
                            for (const int copies : {1, 8, 64})
                                inputs.push_back({{"weights", weights},
                                                  {"bandwidth", bandwidth},
                                                  {"cache", cache},
                                                  {"prompt", prompt},
                                                  {"answer", answer},
                                                  {"thinking", thinking},
                                                  {"copies", copies}});
    const json found = answers("ways", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const ledger::Fetching machine{in["weights"].get<double>() * 1e9,
                                       in["cache"].get<double>() * 1e6,
                                       in["bandwidth"].get<double>() * 1e9};
        const ledger::Way a{in["prompt"], in["answer"]};
        ledger::Way b = a, c = a, shared = a;
        b.thinking = in["thinking"];
        c.copies = shared.copies = in["copies"];
        shared.shared = true;
        const auto stay = [&](const ledger::Way& way) {
            return ledger::stay(way, [&](int pass) { return machine.pass(way, pass); });
        };
        const auto expect = [&](const char* name, double value) {
            EXPECT_NEAR(found[i][name].get<double>() / value, 1, 1e-9) << name << in;
        };
        expect("aWait", stay(a).wait);
        expect("bWait", stay(b).wait);
        expect("cWait", stay(c).wait);
        if (machine.kv == 0) continue;  // nothing is held
        const double gigabytes = machine.kv / 1e9, at_once = stay(a).capacity;
        expect("aCapacity", gigabytes * at_once);
        expect("bCapacity", gigabytes * stay(b).capacity);
        expect("cCapacity", gigabytes * stay(c).capacity);
        expect("sharedCapacity", gigabytes * stay(shared).capacity);
        expect("bOver", stay(b).capacity / at_once);
        expect("sharedOver", stay(shared).capacity / at_once);
    }
}

TEST(Calculators, LifeIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const double large_once : {0.0, 100.0, 5.04e23})
        for (const double large_use : {0.0, 2.0, 5.6e11})
            for (const double small_once : {0.0, 100.0, 150.0, 5.88e23})
                for (const double small_use : {0.0, 1.0, 2.0, 1.4e11})
                    for (const double uses : {0.0, 50.0, 1e12})
                        inputs.push_back({{"largeOnce", large_once},
                                          {"largeUse", large_use},
                                          {"smallOnce", small_once},
                                          {"smallUse", small_use},
                                          {"uses", uses}});
    const json found = answers("life", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    int never = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const ledger::Life large{in["largeOnce"], in["largeUse"]};
        const ledger::Life small{in["smallOnce"], in["smallUse"]};
        EXPECT_EQ(found[i]["large"], large.after(in["uses"])) << in;
        EXPECT_EQ(found[i]["small"], small.after(in["uses"])) << in;
        const std::optional<double> even = ledger::break_even(small, large);
        if (even)
            EXPECT_EQ(found[i]["even"], *even) << in;
        else
            EXPECT_TRUE(found[i]["even"].is_null()) << in;
        never += !even;
    }
    EXPECT_GT(never, 0);
    EXPECT_LT(never, int(inputs.size()));
}

TEST(Calculators, BillIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    const ledger::Price lists[] = {
        {"opus", "", "", {4'000'000'000}, {20'000'000'000}, {200'000'000}},
        {"odd", "", "", {75'123'000}, {0}, {1'000}},
        {"free", "", "", {0}, {0}, {0}}};
    std::vector<std::pair<ledger::Price, ledger::Talk>> cases;
    json inputs = json::array();
    for (const ledger::Price& price : lists)
        for (const int first : {1, 64, 100'000})
            for (const int more : {1, 20, 1000})
                for (const int write : {1, 8, 300})
                    for (const int rounds : {1, 2, 20, 200}) {
                        cases.push_back({price, {first, more, write, rounds}});
                        inputs.push_back({{"input", price.input.dollars()},
                                          {"output", price.output.dollars()},
                                          {"cached", price.cached_input.dollars()},
                                          {"first", first},
                                          {"more", more},
                                          {"write", write},
                                          {"rounds", rounds}});
                    }
    const json found = answers("bill", inputs);
    ASSERT_EQ(found.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& [price, talk] = cases[i];
        const auto near = [&](const char* name, ledger::Money exact) {
            // The library rounds every round to a nano-dollar, the page never.
            EXPECT_NEAR(found[i][name].get<double>(), exact.dollars(),
                        0.5e-9 * talk.rounds + 1e-12 * exact.dollars())
                << name << inputs[i];
        };
        near("request", ledger::cost(price, talk.usage(0, false)));
        near("without", ledger::bill(price, talk, false));
        near("kept", ledger::bill(price, talk, true));
    }
}

TEST(Calculators, SpeculateIsTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const int guesses : {0, 1, 4, 16, 64})
        for (const double acceptance : {0.0, 5.0, 62.5, 80.0, 100.0})
            for (const double draft : {0.0, 1.5, 5.0, 40.0, 200.0})
                for (const double knee : {1.0, 6.5, 13.0, 150.0})
                    inputs.push_back({{"guesses", guesses},
                                      {"acceptance", acceptance},
                                      {"draft", draft},
                                      {"knee", knee}});
    const json found = answers("speculate", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    int plain = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const json& in = inputs[i];
        const int guesses = in["guesses"];
        const double acceptance = in["acceptance"].get<double>() / 100;
        const double draft = in["draft"].get<double>() / 100, knee = in["knee"];
        // One byte takes a second, and as long as `knee` FLOPs.
        const ledger::Machine machine{
            .read_bandwidth = 1, .multiply_add_peak = knee, .threads = 1};
        const ledger::TripCost cost = [&](int k) {
            return k * draft + ledger::predict({"matrices", 1, k + 1.0, 1}, machine);
        };
        const int best = ledger::best_guesses(acceptance, 64, cost);
        EXPECT_DOUBLE_EQ(found[i]["tokens"],
                         ledger::tokens_per_trip(acceptance, guesses));
        EXPECT_DOUBLE_EQ(found[i]["times"], ledger::speed_up(acceptance, guesses, cost));
        EXPECT_EQ(found[i]["best"], best) << in;
        EXPECT_DOUBLE_EQ(found[i]["bestTimes"], ledger::speed_up(acceptance, best, cost));
        plain += best == 0;
    }
    EXPECT_GT(plain, 0);
    EXPECT_LT(plain, int(inputs.size()) * 2 / 3);
}

TEST(Calculators, OpenWithTheCoursesExamples) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    const json pace = answers("pace", json::array({{{"weights", 140},
                                                    {"bytes", 2},
                                                    {"bandwidth", 2000},
                                                    {"peak", 300},
                                                    {"sequences", 1},
                                                    {"cache", 0}}}));
    EXPECT_DOUBLE_EQ(pace[0]["beat"], 0.070);  // 70 ms, where the course prints 70 us
    const json kv = answers("kv", json::array({{{"layers", 32},
                                                {"heads", 8},
                                                {"dim", 128},
                                                {"bytes", 2},
                                                {"tokens", 131072},
                                                {"gib", 80}}}));
    EXPECT_EQ(kv[0]["perToken"], 128 * 1024);
    EXPECT_EQ(kv[0]["perSequence"], std::int64_t(16) << 30);
    const json ways = answers("ways", json::array({{{"weights", 14},
                                                    {"bandwidth", 1000},
                                                    {"cache", 0.5},
                                                    {"prompt", 100},
                                                    {"answer", 200},
                                                    {"thinking", 4000},
                                                    {"copies", 8}}}));
    EXPECT_NEAR(ways[0]["bWait"].get<double>(), 63.4, 0.05);
    EXPECT_NEAR(ways[0]["bCapacity"].get<double>(), 71.3, 0.05);
    EXPECT_NEAR(ways[0]["sharedCapacity"].get<double>(), 1.31, 0.005);
    const json life = answers("life", json::array({{{"largeOnce", 100},
                                                    {"largeUse", 2},
                                                    {"smallOnce", 150},
                                                    {"smallUse", 1},
                                                    {"uses", 50}}}));
    EXPECT_EQ(life[0]["even"], 50);
    EXPECT_EQ(life[0]["large"], 200);
    EXPECT_EQ(life[0]["small"], 200);
}

TEST(Calculators, OddsAreTheLedgers) {
    if (!node_is_here()) GTEST_SKIP() << "no Node.js";
    json inputs = json::array();
    for (const double p : {0.1, 3.0, 10.0, 50.0, 60.0, 99.9})
        for (const int n : {1, 2, 5, 8, 33, 1000})
            for (const double wanted : {0.1, 50.0, 75.0, 90.0, 99.9})
                inputs.push_back({{"p", p}, {"n", n}, {"wanted", wanted}});
    const json found = answers("odds", inputs);
    ASSERT_EQ(found.size(), inputs.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const json& in = inputs[i];
        const double p = in["p"].get<double>() / 100;
        const int n = in["n"];
        EXPECT_NEAR(found[i]["majority"], ledger::majority_right(p, n), 1e-11) << in;
        EXPECT_NEAR(found[i]["verifier"], ledger::any_right(p, n), 1e-12) << in;
        EXPECT_NEAR(found[i]["until"], ledger::tries_until_right(p, n), 1e-9) << in;
        EXPECT_EQ(found[i]["needed"],
                  ledger::samples_needed(p, in["wanted"].get<double>() / 100))
            << in;
    }
}
