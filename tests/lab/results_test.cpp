#include "lab/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "lab/json_file.hpp"
#include "lab/published.hpp"
#include "lab/report.hpp"
#include "lab/summary.hpp"
#include "lab/table.hpp"
#include "support.hpp"

namespace {

namespace fs = std::filesystem;

lab::Results example() {
    lab::Results results{.chapter = "04_read_vs_write",
                         .title = "Reading is parallel",
                         .question = "Why is writing slow?",
                         .keep = "One trip for all.",
                         .quick = true,
                         .headline = "read_over_write",
                         .date = "2026-10-31T12:00:00Z",
                         .commit = "abc1234-dirty",
                         .build = "Release GNU 12.2.0",
                         .machine = {"AMD EPYC",
                                     "amd-epyc-2-cores",
                                     2,
                                     2,
                                     1ll << 34,
                                     {2e10, 2e11, 2, 24e6, 1e11}},
                         .model = lab::ModelInfo{"story", "data/models/story", "small",
                                                 "f32", "f16", 124439808, 500000000},
                         .rows = {},
                         .notes = {},
                         .checks = {},
                         .exhibits = {}};
    results.rows.push_back({"read_512",
                            "read at once",
                            "token/s",
                            1000.5,
                            {900, 950.25, 980, 5},
                            lab::Published{5947.0, "token/s", ""}});
    results.rows.push_back({"read_over_write",
                            "reading over writing",
                            "times",
                            {},
                            {20, 21, 22, 3},
                            lab::Published{60.6, "times", "60.6 times"}});
    results.notes.push_back({"kv_per_token", "KV cache \"per\" token", 36864, "bytes",
                             lab::Published{{}, "", "36 KiB"}});
    results.checks.push_back({"cache_logits", "the same logits", true, "0 differ"});
    results.exhibits.push_back(
        {"beats", {"piece", "seconds"}, {{"\u2423the \"\n", 0.1}, {"\\xe4", 1e-300}}});
    results.exhibits.push_back({"none", {"n"}, {}});
    return results;
}

/// A folder of its own for each test.
class Files : public testing::Test {
protected:
    Files()
        : folder_(fs::path(testing::TempDir()) /
                  testing::UnitTest::GetInstance()->current_test_info()->name()) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Files() override { fs::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& content) const {
        std::ofstream(folder_ / name, std::ios::binary) << content;
        return (folder_ / name).string();
    }
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }

    fs::path folder_;
};

TEST_F(Files, ResultsComeBackAsTheyWere) {
    const std::string json = lab::to_json(example());
    const lab::Results back = lab::read_results(file("a.json", json));
    EXPECT_EQ(lab::to_json(back), json);
    EXPECT_EQ(back.chapter, "04_read_vs_write");
    EXPECT_TRUE(back.quick);
    ASSERT_EQ(back.rows.size(), 2u);
    EXPECT_EQ(back.rows[0].predicted, 1000.5);
    EXPECT_EQ(back.rows[0].measured.median, 950.25);
    EXPECT_EQ(back.rows[0].measured.runs, 5);
    EXPECT_EQ(back.rows[0].published->value, 5947);
    EXPECT_FALSE(back.rows[1].predicted);
    EXPECT_FALSE(back.notes[0].published->value);
    EXPECT_EQ(back.machine.ceilings.multiply_add_peak, 2e11);
    EXPECT_EQ(back.model->parameters, 124439808);
    EXPECT_EQ(back.headline_row()->id, "read_over_write");
    EXPECT_EQ(back.checks_held(), 1);
    ASSERT_EQ(back.exhibits.size(), 2u);
    EXPECT_EQ(back.find_exhibit("beats")->columns, example().exhibits[0].columns);
    EXPECT_EQ(back.find_exhibit("beats")->rows, example().exhibits[0].rows);
    EXPECT_TRUE(back.find_exhibit("none")->rows.empty());
    EXPECT_EQ(back.find_exhibit("other"), nullptr);
}

