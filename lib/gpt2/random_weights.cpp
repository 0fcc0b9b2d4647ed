#include <fmt/format.h>

#include <cmath>

#include "gpt2/philox.hpp"
#include "gpt2/weights.hpp"

namespace gpt2 {

namespace {

constexpr float deviation = 0.02f;

/// Numbers that are a pure function of (seed, tensor, place), so that any thread can draw
/// any row at any time.
class RandomWeights final : public Weights {
public:
    RandomWeights(const Config& config, std::uint64_t seed)
        : Weights(config, fmt::format("random, seed {}", seed)),
          key_{std::uint32_t(seed), std::uint32_t(seed >> 32)} {}

    void read(Part part, int layer, int first_row, std::span<float> out) const override {
        const bool gain =
            part == Part::ln_1_gain || part == Part::ln_2_gain || part == Part::ln_f_gain;
        const float centre = gain ? 1.0f : 0.0f;
        // Each layer adds twice to the stream; GPT-2 starts these additions smaller, so
        // that their sum does not grow with the number of layers.
        const bool adds = part == Part::attn_proj_weight || part == Part::mlp_proj_weight;
        const float scale =
            adds ? deviation / std::sqrt(2.0f * float(config().n_layer)) : deviation;

        const std::uint64_t first =
            std::uint64_t(first_row) * std::uint64_t(shape_of(part, config()).columns);
        const std::uint32_t tensor = std::uint32_t(part) << 16 | std::uint32_t(layer);
        for (std::uint64_t i = 0; i < out.size(); ++i) {
            const std::uint64_t place = first + i;
            out[i] = centre + scale * normal(tensor, place);
        }
    }

private:
    /// Four uniform numbers of 32 bits add up to something close enough to a normal one:
    /// no logarithm, no cosine, the same bits on every machine.
    float normal(std::uint32_t tensor, std::uint64_t place) const {
        const auto bits =
            philox({std::uint32_t(place), std::uint32_t(place >> 32), tensor, 0}, key_);
        std::int64_t total = 0;
        for (std::uint32_t uniform : bits) total += uniform;
        // Uniform on [0, 1): mean 1/2, variance 1/12. Four of them: mean 2, variance 1/3.
        const double centred = double(total) * 0x1p-32 - 2.0;
        return float(centred * 1.7320508075688772);
    }

    std::array<std::uint32_t, 2> key_;
};

}  // namespace

std::unique_ptr<Weights> random_weights(const Config& config, std::uint64_t seed) {
    check(config, "random weights");
    return std::make_unique<RandomWeights>(config, seed);
}

}  // namespace gpt2
