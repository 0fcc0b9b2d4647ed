#pragma once

#include <functional>
#include <string>

namespace lab {

/// Runs the body of a `main`. Whatever it throws becomes one line on stderr, behind the
/// program's name, and an exit status: that of a gpt2::Error, 2 where memory is too
/// little or the output cannot be written, else 1.
int guarded(const std::string& program, const std::function<int()>& body);

}  // namespace lab
