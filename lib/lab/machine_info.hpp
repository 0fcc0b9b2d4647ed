#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lab {

/// The processor's name as the system gives it, such as "AMD EPYC 9654", else "unknown
/// processor".
std::string cpu_name();

/// Bytes of memory in this machine; 0 where the system does not say.
std::int64_t memory_bytes();

/// A name for a machine that can name a folder: of [a-z0-9-] only, such as
/// "amd-epyc-2-cores" or, where no threads are counted, "nvidia-h200". Trade marks and
/// clock rates are left out.
std::string machine_slug(std::string_view processor, int threads = 0);

}  // namespace lab
