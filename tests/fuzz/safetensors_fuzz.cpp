// Any bytes as model.safetensors, beside the config of a small model. What the header
// says of a tensor must be there to read.

#include <algorithm>
#include <vector>

#include "fuzz.hpp"
#include "gpt2/safetensors.hpp"
#include "gpt2/weights.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (!std::filesystem::exists(fuzz::folder() / "config.json"))
        fuzz::write(
            "config.json",
            R"({"model_type": "gpt2", "vocab_size": 5, "n_ctx": 3, "n_positions": 3,
                        "n_embd": 2, "n_layer": 1, "n_head": 1})");
    fuzz::write("model.safetensors", fuzz::text(data, size));
    fuzz::refuse_or_take([&] {
        const gpt2::Safetensors file(fuzz::folder() / "model.safetensors");
        for (const auto& tensor : file.tensors()) {
            if (tensor.begin > tensor.end || tensor.end > size)
                fuzz::fault(tensor.name + " is said to be where no bytes are");
            if (!tensor.dtype || tensor.elements() == 0) continue;
            std::vector<float> some(
                std::size_t(std::min<std::int64_t>(tensor.elements(), 64)));
            file.read(tensor, tensor.elements() - std::int64_t(some.size()), some);
        }
    });
    fuzz::refuse_or_take([] {
        const auto weights = gpt2::load_weights(fuzz::folder());
        std::vector<float> row(2);
        weights->read(gpt2::Part::token_embedding, 0, 4, row);
    });
    return 0;
}
