#pragma once

#include <span>
#include <string>

#include "lab/results.hpp"

namespace lab {

/// A chapter's findings in plain text: rows, predicted beside measured beside what the
/// course printed; notes; checks; the sentence to keep.
std::string report(const Results& results);

/// One line for each chapter, about 105 characters wide: its question, its headline row,
/// its checks. Under it stand the checks that do not hold.
std::string summary(std::span<const Results> chapters);

}  // namespace lab
