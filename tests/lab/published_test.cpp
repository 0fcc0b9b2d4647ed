// The figures that the course prints: the file is whole, and its arithmetic comes out.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

using nlohmann::json;

/// The course's list, row by row. A row with several figures has several entries, whose
/// ids begin with the row's.
const char* const rows[] = {
    "read_512",
    "write_511",
    "read_over_write",
    "cache_256",
    "cache_768",
    "cache_same",
    "cache_logits",
    "weights_f32",
    "kv_per_token",
    "kv_full",
    "kv_8b",
    "params_body",
    "flops_body",
    "flops_token",
    "exercises",
    "price_opus",
    "price_sonnet",
    "price_ratio",
    "thank_you",
    "sure_positions",
    "paris",
    "spec_same",
    "floor_140",
    "double_output",
    "beat",
    "smaller_faster",
    "more_compute",
    "choose_by_reading",
    "say_less",
    "retrieved",
    "stream_total",
    "agent_growth",
    "long_talk",
    "batch_shared",
    "thinking_params",
    "latency_abc",
    "tokens_abc",
    "capacity_abc",
    "shared_prompt",
    "first_token",
    "easy_hard",
    "majority",
    "verifier",
    "break_even",
    "q1",
    "q2",
    "q3",
    "q4",
};

class Published : public testing::Test {
protected:
    void SetUp() override {
        std::ifstream file(SOURCE_DIR "/data/published.json");
        ASSERT_TRUE(file.is_open());
        entries_ = json::parse(file);
        ASSERT_TRUE(entries_.is_array());
        for (const json& entry : entries_)
            by_id_.emplace(entry.at("id").get<std::string>(), entry);
    }

    double value(const std::string& id) const {
        return by_id_.at(id).at("value").get<double>();
    }

    /// Expects that `computed` is the figure `id`, within the figure's own tolerance.
    void comes_out(const std::string& id, double computed) const {
        const json& tolerance = by_id_.at(id).at("tolerance");
        ASSERT_TRUE(tolerance.is_number()) << id;
        EXPECT_NEAR(computed, value(id), tolerance.get<double>()) << id;
    }

    json entries_;
    std::map<std::string, json> by_id_;
};

TEST_F(Published, IdsAreUnique) { EXPECT_EQ(by_id_.size(), entries_.size()); }

TEST_F(Published, EveryEntryIsWhole) {
    const std::set<std::string> fields = {"id",   "what",      "value",  "unit",
                                          "kind", "tolerance", "source", "printed",
                                          "note", "erratum"};
    for (const json& entry : entries_) {
        SCOPED_TRACE(entry.dump());
        for (const char* text : {"id", "what", "unit", "kind", "source"}) {
            ASSERT_TRUE(entry.contains(text)) << text;
            ASSERT_TRUE(entry[text].is_string()) << text;
            EXPECT_FALSE(entry[text].get<std::string>().empty()) << text;
        }
        for (const auto& [name, field] : entry.items())
            EXPECT_TRUE(fields.contains(name)) << name;

        const json& value = entry.at("value");
        EXPECT_TRUE(value.is_number() || value.is_string() || value == true);
        EXPECT_EQ(entry["unit"] == "statement", value == true);

        const std::string kind = entry["kind"];
        EXPECT_TRUE(kind == "exact" || kind == "timing" || kind == "real");
        if (kind == "timing") {
            EXPECT_TRUE(entry.at("tolerance").is_null());
        } else {
            ASSERT_TRUE(entry.at("tolerance").is_number());
            EXPECT_GE(entry["tolerance"].get<double>(), 0);
        }
    }
}

TEST_F(Published, EveryRowOfTheCourseHasAnEntry) {
    for (const std::string row : rows) {
        bool found = false;
        for (const auto& [id, entry] : by_id_)
            found |= id == row || id.starts_with(row + "_");
        EXPECT_TRUE(found) << row;
    }
}

TEST_F(Published, EveryEntryBelongsToARow) {
    for (const auto& [id, entry] : by_id_) {
        bool found = false;
        for (const std::string row : rows)
            found |= id == row || id.starts_with(row + "_");
        EXPECT_TRUE(found) << id;
    }
}