TEST(Results, TheSchemaHasItsNames) {
    const auto json = nlohmann::json::parse(lab::to_json(example()));
    EXPECT_EQ(json["schema"], 3);
    for (const char* name :
         {"chapter", "title", "question", "keep", "quick", "headline", "date", "commit",
          "build", "machine", "model", "rows", "notes", "checks", "exhibits"})
        EXPECT_TRUE(json.contains(name)) << name;
    EXPECT_TRUE(json["machine"]["gpu"].is_null());
    EXPECT_EQ(json["machine"]["ceilings"]["read_bandwidth"], 2e10);
    EXPECT_EQ(json["machine"]["ceilings"]["cache_bytes"], 24e6);
    EXPECT_EQ(json["machine"]["ceilings"]["cache_bandwidth"], 1e11);
    EXPECT_EQ(json["rows"][0]["measured"]["runs"], 5);
    EXPECT_TRUE(json["rows"][1]["predicted"].is_null());
    EXPECT_EQ(json["exhibits"][0]["rows"][1][0], "\\xe4");
    EXPECT_EQ(json["exhibits"][0]["rows"][1][1], 1e-300);
}

TEST(Results, AGpuComesBackToo) {
    lab::Results results = example();
    results.machine.gpu = {
        "NVIDIA \"H200\"", 132, 4.3e12, 4.1e12, 5e13, 7.9e14, 1.3e-6, 1.1e-6};
    const lab::Results back = lab::parse_results(lab::to_json(results), "here");
    ASSERT_TRUE(back.machine.gpu);
    EXPECT_EQ(back.machine.gpu->name, "NVIDIA \"H200\"");
    EXPECT_EQ(back.machine.gpu->multiprocessors, 132);
    EXPECT_EQ(back.machine.gpu->read_bandwidth, 4.3e12);
    EXPECT_EQ(back.machine.gpu->copy_bandwidth, 4.1e12);
    EXPECT_EQ(back.machine.gpu->multiply_add_f32, 5e13);
    EXPECT_EQ(back.machine.gpu->matrix_bf16, 7.9e14);
    EXPECT_EQ(back.machine.gpu->graph_node, 1.3e-6);
    EXPECT_EQ(back.machine.gpu->grid_barrier, 1.1e-6);
    EXPECT_EQ(lab::to_json(back), lab::to_json(results));
}

// A cell may be a number or a text; everything else about an exhibit is fixed.
TEST(Results, ExhibitsAreChecked) {
    const nlohmann::json whole = nlohmann::json::parse(lab::to_json(example()));
    const auto refused = [&](const std::string& place, const nlohmann::json& value) {
        nlohmann::json changed = whole;
        changed[nlohmann::json::json_pointer("/exhibits" + place)] = value;
        return support::bad_input([&] { lab::parse_results(changed.dump(), "f.json"); });
    };
    EXPECT_EQ(refused("/0/rows/1", {"x"}),
              "f.json: exhibits[0]: rows[1]: expected 2 cells, found 1");
    EXPECT_EQ(refused("/0/rows/0", {"x", 1, 2}),
              "f.json: exhibits[0]: rows[0]: expected 2 cells, found 3");
    EXPECT_EQ(refused("/0/rows/1/1", nullptr),
              "f.json: exhibits[0]: rows[1][1]: expected a number, found null");
    EXPECT_EQ(refused("/0/rows/1/0", true),
              "f.json: exhibits[0]: rows[1][0]: expected a number, found true");
    EXPECT_EQ(refused("/0/rows/1", 7),
              "f.json: exhibits[0]: rows[1]: expected a list, found 7");
    EXPECT_EQ(refused("/0/columns/1", 7),
              "f.json: exhibits[0]: columns[1]: expected a text, found 7");
    EXPECT_EQ(refused("/0/columns/1", "piece"),
              "f.json: exhibits[0]: columns: expected names of their own, found 'piece'");
    EXPECT_EQ(refused("/1/columns", nlohmann::json::array()),
              "f.json: exhibits[1]: columns: expected one or more, found none");
    EXPECT_EQ(refused("/1/id", "beats"),
              "f.json: exhibits[1]: id: expected an id of its own, found \"beats\"");
    EXPECT_EQ(refused("/1/id", ""),
              "f.json: exhibits[1]: id: expected a name, found none");
    EXPECT_EQ(refused("/1/id", 3), "f.json: exhibits[1]: id: expected a text, found 3");
    EXPECT_EQ(refused("", "x"), "f.json: exhibits: expected a list, found \"x\"");

    // What no JSON can hold must not reach the file either.
    std::string json = lab::to_json(example());
    json.replace(json.find("1e-300"), 6, "1e+999");
    EXPECT_THROW(lab::parse_results(json, "x"), gpt2::BadInput);
    json.replace(json.find("1e+999"), 6, "\"\xff\"");
    EXPECT_THROW(lab::parse_results(json, "x"), gpt2::BadInput);
    const auto recorded = [](const lab::Cell& cell) {
        lab::check_exhibit({"a", {"b"}, {{cell}}}, "here");
    };
    EXPECT_NO_THROW(recorded("\u2423"));
    for (const lab::Cell& cell : std::vector<lab::Cell>{
             std::nan(""), std::numeric_limits<double>::infinity(), "\xe4", "a\xff"})
        EXPECT_THROW(recorded(cell), gpt2::Error);
}

