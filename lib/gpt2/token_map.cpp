#include "gpt2/token_map.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

/// Every id of a vocabulary. `<|endoftext|>` may have moved away from the others.
std::vector<Token> ids_of(const Tokenizer& tokenizer) {
    std::vector<Token> ids;
    for (Token id = 0; int(ids.size()) < tokenizer.size() - 1; ++id)
        if (id != tokenizer.end_of_text()) ids.push_back(id);
    ids.push_back(tokenizer.end_of_text());
    return ids;
}

void set(std::vector<Token>& ids, Token at, Token value) {
    if (std::size_t(at) >= ids.size()) ids.resize(std::size_t(at) + 1, -1);
    ids[at] = value;
}

}  // namespace

TokenMap::TokenMap(const Tokenizer& target, const Tokenizer& draft) {
    std::map<std::string_view, Token> known;
    for (const Token id : ids_of(target))
        if (id != target.end_of_text()) known.emplace(target.bytes(id), id);
    for (const Token id : ids_of(draft)) {
        Token same = target.end_of_text();
        if (id != draft.end_of_text()) {
            const auto found = known.find(draft.bytes(id));
            if (found == known.end())
                throw BadInput(fmt::format(
                    "draft: vocabulary: id {}: the target has no token of these {} bytes",
                    id, draft.bytes(id).size()));
            same = found->second;
        }
        if (to_draft(same))
            throw BadInput(
                fmt::format("draft: vocabulary: ids {} and {} have the same bytes",
                            *to_draft(same), id));
        set(to_target_, id, same);
        set(to_draft_, same, id);
    }
}

}  // namespace gpt2