// A timing holds for the course's laptop alone, but its rate and its seconds must agree
// with each other, as far as the printed digits go.
TEST_F(Published, TimingsAgreeWithTheirRatios) {
    EXPECT_NEAR(512 / value("read_512_seconds"), value("read_512"),
                35);  // 0.086 +- 0.0005
    EXPECT_NEAR(511 / value("write_511_seconds"), value("write_511"), 0.6);
    EXPECT_NEAR(value("read_512") / value("write_511"), value("read_over_write"), 0.4);
    for (const std::string id : {"cache_256", "cache_768"})
        EXPECT_NEAR(value(id + "_without_seconds") / value(id + "_with_seconds"),
                    value(id), 0.01);
}

TEST_F(Published, BytesAndFlopsOfGpt2Small) {
    const double width = 768, layers = 12, positions = 1024, vocabulary = 50257;
    // Per layer: 12 width^2 in matrices, 13 width in biases and layer norms. Then the
    // final norm.
    const double matrices = layers * 12 * width * width;
    const double body = matrices + layers * 13 * width + 2 * width;
    const double all = body + (vocabulary + positions) * width;
    EXPECT_EQ(all, 124'439'808);
    comes_out("params_body", body / 1e6);
    comes_out("weights_f32", 4 * all / 1e6);
    comes_out("flops_body", 2 * matrices / 1e6);
    // Attention multiplies by each visible position twice: for its score and its value.
    const double attention = layers * 2 * 2 * width * (positions + 1) / 2;
    comes_out("flops_token", (2 * matrices + attention + 2 * width * vocabulary) / 1e6);
    comes_out("exercises", positions - 1);

    const double kv = 2 * layers * width * 2;
    comes_out("kv_per_token", kv);
    comes_out("kv_per_token_kib", kv / 1024);
    comes_out("kv_full", kv * positions / 1024 / 1024);
    const double kv_8b = 2 * 32 * 8 * 128 * 2;
    comes_out("kv_8b_per_token", kv_8b / 1024);
    comes_out("kv_8b_128k", kv_8b * 128 * 1024 / 1024 / 1024 / 1024);
}

TEST_F(Published, PriceRatios) {
    for (const std::string model : {"opus", "sonnet"}) {
        const double input = value("price_" + model + "_input");
        comes_out("price_ratio", value("price_" + model + "_output") / input);
        comes_out("price_ratio_cached_" + model,
                  value("price_" + model + "_cached") / input);
    }
}

TEST_F(Published, TheErratumIsMarkedAndCorrected) {
    comes_out("floor_140", 140e9 / 2e12 * 1e3);
    comes_out("floor_140_rate", 2e12 / 140e9);
    EXPECT_EQ(by_id_.at("floor_140").at("printed"), "70 µs");
    for (const auto& [id, entry] : by_id_)
        EXPECT_EQ(entry.value("erratum", false), id == "floor_140") << id;
}

// The surprise of a token is -log2 of its probability. Both are printed to two digits
// behind the point, so the rarer the token, the less is known of its bits.
TEST_F(Published, SurpriseFollowsFromProbability) {
    for (const std::string id : {"thank_you", "thank_you_very", "thank_you_comma",
                                 "thank_you_much_no_blank", "thank_you_much_capital"}) {
        const double low = -std::log2((value(id) + 0.005) / 100) - 0.005;
        const double high = -std::log2((value(id) - 0.005) / 100) + 0.005;
        EXPECT_GE(value(id + "_bits"), low) << id;
        EXPECT_LE(value(id + "_bits"), high) << id;
    }
}

