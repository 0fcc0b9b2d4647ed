#pragma once

#include <string>

namespace lab {

/// Now, as in "2026-10-31T12:00:00Z".
std::string utc_now();

/// `git describe --always --dirty` of the source that this was built from; "unknown"
/// where there is no git or no history.
std::string source_commit();

/// Build type and compiler, such as "Release GNU 12.2.0".
std::string build_description();

}  // namespace lab
