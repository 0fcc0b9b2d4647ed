// Any bytes as text for the tokenizers of GPT-2 and of the shipped model; and any bytes
// as tokens.

#include <cstring>
#include <vector>

#include "fuzz.hpp"
#include "gpt2/load.hpp"
#include "gpt2/tokenizer.hpp"
#include "gpt2/utf8.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const gpt2::Tokenizer all[] = {
        gpt2::Tokenizer::load(gpt2::data_directory() / "gpt2-vocab"),
        gpt2::Tokenizer::load(gpt2::data_directory() / "models/story")};
    const std::string_view text = fuzz::text(data, size);
    for (const gpt2::Tokenizer& tokenizer : all) {
        for (const auto special : {gpt2::Special::ordinary, gpt2::Special::parse}) {
            const auto tokens = tokenizer.encode(text, special);
            if (tokenizer.decode(tokens) != text)
                fuzz::fault("text came back as another");
            if (tokens.size() > size) fuzz::fault("more tokens than bytes");
        }
        std::vector<gpt2::Token> tokens(size / sizeof(gpt2::Token));
        if (!tokens.empty())
            std::memcpy(tokens.data(), data, tokens.size() * sizeof(gpt2::Token));
        fuzz::refuse_or_take([&] { static_cast<void>(tokenizer.decode(tokens)); });
        fuzz::refuse_or_take([&] { static_cast<void>(tokenizer.merge_steps(text)); });
    }
    return 0;
}
