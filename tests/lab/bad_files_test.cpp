// Every file that programs read, damaged in every way that can be listed: each byte
// changed, the file cut at each length, each member of its JSON made something else. Each
// is refused in one clear line, or means what it meant before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>

#include "gpt2/tokenizer.hpp"
#include "gpt2/utf8.hpp"
#include "gpt2/weights.hpp"
#include "lab/accelerators.hpp"
#include "lab/model_pairs.hpp"
#include "lab/published.hpp"
#include "lab/results.hpp"
#include "largest_allocation.hpp"
#include "ledger/price.hpp"
#include "support.hpp"

namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool fast = false;
#else
constexpr bool fast = true;
#endif

/// A kind of file, and what reads it.
struct Kind {
    std::string name;
    std::map<std::string, std::string> files;          // a valid folder
    std::string file;                                  // the one that is damaged
    std::function<std::string(const fs::path&)> read;  // what the folder means
};

/// A text there and back: no vocabulary, of those that are taken, may lose a byte. It
/// begins with a blank, so that `add_prefix_space` adds none.
std::string there_and_back(const fs::path& folder) {
    const auto tokenizer = gpt2::Tokenizer::load(folder);
    return tokenizer.decode(tokenizer.encode(" the cat\n\xff sat \xe8\xaf\xbb the end"));
}

const gpt2::Config config{
    .n_vocab = 5, .n_ctx = 3, .n_embd = 4, .n_layer = 2, .n_head = 2};

/// All numbers, as bytes.
std::string numbers(const fs::path& folder) {
    const auto weights = gpt2::load_weights(folder);
    std::string all;
    for (const gpt2::Part part : gpt2::all_parts())
        for (int layer = 0; layer < (is_per_layer(part) ? config.n_layer : 1); ++layer) {
            const auto [rows, columns] = shape_of(part, config);
            std::vector<float> tensor(std::size_t(rows) * std::size_t(columns));
            weights->read(part, layer, 0, tensor);
            all.append(reinterpret_cast<const char*>(tensor.data()), tensor.size() * 4);
        }
    return all;
}

std::map<std::string, std::string> model_files() {
    const support::TempDir dir;
    gpt2::save_weights(*gpt2::random_weights(config, 3), dir.path());
    return {{"config.json", support::slurp(dir / "config.json")},
            {"model.safetensors", support::slurp(dir / "model.safetensors")}};
}

/// The 256 bytes as a vocabulary spells them, `<|endoftext|>` and three merges.
ordered_json vocabulary() {
    ordered_json entries;
    int next = 256;
    for (int byte = 0; byte < 256; ++byte) {
        const bool shown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        const int c = shown ? byte : next++;
        const std::string spelling =
            c < 0x80 ? std::string(1, char(c))
                     : std::string{char(0xc0 | c >> 6), char(0x80 | (c & 0x3f))};
        entries[spelling] = byte;
    }
    for (const char* more : {"th", "the", "\u0120the", "<|endoftext|>"})
        entries[more] = entries.size();
    return entries;
}
const char* const merges = "#version: 0.2\nt h\nth e\n\u0120 the\n";

std::string tokenizer_json() {
    return ordered_json{
        {"version", "1.0"},
        {"added_tokens", {{{"id", 259}, {"content", "<|endoftext|>"}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer",
         {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"vocab", vocabulary()},
          {"merges", {"t h", {"th", "e"}, "\u0120 the"}}}}}
        .dump();
}

std::string results_json() {
    lab::Results results;
    results.chapter = "04_read_vs_write";
    results.title = "Reading";
    results.question = "Why?";
    results.keep = "One trip.";
    results.quick = true;
    results.headline = "a";
    results.date = "2026-12-01";
    results.commit = "abc";
    results.build = "Release";
    results.machine.cpu = "c";
    results.machine.slug = "some-2-cores";
    results.model.emplace();
    results.rows = {{"a", "b", "s", 1.5, {1, 2, 3, 4}, lab::Published{}}};
    results.notes = {{"c", "d", 5, "bytes", {}}};
    results.checks = {{"e", "f", true, "g"}};
    results.exhibits = {{"h", {"i"}, {{"j"}, {2.5}}}};
    return lab::to_json(results);
}

const char* const prices = R"([{"model": "m", "date": "2026-10", "source": "s",
"input": "0.20", "output": "1", "cached_input": "0.02"}])";

const char* const published = R"([{"id": "a", "value": 60.6, "unit": "times",
"kind": "exact", "tolerance": 0.05, "printed": "60.6", "erratum": true}])";