TEST(Results, ARunWithoutAModelOrRows) {
    lab::Results results = example();
    results.model.reset();
    results.rows.clear();
    results.headline.clear();
    const lab::Results back = lab::parse_results(lab::to_json(results), "x");
    EXPECT_FALSE(back.model);
    EXPECT_EQ(back.headline_row(), nullptr);
    EXPECT_NE(lab::summary(std::span(&back, 1)).find("1/1"), std::string::npos);
}

// Each field of the file in turn is taken out, or made something else.
TEST(Results, EveryFieldIsChecked) {
    const nlohmann::json whole = nlohmann::json::parse(lab::to_json(example()));
    const nlohmann::json flat = whole.flatten();
    int refused = 0;
    for (const auto& [path, value] : flat.items()) {
        const nlohmann::json::json_pointer at(path);
        if (path == "/machine/gpu" || path == "/exhibits/1/rows") continue;
        for (const nlohmann::json& wrong :
             {nlohmann::json{{"an", "object"}}, nlohmann::json::array({1})}) {
            nlohmann::json changed = whole;
            changed[at] = wrong;
            try {
                lab::parse_results(changed.dump(), "file.json");
                ADD_FAILURE() << path << " was accepted as " << wrong;
            } catch (const gpt2::BadInput& error) {
                const std::string what = error.what();
                EXPECT_EQ(what.rfind("file.json", 0), 0u) << what;
                EXPECT_EQ(what.find('\n'), std::string::npos) << what;
                ++refused;
            }
        }
        if (at.back().find_first_not_of("0123456789") == std::string::npos) continue;
        nlohmann::json without = whole;
        without[at.parent_pointer()].erase(at.back());
        EXPECT_THROW(lab::parse_results(without.dump(), "file.json"), gpt2::BadInput)
            << path;
    }
    EXPECT_GT(refused, 60);
}

TEST(Results, MalformedFilesAreRefused) {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"),
          std::string("{\"schema\": 1}"), std::string(100000, '['),
          std::string("\xff\xfe"), lab::to_json(example()) + "x"})
        EXPECT_THROW(lab::parse_results(text, "x"), gpt2::BadInput);
    nlohmann::json json = nlohmann::json::parse(lab::to_json(example()));
    json["machine"]["slug"] = "../up";
    EXPECT_THROW(lab::parse_results(json.dump(), "x"), gpt2::BadInput);
    json = nlohmann::json::parse(lab::to_json(example()));
    json["machine"]["threads"] = -1;
    EXPECT_THROW(lab::parse_results(json.dump(), "x"), gpt2::BadInput);
    json["machine"]["threads"] = 1ll << 40;
    EXPECT_THROW(lab::parse_results(json.dump(), "x"), gpt2::BadInput);
}

TEST_F(Files, WritingIsWholeOrNotAtAll) {
    const fs::path target = folder_ / "out.json";
    gpt2::check_writable(target);
    EXPECT_EQ(files(), 0);
    gpt2::write_file(target, "one");
    gpt2::write_file(target, "two");
    EXPECT_EQ(gpt2::read_file(target, 3), "two");
    EXPECT_EQ(files(), 1);
    EXPECT_THROW(gpt2::check_writable(folder_ / "none" / "out.json"), gpt2::BadInput);
    EXPECT_THROW(gpt2::write_file(folder_ / "none" / "out.json", "x"), gpt2::BadInput);
    EXPECT_THROW(gpt2::check_writable(folder_), gpt2::BadInput);
    EXPECT_THROW(gpt2::check_writable("/dev/null"), gpt2::BadInput);
    EXPECT_THROW(gpt2::read_file(folder_, 100), gpt2::BadInput);
    EXPECT_THROW(gpt2::read_file(folder_ / "none", 100), gpt2::BadInput);
    EXPECT_THROW(gpt2::read_file(target, 2), gpt2::BadInput);
    EXPECT_EQ(files(), 1);
}

