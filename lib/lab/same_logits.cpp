#include "lab/same_logits.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "lab/format.hpp"

namespace lab {

Outcome same_logits(gpt2::Model& model, std::span<const gpt2::Token> text) {
    gpt2::KvCache at_once = model.new_cache();
    const gpt2::Logits expected = model.forward(text, at_once);

    gpt2::KvCache one_by_one = model.new_cache();
    const std::size_t last = text.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
        model.forward(text.subspan(i, 1), one_by_one, gpt2::Rows::none);
    const gpt2::Logits found = model.forward(text.subspan(last, 1), one_by_one);

    int differ = 0;
    for (std::size_t id = 0; id < std::size_t(expected.n_vocab()); ++id)
        differ += std::bit_cast<std::uint32_t>(std::as_const(expected)[0][id]) !=
                  std::bit_cast<std::uint32_t>(std::as_const(found)[0][id]);
    return {differ == 0, number(differ) + " of " + number(expected.n_vocab()) +
                             " floats differ in their bits"};
}

}  // namespace lab