/// The first entries of a shipped file.
std::string beginning(const char* file, const char* list, std::size_t count) {
    auto json = ordered_json::parse(support::slurp(fs::path(SOURCE_DIR) / "data" / file));
    ordered_json& entries = *list ? json[list] : json;
    while (entries.size() > count) entries.erase(entries.size() - 1);
    return json.dump();
}

std::vector<Kind> kinds() {
    const auto model = model_files();
    const auto one = [](const char* file, const std::string& content, auto read) {
        return Kind{file, {{file, content}}, file, [=](const fs::path& folder) {
                        read(folder / file);
                        return std::string("taken");
                    }};
    };
    std::vector<Kind> all{
        {"header", model, "model.safetensors", numbers},
        {"config", model, "config.json", numbers},
        {"vocab",
         {{"vocab.json", vocabulary().dump()}, {"merges.txt", merges}},
         "vocab.json",
         there_and_back},
        {"merges",
         {{"vocab.json", vocabulary().dump()}, {"merges.txt", merges}},
         "merges.txt",
         there_and_back},
        {"tokenizer",
         {{"tokenizer.json", tokenizer_json()}},
         "tokenizer.json",
         there_and_back},
        one("prices.json", prices, ledger::read_prices),
        one("published.json", published, lab::read_published),
        one("machines.json", beginning("machines.json", "", 2), lab::read_machines),
        one("pairs.json", beginning("model_pairs.json", "pairs", 1),
            lab::read_model_pairs),
        {"results",
         {{"results.json", results_json()}},
         "results.json",
         [](const fs::path& folder) {
             const std::string once =
                 lab::to_json(lab::read_results(folder / "results.json"));
             return lab::to_json(lab::parse_results(once, "once")) == once ? "whole"
                                                                           : "changed";
         }}};
    return all;
}

class BadFiles : public testing::TestWithParam<Kind> {
protected:
    BadFiles() {
        fs::create_directory(folder_);
        for (const auto& [name, content] : GetParam().files)
            support::spew(folder_ / name, content);
        whole_ = GetParam().files.at(GetParam().file);
        meaning_ = GetParam().read(folder_);
    }

    /// The part that says what the rest is: of a safetensors file the header.
    std::size_t telling() const {
        if (GetParam().name != "header") return whole_.size();
        std::uint64_t length;
        std::memcpy(&length, whole_.data(), sizeof length);
        return sizeof length + std::size_t(length);
    }

    /// The JSON in it, where it is JSON.
    std::string json() const {
        const std::size_t begin = GetParam().name == "header" ? 8 : 0;
        return whole_.substr(begin, telling() - begin);
    }

    /// The file with other JSON in it.
    std::string with_json(const std::string& json) const {
        if (GetParam().name != "header") return json;
        const std::uint64_t length = json.size();
        std::string file(sizeof length, '\0');
        std::memcpy(file.data(), &length, sizeof length);
        return file + json + whole_.substr(telling());
    }

    /// Puts `content` in the file's place: it is refused as it should be, or read as the
    /// valid file was.
    void damage(const std::string& content, const std::string& how) {
        support::spew(folder_ / GetParam().file, content);
        largest_allocation = 0;
        try {
            const std::string found = GetParam().read(folder_);
            ++taken_;
            EXPECT_EQ(found == meaning_, true) << how;
        } catch (const gpt2::BadInput& error) {
            ++refused_;
            const std::string what = error.what();
            // Which of a vocabulary's two files is wrong, nobody knows.
            const std::size_t name = what.find(gpt2::one_line(folder_.string()) + "/");
            const std::size_t place = what.find(": ", name);
            ASSERT_NE(name, std::string::npos) << how << "\n" << what;
            ASSERT_NE(place, std::string::npos) << how << "\n" << what;
            EXPECT_GT(what.size(), place + 10) << how;
            EXPECT_LT(what.size(), place + 400) << how;
            EXPECT_EQ(gpt2::one_line(what), what) << how;
            EXPECT_NO_THROW(gpt2::check_utf8(what, "message")) << how;
        } catch (const std::exception& error) {
            FAIL() << how << ": " << error.what();
        }
        ASSERT_LT(largest_allocation, 64 * whole_.size() + (2 << 20)) << how;
    }

    const support::TempDir temporary_;
    // A name that would colour the terminal and begin a line of its own.
    const fs::path folder_ = temporary_ / "a\x1b[31m\nb";
    std::string whole_, meaning_;
    int taken_ = 0, refused_ = 0;
};

