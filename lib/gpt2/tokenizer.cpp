#include "gpt2/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>

#include "gpt2/error.hpp"
#include "gpt2/pieces.hpp"
#include "gpt2/vocabulary.hpp"

namespace gpt2 {

namespace {

constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

// Up to here, looking through all pairs for the best one beats keeping them in a heap.
constexpr std::size_t short_piece = 48;

// The merge list as a table from a pair to its place in the list, its rank. Open
// addressing, at most half full: a look-up, found or not, mostly costs one cache line.
class Rules {
public:
    explicit Rules(const std::vector<Vocabulary::Merge>& merges) {
        std::size_t slots = 2;
        while (slots < 2 * merges.size()) slots *= 2;
        slots_.resize(slots);
        for (const auto& [left, right, result] : merges) {
            slots_[find(left, right)] = {left, right, std::int32_t(results_.size())};
            results_.push_back(result);
        }
    }

    // no_rank where the two do not merge.
    std::int32_t rank(Token left, Token right) const {
        return slots_[find(left, right)].rank;
    }

    Token result(std::int32_t rank) const { return results_[rank]; }

private:
    struct Slot {
        Token left = -1, right = -1;
        std::int32_t rank = no_rank;
    };

    // The pair's slot, or the free one where it would go.
    std::size_t find(Token left, Token right) const {
        const std::uint64_t key = std::uint64_t(left) << 32 | std::uint64_t(right);
        const std::uint64_t hash = key * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (hash >> 32) & mask;
        while (slots_[at].left >= 0 &&
               (slots_[at].left != left || slots_[at].right != right))
            at = (at + 1) & mask;
        return at;
    }

    std::vector<Slot> slots_;
    std::vector<Token> results_;  // by rank
};

}  // namespace

struct Tokenizer::Tables {
    explicit Tables(Vocabulary vocabulary);

    void encode_piece(std::string_view piece, std::vector<Token>& out) const;
    template <typename OnMerge>
    void merge_short(std::string_view piece, std::vector<Token>& out,
                     OnMerge on_merge) const;
    void merge_long(std::string_view piece, std::vector<Token>& out) const;

    Token byte_token(char byte) const {
        return byte_tokens[static_cast<unsigned char>(byte)];
    }

