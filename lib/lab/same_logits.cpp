#include "lab/same_logits.hpp"

#include <bit>
#include <cstdint>

#include "lab/format.hpp"

namespace lab {

std::int64_t differing_floats(std::span<const float> a, std::span<const float> b) {
    std::int64_t differ = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        differ +=
            std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]);
    return differ;
}

Outcome same_logits(gpt2::Model& model, std::span<const gpt2::Token> text) {
    gpt2::KvCache at_once = model.new_cache();
    const gpt2::Logits expected = model.forward(text, at_once);

    gpt2::KvCache one_by_one = model.new_cache();
    const std::size_t last = text.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
        model.forward(text.subspan(i, 1), one_by_one, gpt2::Rows::none);
    const gpt2::Logits found = model.forward(text.subspan(last, 1), one_by_one);

    const std::int64_t differ = differing_floats(expected[0], found[0]);
    return {differ == 0, number(double(differ)) + " of " + number(expected.n_vocab()) +
                             " floats differ in their bits"};
}

}  // namespace lab
