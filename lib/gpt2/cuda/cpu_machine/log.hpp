#pragma once

#include <array>
#include <vector>

#include "gpt2/cuda/cpu_machine/machine.hpp"

/// What kernels do, written down while they run.
///
/// Barriers, shuffles and shared memory the machine counts as it carries them out. Loads
/// and stores of device memory are plain C++: there the compiler is asked to call the
/// machine at each of them (see watch.cpp).
namespace simt {

/// What a piece of device memory holds. To the machine all is `other` until it is told.
enum class Holds : std::uint8_t { other, weights, cache };

/// From now on all pieces that are there, and that nobody has named yet, hold this.
void mark(Holds what);

/// Bytes of device memory that threads have asked for, or have written.
struct Traffic {
    std::uint64_t loaded = 0;  ///< by all threads together
    std::uint64_t first = 0;   ///< of these, what nobody had touched in this launch: the
                               ///< rest a GPU can have from its caches
    std::uint64_t stored = 0;  ///< by all threads together

    /// Adds what another has moved.
    Traffic& operator+=(const Traffic& other);
};

/// What threads did between two barriers, or all they did.
struct Stage {
    Counts counts{};                   ///< without launches and graphs
    std::array<Traffic, 3> traffic{};  ///< by Holds

    /// Of one kind of memory.
    Traffic& of(Holds what) { return traffic[std::size_t(what)]; }
    const Traffic& of(Holds what) const { return traffic[std::size_t(what)]; }

    /// Bytes stored, of every kind.
    std::uint64_t stored() const;

    /// Adds what was done in another.
    Stage& operator+=(const Stage& other);
};

/// A kernel that has run.
struct Launch {
    dim3 grid, block;           ///< as launched
    std::vector<Stage> stages;  ///< [i]: what threads did that had passed i barriers

    /// All stages together.
    Stage total() const;

    /// Thread blocks.
    std::uint64_t blocks() const { return std::uint64_t(grid.x) * grid.y * grid.z; }
};

/// Writes all launches down from its making to its end. There may be one at a time.
class Log {
public:
    Log();
    ~Log();
    Log(const Log&) = delete;

    std::vector<Launch> launches;  ///< in order
};

/// Whether loads and stores are seen: not where a sanitizer has the compiler's calls.
bool sees_memory();

// For the machine
// ---------------

extern Log* log;  ///< null: nobody writes

/// The current thread has touched memory, on the device or not.
void touched(const void* at, std::size_t bytes, bool stores);

/// The piece of device memory from `begin` on is there, or is not any more.
void add_piece(const std::byte* begin, std::size_t bytes);
void remove_piece(const std::byte* begin);

}  // namespace simt
