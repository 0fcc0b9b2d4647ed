#pragma once

#include "lab/table.hpp"
#include "ledger/cost.hpp"

namespace lab {

/// The operations of one pass, a line each, and all of them together: FLOPs, bytes, FLOPs
/// a byte, and the least time. "memory" is the ceiling of an operation with fewer FLOPs a
/// byte than the machine's ridge, "arithmetic" that of the others.
/// @throws gpt2::BadInput as ledger::forward_pass
Table operations_table(const ledger::Engine& engine, const ledger::Step& step);

}  // namespace lab
