// Any bytes as a vocabulary: the first byte chooses the form, tokenizer.json or
// vocab.json and merges.txt with a zero byte between them. With what was taken, text goes
// there and back.

#include "fuzz.hpp"
#include "gpt2/tokenizer.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool one_file = data[0] == 'j';
    const std::string_view rest = fuzz::text(data + 1, size - 1);
    for (const char* name : {"tokenizer.json", "vocab.json", "merges.txt"})
        std::filesystem::remove(fuzz::folder() / name);
    if (one_file) {
        fuzz::write("tokenizer.json", rest);
    } else {
        const std::size_t cut = std::min(rest.find('\0'), rest.size());
        fuzz::write("vocab.json", rest.substr(0, cut));
        fuzz::write("merges.txt", rest.substr(std::min(cut + 1, rest.size())));
    }
    fuzz::refuse_or_take([] {
        const auto tokenizer = gpt2::Tokenizer::load(fuzz::folder());
        const std::string text = "the cat\n  sat on <|endoftext|> the mat\xff\x00 1234";
        const std::string back = tokenizer.decode(tokenizer.encode(text));
        // With `add_prefix_space` there is a blank in front.
        if (back != text && back != " " + text) fuzz::fault("text came back as another");
    });
    return 0;
}
