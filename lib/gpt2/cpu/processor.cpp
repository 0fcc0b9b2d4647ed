// A native build run on an older machine would die of an illegal instruction, with no
// word of why. So this file alone is compiled for any processor of the architecture (see
// CMakeLists.txt), runs before the static objects of other files, and calls nothing that
// a header defines: the linker might take another file's copy, with the instructions that
// are in doubt.

#include "gpt2/cpu/processor.hpp"

#include <hwy/targets.h>
#include <unistd.h>

namespace gpt2::cpu {

const char* processor_error(std::int64_t wanted, std::int64_t supported) {
    if ((wanted & supported) == wanted) return nullptr;
    return "this program was built for another processor, with instructions that this "
           "one lacks: build it again on this machine, or with -DGPT2_NATIVE=OFF\n";
}

[[gnu::constructor(101)]] void require_processor() {
    const char* const error = processor_error(built_for, hwy::SupportedTargets());
    if (error == nullptr) return;
    unsigned long length = 0;
    while (error[length] != '\0') ++length;
    const long written = write(STDERR_FILENO, error, length);
    _exit(written == long(length) ? 2 : 3);
}

}  // namespace gpt2::cpu