    std::vector<std::string> entries;
    Token end_of_text;
    bool add_prefix_space;
    std::array<Token, 256> byte_tokens;
    Rules rules;
    // The entries that their own bytes merge to. Most pieces of a text are such, and need
    // no merging.
    std::unordered_map<std::string_view, Token> whole;
};

Tokenizer::Tables::Tables(Vocabulary vocabulary)
    : entries(std::move(vocabulary.entries)),
      end_of_text(vocabulary.end_of_text),
      add_prefix_space(vocabulary.add_prefix_space),
      rules(vocabulary.merges) {
    const Token size = Token(entries.size());
    for (Token id = 0; id < size; ++id)
        if (entries[id].size() == 1)
            byte_tokens[static_cast<unsigned char>(entries[id][0])] = id;
    whole.reserve(entries.size());
    std::vector<Token> merged;
    for (Token id = 0; id < size; ++id) {
        merged.clear();
        encode_piece(entries[id], merged);
        if (merged.size() == 1 && merged[0] == id) whole.emplace(entries[id], id);
    }
}

void Tokenizer::Tables::encode_piece(std::string_view piece,
                                     std::vector<Token>& out) const {
    if (const auto found = whole.find(piece); found != whole.end())
        out.push_back(found->second);
    else if (piece.size() <= short_piece)
        merge_short(piece, out, [](auto&&...) {});
    else
        merge_long(piece, out);
}

// `on_merge` is told the rule that was applied and the parts that are left.
template <typename OnMerge>
void Tokenizer::Tables::merge_short(std::string_view piece, std::vector<Token>& out,
                                    OnMerge on_merge) const {
    struct Part {
        Token token;
        std::int32_t rank;  // of this token and the next
    };
    std::array<Part, short_piece> parts;
    auto end = parts.begin();
    for (const char byte : piece) *end++ = {byte_token(byte), no_rank};
    const auto update = [&](auto part) {
        part->rank = part + 1 == end ? no_rank : rules.rank(part[0].token, part[1].token);
    };
    for (auto part = parts.begin(); part != end; ++part) update(part);

    // [merge]
    while (true) {
        const auto best = std::min_element(
            parts.begin(), end, [](Part a, Part b) { return a.rank < b.rank; });
        if (best == end || best->rank == no_rank) break;
        const std::int32_t rule = best->rank;
        best->token = rules.result(rule);
        end = std::copy(best + 2, end, best + 1);
        update(best);
        if (best != parts.begin()) update(best - 1);
        on_merge(rule, std::span(parts.begin(), end));
    }
    // [merge]

    for (auto part = parts.begin(); part != end; ++part) out.push_back(part->token);
}

// The tokens form a linked list, so that a merge moves nothing. The heap hands out the
// pair to merge next: the lowest rank, and of equal ones the leftmost. It may hold pairs
// that are no more; a pair is current if the token at its position still has its rank.
void Tokenizer::Tables::merge_long(std::string_view piece,
                                   std::vector<Token>& out) const {
    struct Part {
        Token token;
        std::int32_t rank;  // of this token and the next
        std::int64_t previous, next;
    };
    const std::int64_t size = std::int64_t(piece.size());
    std::vector<Part> parts(piece.size());
    for (std::int64_t i = 0; i < size; ++i)
        parts[i] = {byte_token(piece[i]), no_rank, i - 1, i + 1};

    using Pair = std::pair<std::int32_t, std::int64_t>;  // rank, position
    std::priority_queue<Pair, std::vector<Pair>, std::greater<>> heap;
    const auto update = [&](std::int64_t i) {
        Part& part = parts[i];
        part.rank =
            part.next == size ? no_rank : rules.rank(part.token, parts[part.next].token);
        if (part.rank != no_rank) heap.emplace(part.rank, i);
    };
    for (std::int64_t i = 0; i < size; ++i) update(i);

    while (!heap.empty()) {
        const auto [rank, i] = heap.top();
        heap.pop();
        Part& part = parts[i];
        if (part.rank != rank) continue;
        Part& gone = parts[part.next];
        part.token = rules.result(rank);
        part.next = gone.next;
        gone.rank = no_rank;
        if (part.next < size) parts[part.next].previous = i;
        update(i);
        if (part.previous >= 0) update(part.previous);
    }
    for (std::int64_t i = 0; i < size; i = parts[i].next) out.push_back(parts[i].token);
}

Tokenizer::Tokenizer(std::shared_ptr<const Tables> tables)
    : tables_(std::move(tables)), end_of_text_(tables_->end_of_text) {}

Tokenizer Tokenizer::load(const std::filesystem::path& directory) {
    return Tokenizer(std::make_shared<Tables>(read_vocabulary(directory)));
}

int Tokenizer::size() const { return int(tables_->entries.size()); }

void Tokenizer::move_end_of_text(Token id) {
    const bool taken = id < size() && id != tables_->end_of_text;
    if (id < size() - 1 || taken)
        throw BadInput(fmt::format("{}: expected a free id from {} on, found {}",
                                   end_of_text_mark, size() - 1, id));
    end_of_text_ = id;
}

std::vector<Token> Tokenizer::encode(std::string_view text, Special special) const {
    std::vector<Token> out;
    const auto ordinary = [&](std::string_view part) {
        std::string with_blank;
        if (tables_->add_prefix_space && !part.empty() && part[0] != ' ')
            part = with_blank.append(1, ' ').append(part);
        for (std::size_t begin = 0, end; begin < part.size(); begin = end) {
            end = piece_end(part, begin);
            tables_->encode_piece(part.substr(begin, end - begin), out);
        }
    };
    if (special == Special::parse) {
        for (std::size_t mark; (mark = text.find(end_of_text_mark)) != text.npos;) {
            ordinary(text.substr(0, mark));
            out.push_back(end_of_text_);
            text.remove_prefix(mark + end_of_text_mark.size());
        }
    }
    ordinary(text);
    return out;
}

std::vector<MergeStep> Tokenizer::merge_steps(std::string_view piece) const {
    if (piece.empty() || piece.size() > short_piece)
        throw BadInput(fmt::format("piece of text: expected 1 to {} bytes, found {}",
                                   short_piece, piece.size()));
    if (const std::size_t end = piece_end(piece, 0); end < piece.size())
        throw BadInput(
            fmt::format("piece of text: expected one of {} bytes, found that it is cut "
                        "behind byte {}",
                        piece.size(), end));
    std::vector<MergeStep> steps(1, {-1, {}});
    for (const char byte : piece) steps[0].tokens.push_back(tables_->byte_token(byte));
    std::vector<Token> merged;
    tables_->merge_short(piece, merged, [&](std::int32_t rule, auto parts) {
        MergeStep& step = steps.emplace_back();
        step.rule = rule;
        for (const auto& part : parts) step.tokens.push_back(part.token);
    });
    return steps;
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
    std::string text;
    for (const Token token : tokens) text += bytes(token);
    return text;
}

std::string_view Tokenizer::bytes(Token token) const {
    if (token == end_of_text_) return end_of_text_mark;
    if (token < 0 || token >= size() || token == tables_->end_of_text)
        throw BadInput(fmt::format("token {}: expected an id of the vocabulary, 0 to {}",
                                   token, size() - 1));
    return tables_->entries[token];
}

namespace {

// Bytes at the end of a text that begin a character and may yet be completed: 0 to 3.
// Which bytes may follow which is table 3-7 of the Unicode standard.
std::size_t open_bytes(std::string_view text) {
    const auto byte = [&](std::size_t from_end) {
        return static_cast<unsigned char>(text[text.size() - from_end]);
    };
    for (std::size_t n = 1; n <= 3 && n <= text.size(); ++n) {
        const int first = byte(n);
        if (first >= 0x80 && first < 0xc0) continue;  // not the first of its character
        const std::size_t whole = first < 0xc2   ? 1
                                  : first < 0xe0 ? 2
                                  : first < 0xf0 ? 3
                                  : first < 0xf5 ? 4
                                                 : 1;
        if (n >= whole) return 0;
        const int second = n > 1 ? byte(n - 1) : 0;
        const bool impossible =
            n > 1 &&
            ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
             (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f));
        return impossible ? 0 : n;
    }
    return 0;
}

}  // namespace

std::string StreamDecoder::push(Token token) {
    open_ += tokenizer_.bytes(token);
    std::string text = open_.substr(0, open_.size() - open_bytes(open_));
    open_.erase(0, text.size());
    return text;
}

std::string StreamDecoder::finish() { return std::exchange(open_, {}); }

}  // namespace gpt2
