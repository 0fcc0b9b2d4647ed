#pragma once

#include <string>
#include <string_view>

namespace lab {

/// A number for a person: whole numbers in full with thousands separators, others to
/// three significant digits. 124439808 is "124,439,808", 5946.7 is "5,950", 60.61 is
/// "60.6".
std::string number(double value);

/// A number with its unit. "bytes" become KiB, MiB, GiB, "s" becomes us, ms, s, min, and
/// "bytes/s" and "FLOP/s" get a prefix; any other unit follows the number as it is.
std::string quantity(double value, std::string_view unit);

/// What stands in a table that has a column for the unit: like `quantity` for bytes, else
/// like `number`.
std::string cell(double value, std::string_view unit);

/// How far a measurement is from its prediction: "+3%", "-12%".
std::string off_by(double measured, double predicted);

}  // namespace lab