TEST_P(BadFiles, EveryBitFlipped) {
    damage(whole_, "not at all");
    EXPECT_EQ(taken_, 1);
    // A model's files bit by bit; of others one bit of a byte, and the next one of the
    // next.
    const bool model = GetParam().files.contains("model.safetensors");
    const std::size_t step = model && fast ? 1 : 9;
    for (std::size_t i = 0; i < telling() * 8; i += step) {
        std::string changed = whole_;
        changed[i / 8] = char(changed[i / 8] ^ 1 << i % 8);
        damage(changed, "bit " + std::to_string(i % 8) + " of byte " +
                            std::to_string(i / 8) + ": " + whole_.substr(i / 8, 20));
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(refused_, 10);
}

TEST_P(BadFiles, CutAtEveryLength) {
    for (std::size_t length = 0; length < telling(); ++length)
        damage(whole_.substr(0, length), "cut at " + std::to_string(length));
    for (std::size_t length = telling(); length < whole_.size(); length += 7)
        damage(whole_.substr(0, length), "cut at " + std::to_string(length));
    if (GetParam().name == "header") {
        EXPECT_EQ(taken_, 0);
    }
    EXPECT_GT(refused_, 0);
}

TEST_P(BadFiles, EveryFieldExtreme) {
    if (GetParam().name == "merges") GTEST_SKIP() << "has no fields";
    const std::string extremes[] = {
        "null",
        "true",
        "-1",
        "0",
        "-0.0",
        "1",
        "0.5",
        "2147483648",
        "-2147483649",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "1e400",
        "-1e400",
        "1e-400",
        "NaN",
        "\"NaN\"",
        "\"\"",
        R"("\u001b[31m\u009b\n\u0000")",
        "\"\x1b[31m\"",
        "\"\xff\"",
        "\"" + std::string(10'000, 'x') + "\"",
        "[]",
        "{}",
        "[[1]]",
        R"({"a": null})",
        std::string(100'000, '['),
    };
    const ordered_json tree = ordered_json::parse(json());
    const std::string mark = "@here@", quoted = '"' + mark + '"';
    const auto with = [&](const ordered_json& marked, const std::string& text) {
        std::string all = marked.dump();
        return with_json(all.replace(all.find(quoted), quoted.size(), text));
    };
    const std::function<void(const ordered_json::json_pointer&)> visit =
        [&](const ordered_json::json_pointer& at) {
            const ordered_json& value = tree.at(at);
            ordered_json marked = tree;
            marked[at] = mark;
            const std::string place = at.to_string();
            for (const std::string& extreme : extremes)
                damage(with(marked, extreme), place + ": " + extreme.substr(0, 40));
            if (!at.empty()) {
                ordered_json without = tree;
                ordered_json& parent = without[at.parent_pointer()];
                if (parent.is_array())
                    parent.erase(std::size_t(std::stoi(at.back())));
                else
                    parent.erase(at.back());
                damage(with_json(without.dump()), place + ": missing");
            }
            if (!at.empty() && tree.at(at.parent_pointer()).is_object()) {
                const std::string name = ordered_json(at.back()).dump();
                const int before = refused_;
                for (const std::string& again : {value.dump(), std::string("null")})
                    damage(with(marked, value.dump() + ", " + name + ": " + again),
                           place + ": twice");
                EXPECT_EQ(refused_, before + 2) << place << " twice";
            }
            if (HasFatalFailure()) return;
            // Of a vocabulary the first and the last stand for all.
            const std::size_t step = value.size() > 40 ? value.size() - 1 : 1;
            for (std::size_t i = 0; value.is_structured() && i < value.size(); i += step)
                visit(value.is_array()
                          ? at / i
                          : at / std::next(value.begin(), std::ptrdiff_t(i)).key());
        };
    visit(ordered_json::json_pointer());
    EXPECT_GT(refused_, 50);
}

INSTANTIATE_TEST_SUITE_P(All, BadFiles, testing::ValuesIn(kinds()), [](const auto& kind) {
    std::string name = kind.param.name;
    return name.substr(0, name.find('.'));
});

// Where the data begins is the header's business: at any address, aligned or not.
TEST(ModelFile, DataAtAnyAddress) {
    const auto files = model_files();
    const support::TempDir dir;
    support::spew(dir / "config.json", files.at("config.json"));
    const std::string& whole = files.at("model.safetensors");
    std::uint64_t length;
    std::memcpy(&length, whole.data(), sizeof length);
    std::string first;
    for (int blanks = 0; blanks < 8; ++blanks) {
        const std::uint64_t longer = length + std::uint64_t(blanks);
        std::string moved(sizeof longer, '\0');
        std::memcpy(moved.data(), &longer, sizeof longer);
        moved += whole.substr(8, length) + std::string(std::size_t(blanks), ' ') +
                 whole.substr(8 + length);
        support::spew(dir / "model.safetensors", moved);
        const std::string found = numbers(dir.path());
        if (blanks == 0) first = found;
        EXPECT_TRUE(found == first) << blanks;
    }
}

}  // namespace
