#pragma once

#include <optional>
#include <vector>

#include "gpt2/token.hpp"
#include "gpt2/tokenizer.hpp"

namespace gpt2 {

/// Ties a draft's ids to its target's, piece by piece: two ids are one token where their
/// bytes are equal. The draft may know fewer tokens than the target, never other ones.
class TokenMap {
public:
    /// @throws BadInput for a draft that knows a token which the target does not, or the
    ///         same bytes under two ids
    TokenMap(const Tokenizer& target, const Tokenizer& draft);

    /// The target's id of a token of the draft. An id behind the draft's vocabulary, as
    /// tables padded to a round size have them, is no token.
    std::optional<Token> to_target(Token draft) const { return at(to_target_, draft); }

    /// The draft's id of a token of the target, where the draft knows it.
    std::optional<Token> to_draft(Token target) const { return at(to_draft_, target); }

private:
    static std::optional<Token> at(const std::vector<Token>& ids, Token id) {
        if (id < 0 || std::size_t(id) >= ids.size() || ids[id] < 0) return {};
        return ids[id];
    }

    std::vector<Token> to_target_, to_draft_;  // -1: none
};

}  // namespace gpt2