TEST_F(Files, ThePublishedFigures) {
    EXPECT_TRUE(lab::read_published(folder_ / "none.json").empty());
    const auto figures = lab::read_published(
        file("p.json", R"([{"id": "a", "value": 60.6, "unit": "times"},
                           {"id": "b", "value": "the same", "printed": "same text"}])"));
    EXPECT_EQ(figures.at("a").value, 60.6);
    EXPECT_EQ(figures.at("a").unit, "times");
    EXPECT_FALSE(figures.at("b").value);
    EXPECT_EQ(figures.at("b").printed, "same text");
    for (const char* bad : {"", "{}", "[1]", "[{}]", "[{\"id\": 3}]"})
        EXPECT_THROW(lab::read_published(file("bad.json", bad)), gpt2::BadInput) << bad;
}

TEST(Published, TheShippedFileIsRead) {
    const auto figures =
        lab::read_published(fs::path(SOURCE_DIR) / "data/published.json");
    ASSERT_TRUE(figures.contains("read_over_write"));
    EXPECT_EQ(figures.at("read_over_write").value, 60.6);
}

TEST(Table, WrapsAtBlanksAndAligns) {
    lab::Table table({{"name", 9}, {"n", 5, true}, {"end", 4}});
    table.add({"one two three", "1,000", "x"});
    table.add({"unbreakable-word", "7", ""});
    EXPECT_EQ(table.text(),
              "name                  n  end\n"
              "----------------  -----  ---\n"
              "one two           1,000  x\n"
              "three\n"
              "unbreakable-word      7\n");
}

TEST(Table, CountsCharactersNotBytes) {
    lab::Table table({{"a", 9}, {"b", 9}});
    table.add({"\xe2\x96\x8d", "x"});
    EXPECT_EQ(table.text(), "a  b\n-  -\n\xe2\x96\x8d  x\n");
}

TEST(Report, HasPredictedMeasuredAndPrinted) {
    const std::string text = lab::report(example());
    for (const char* part : {"read at once", "token/s", "1,000", "950 (900..980)", "-5%",
                             "5,947 token/s", "60.6 times", "36 KiB",
                             "holds   the same logits: 0 differ", "One trip for all."})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Summary, OneLineAChapterWithinItsWidth) {
    lab::Results failing = example();
    failing.chapter = "05_kv_cache";
    failing.question =
        "A question that is much too long to stand on one line of the table, "
        "so that it has to be wrapped";
    failing.checks.push_back({"x", "something else", false, "3 differ"});
    const std::vector<lab::Results> chapters{example(), failing};
    const std::string text = lab::summary(chapters);
    for (const char* part :
         {"04_read_vs_write", "Why is writing slow?", "21 times", "60.6 times", "1/1",
          "1/2", "FAILED  something else: 3 differ"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    std::size_t longest = 0, begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1)
        longest = std::max(longest, end - begin);
    EXPECT_LE(longest, 110u);
}

struct Ran {
    int status;
    std::string out, err;
};

Ran summary(std::vector<std::string> words) {
    std::vector<const char*> argv{"summary"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = lab::summary_program(int(argv.size()), argv.data());
    std::string out = testing::internal::GetCapturedStdout();
    return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

TEST_F(Files, TheSummaryProgram) {
    lab::Results failing = example();
    failing.checks[0].holds = false;
    const std::string good = file("good.json", lab::to_json(example()));
    const std::string bad = file("bad.json", lab::to_json(failing));
    EXPECT_EQ(summary({good}).status, 0);
    EXPECT_EQ(summary({good, bad}).status, 1);
    EXPECT_EQ(summary({"--machine", good}).out, "amd-epyc-2-cores\n");
    EXPECT_EQ(summary({"--help"}).status, 0);
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"--machine"},
                                                  {"--machine", good, good},
                                                  {"--other"},
                                                  {good, folder_ / "none.json"},
                                                  {file("broken.json", "{\n")}}) {
        const Ran ran = summary(words);
        EXPECT_EQ(ran.status, 2);
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err.rfind("summary: ", 0), 0u);
        EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    }
}

}  // namespace
