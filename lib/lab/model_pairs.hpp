#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/life.hpp"

namespace lab {

/// What it took to train a model, as its makers counted it.
struct GpuHours {
    std::string gpu;  ///< an id of Catalogue::accelerators
    double hours;     ///< of all those GPUs together
};

/// A model whose size and training are public.
struct PublicModel {
    std::string id;                   ///< of [a-z0-9_]
    std::string name;                 ///< for people
    std::string source;               ///< an address
    double parameters;                ///< all of them
    double tokens;                    ///< that it was trained on
    std::optional<GpuHours> trained;  ///< where its makers say

    /// In FLOPs, a token being a use.
    ledger::Life life() const { return ledger::flops_of_life(parameters, tokens); }
};

/// Two models of about the same use, of which one is smaller.
struct ModelPair {
    std::string id;     ///< of [a-z0-9_]
    PublicModel small;  ///< the one with fewer parameters
    PublicModel large;  ///< the other
    std::string alike;  ///< in what respect they are as good, and who says so
};

/// What `data/model_pairs.json` holds.
/// @throws BadInput for a file that is missing or of another form: one line that names
///         the place.
std::vector<ModelPair> read_model_pairs(const std::filesystem::path& file);

}  // namespace lab
