#include "gpt2/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "gpt2/byte_alphabet.hpp"
#include "gpt2/error.hpp"
#include "gpt2/file.hpp"
#include "gpt2/json.hpp"

namespace gpt2 {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// GPT-2's own files have 1 MB and 50,257 entries. The limits keep a hostile file from
// taking all memory.
constexpr std::uint64_t max_file_bytes = 32 << 20;
constexpr std::size_t max_entries = 1 << 20;

json read_object(const fs::path& file) {
    const json object = parse_json(read_file(file, max_file_bytes), file.string());
    if (!object.is_object())
        throw BadInput(fmt::format("{}: expected an object, found {}", file.string(),
                                   shown(object)));
    return object;
}

// Builds a Vocabulary from what the files spell.
class Builder {
public:
    void add_entry(const std::string& where, const std::string& spelling,
                   const json& id) {
        if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= max_entries)
            throw BadInput(fmt::format("{}: {}: expected an id below {}, found {}", where,
                                       shown(spelling), max_entries, shown(id)));
        ids_.emplace(spelling, id.get<Token>());
    }

    // All entries are known. `where` names their file.
    void close_entries(const std::string& where);

    void add_merge(const std::string& where, const std::string& left,
                   const std::string& right);

    // "left right"
    void add_merge(const std::string& where, const std::string& rule) {
        const std::size_t blank = rule.find(' ');
        if (blank == std::string::npos)
            throw BadInput(fmt::format("{}: expected two entries and a blank, found {}",
                                       where, shown(rule)));
        add_merge(where, rule.substr(0, blank), rule.substr(blank + 1));
    }

    std::optional<Token> id_of(const std::string& spelling) const {
        const auto found = ids_.find(spelling);
        if (found == ids_.end()) return {};
        return found->second;
    }

    Vocabulary vocabulary;

private:
    std::unordered_map<std::string, Token> ids_;
    std::unordered_set<std::uint64_t> pairs_;
};

void Builder::close_entries(const std::string& where) {
    const std::size_t size = ids_.size();
    std::vector<const std::string*> spellings(size);
    for (const auto& [spelling, id] : ids_) {
        if (std::size_t(id) >= size)
            throw BadInput(
                fmt::format("{}: {}: {} entries should have the ids below {}, "
                            "found {}",
                            where, shown(spelling), size, size, id));
        if (spellings[id])
            throw BadInput(fmt::format("{}: id {}: expected one entry, found {} and {}",
                                       where, id, shown(*spellings[id]),
                                       shown(spelling)));
        spellings[id] = &spelling;
    }
    std::array<bool, 256> known{};
    for (const std::string* spelling : spellings) {
        const std::optional<std::string> bytes = spelled_bytes(*spelling);
        if (!bytes || bytes->empty())
            throw BadInput(fmt::format("{}: {}: expected characters that stand for bytes",
                                       where, shown(*spelling)));
        if (bytes->size() == 1) known[static_cast<unsigned char>(bytes->front())] = true;
        vocabulary.entries.push_back(*bytes);
    }
    for (int byte = 0; byte < 256; ++byte)
        if (!known[byte])
            throw BadInput(fmt::format("{}: byte 0x{:02x}: expected an entry, found none",
                                       where, byte));
    const std::optional<Token> end = id_of(std::string(end_of_text_mark));
    if (!end)
        throw BadInput(fmt::format("{}: {}: expected an entry, found none", where,
                                   end_of_text_mark));
    vocabulary.end_of_text = *end;
}

void Builder::add_merge(const std::string& where, const std::string& left,
                        const std::string& right) {
    const auto known = [&](const std::string& spelling) {
        const std::optional<Token> id = id_of(spelling);
        if (!id)
            throw BadInput(fmt::format("{}: expected entries of the vocabulary, found {}",
                                       where, shown(spelling)));
        return *id;
    };
    const Vocabulary::Merge merge{known(left), known(right), known(left + right)};
    if (!pairs_.insert(std::uint64_t(merge.left) << 32 | std::uint64_t(merge.right))
             .second)
        throw BadInput(fmt::format("{}: expected a new pair, found {} {} again", where,
                                   shown(left), shown(right)));
    vocabulary.merges.push_back(merge);
}

Vocabulary read_two_files(const fs::path& vocab_json, const fs::path& merges_txt) {
    Builder builder;
    const json entries = read_object(vocab_json);
    for (const auto& [spelling, id] : entries.items())
        builder.add_entry(vocab_json.string(), spelling, id);
    builder.close_entries(vocab_json.string());

    const std::string text = read_file(merges_txt, max_file_bytes);
    std::size_t line = 0;
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        std::string rule = text.substr(begin, end - begin);
        if (rule.ends_with('\r')) rule.pop_back();
        ++line;
        // A header, if any, is the first line. Other lines that begin with '#' are rules
        // about that character.
        if (rule.empty() || (line == 1 && rule.starts_with("#version:"))) continue;
        builder.add_merge(fmt::format("{}: line {}", merges_txt.string(), line), rule);
    }
    return std::move(builder.vocabulary);
}