/// Writing `count` tokens for each of `batch` answers to a prompt of their own, on the
/// lecture's machine, where every step must move the weights and all caches.
struct Bill {
    double seconds = 0, peak_gb = 0, gb_seconds = 0;
};
Bill bill(int count, int batch, double prompt_tokens, double fixed_tokens = 0) {
    const double weights_gb = 14, gb_per_second = 1000, gb_per_token = 0.5e-3;
    Bill sum;
    for (int written = 0; written < count; ++written) {
        const double cache_gb =
            gb_per_token * (fixed_tokens + batch * (prompt_tokens + written));
        const double seconds = (weights_gb + cache_gb) / gb_per_second;
        sum.seconds += seconds;
        sum.gb_seconds += cache_gb * seconds;
    }
    sum.peak_gb = gb_per_token * (fixed_tokens + batch * (prompt_tokens + count));
    return sum;
}

TEST_F(Published, TheBillOfThinking) {
    const Bill a = bill(200, 1, 100), b = bill(4200, 1, 100), c = bill(200, 8, 100);
    comes_out("latency_abc_a", a.seconds);
    comes_out("latency_abc_b", b.seconds);
    comes_out("latency_abc_c", c.seconds);
    comes_out("latency_abc_b_over_a", b.seconds / a.seconds);
    comes_out("latency_abc_c_over_a", c.seconds / a.seconds);
    comes_out("tokens_abc_b_over_a", value("tokens_abc_b") / value("tokens_abc_a"));
    comes_out("tokens_abc_c_over_a", value("tokens_abc_c") / value("tokens_abc_a"));
    comes_out("capacity_abc_a_peak", a.peak_gb);
    comes_out("capacity_abc_b_peak", b.peak_gb);
    comes_out("capacity_abc_c_peak", c.peak_gb);

    // As the text has it: the average cache times the time.
    comes_out("capacity_abc_a", 0.1 * value("latency_abc_a"));
    comes_out("capacity_abc_b", 1.1 * value("latency_abc_b"));
    comes_out("capacity_abc_c", 0.8 * c.seconds);

    comes_out("capacity_abc_a_summed", a.gb_seconds);
    comes_out("capacity_abc_b_summed", b.gb_seconds);
    comes_out("capacity_abc_c_summed", c.gb_seconds);
    comes_out("capacity_abc_b_over_a", b.gb_seconds / a.gb_seconds);
    comes_out("capacity_abc_b_over_a_summed", b.gb_seconds / a.gb_seconds);
    comes_out("capacity_abc_c_over_a", c.gb_seconds / a.gb_seconds);

    const Bill shared = bill(200, 8, 0, 100);
    comes_out("capacity_abc_c_shared_peak", shared.peak_gb);
    comes_out("capacity_abc_c_shared_summed", shared.gb_seconds);

    comes_out("first_token", 200 / a.seconds);
    comes_out("first_token_b_silence", bill(4000, 1, 100).seconds);

    const Bill longer = bill(8200, 1, 100), wide = bill(200, 64, 100);
    comes_out("q1", longer.seconds);
    comes_out("q1_capacity", longer.gb_seconds / b.gb_seconds);
    comes_out("q2", wide.seconds);
    comes_out("q2_cache", wide.peak_gb);
}

TEST_F(Published, VotesAndVerifiers) {
    const double right = 0.1, wrong = 0.9;
    const double majority = 10 * std::pow(right, 3) * std::pow(wrong, 2) +
                            5 * std::pow(right, 4) * wrong + std::pow(right, 5);
    comes_out("majority", 100 * majority);
    comes_out("verifier_all_wrong", std::pow(wrong, 8));
    comes_out("verifier", 100 * (1 - std::pow(wrong, 8)));
    // 22 is the first number of samples that reaches 90%.
    EXPECT_LT(1 - std::pow(wrong, 21), 0.9);
    comes_out("q3", std::ceil(std::log(0.1) / std::log(wrong)));
    comes_out("q3_cost", value("q3"));
}

TEST_F(Published, BreakEven) {
    const double large = value("break_even_large_once");
    const double saved = value("break_even_large_use") - value("break_even_small_use");
    const double use = (value("break_even_small_once") - large) / saved;
    comes_out("break_even", use);
    comes_out("break_even_cost", large + value("break_even_large_use") * use);
    comes_out("q4", (value("q4_small_once") - large) / saved);
}

}  // namespace
