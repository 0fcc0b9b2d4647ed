#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ledger/serving.hpp"

namespace lab {

/// A device or a model by its full name, with the place where its numbers were published.
template <class T>
struct Sourced {
    std::string name;    ///< for people
    std::string source;  ///< an address
    T numbers;           ///< as published
};

/// What `data/machines.json` holds, by the ids given there.
struct Catalogue {
    std::map<std::string, Sourced<ledger::Accelerator>> accelerators;  ///< such as "h100"
    std::map<std::string, Sourced<ledger::Transformer>> models;        ///< such as "8b"

    /// A model of it on so many accelerators of one kind.
    /// @throws BadInput for an id that is not there, and as ledger::Serving
    ledger::Serving serving(const std::string& model, const std::string& accelerator,
                            int devices) const;
};

/// @throws BadInput for a file that is missing or of another form: one line that names
/// the
///         place.
Catalogue read_machines(const std::filesystem::path& file);

}  // namespace lab