// The value at `pointer`, or null where the file has none.
const json& value_at(const json& object, const char* pointer) {
    static const json null;
    const json::json_pointer at(pointer);
    return object.contains(at) ? object.at(at) : null;
}

void demand(bool holds, const std::string& where, const char* expected,
            const json& found) {
    if (!holds)
        throw BadInput(
            fmt::format("{}: expected {}, found {}", where, expected, shown(found)));
}

// What makes a tokenizer.json describe GPT-2's procedure and no other. A null, or no
// entry, stands for the default.
void check_procedure(const std::string& where, const json& object) {
    const json& cutter = value_at(object, "/pre_tokenizer");
    demand(cutter.is_object() || cutter.is_null(), where + ": /pre_tokenizer",
           "an object", cutter);
    const std::pair<const char*, json> expected[] = {
        {"/normalizer", nullptr},           {"/pre_tokenizer/type", "ByteLevel"},
        {"/pre_tokenizer/use_regex", true}, {"/model/type", "BPE"},
        {"/model/dropout", nullptr},        {"/model/continuing_subword_prefix", ""},
        {"/model/end_of_word_suffix", ""},  {"/model/byte_fallback", false},
        {"/model/ignore_merges", false},
    };
    for (const auto& [pointer, value] : expected) {
        const json& found = value_at(object, pointer);
        if (!found.is_null() && found != value)
            throw BadInput(fmt::format("{}: {}: expected {}, found {}", where, pointer,
                                       value.dump(), shown(found)));
    }
}

void read_vocab(const std::string& where, const json& object, Builder& builder) {
    const json& entries = value_at(object, "/model/vocab");
    demand(entries.is_object(), where + ": /model/vocab", "an object", entries);
    for (const auto& [spelling, id] : entries.items())
        builder.add_entry(where + ": /model/vocab", spelling, id);

    // "<|endoftext|>" may stand here, in model.vocab, or in both.
    const std::string place = where + ": /added_tokens";
    const json& added = value_at(object, "/added_tokens");
    demand(added.is_array() || added.is_null(), place, "an array", added);
    const std::string mark(end_of_text_mark);
    for (const json& token : added) {
        const json& content = value_at(token, "/content");
        const json& id = value_at(token, "/id");
        demand(content == mark, place, "no token but <|endoftext|>", content);
        const std::optional<Token> known = builder.id_of(mark);
        demand(!known || id == *known, place, "the id in /model/vocab", id);
        builder.add_entry(place, mark, id);
    }
    builder.close_entries(where);
}

void read_merges(const std::string& where, const json& object, Builder& builder) {
    const json& merges = value_at(object, "/model/merges");
    demand(merges.is_array(), where + ": /model/merges", "an array", merges);
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const json& rule = merges[i];
        const std::string place = fmt::format("{}: /model/merges/{}", where, i);
        // Written as "a b" until 2024 and as ["a", "b"] since.
        if (rule.is_string()) {
            builder.add_merge(place, rule.get<std::string>());
            continue;
        }
        demand(rule.is_array() && rule.size() == 2 && rule[0].is_string() &&
                   rule[1].is_string(),
               place, "\"a b\" or [\"a\", \"b\"]", rule);
        builder.add_merge(place, rule[0].get<std::string>(), rule[1].get<std::string>());
    }
}

Vocabulary read_one_file(const fs::path& file) {
    const std::string where = file.string();
    const json object = read_object(file);
    check_procedure(where, object);
    Builder builder;
    read_vocab(where, object, builder);
    read_merges(where, object, builder);

    const json& prefix = value_at(object, "/pre_tokenizer/add_prefix_space");
    demand(prefix.is_boolean() || prefix.is_null(),
           where + ": /pre_tokenizer/add_prefix_space", "true or false", prefix);
    builder.vocabulary.add_prefix_space = prefix == true;
    return std::move(builder.vocabulary);
}

}  // namespace

Vocabulary read_vocabulary(const fs::path& directory) {
    const fs::path vocab_json = directory / "vocab.json";
    const fs::path merges_txt = directory / "merges.txt";
    const fs::path tokenizer_json = directory / "tokenizer.json";
    std::error_code none;
    const bool two = fs::exists(vocab_json, none) && fs::exists(merges_txt, none);
    if (!two && fs::exists(tokenizer_json, none)) return read_one_file(tokenizer_json);
    return read_two_files(vocab_json, merges_txt);
}

}  // namespace gpt2
