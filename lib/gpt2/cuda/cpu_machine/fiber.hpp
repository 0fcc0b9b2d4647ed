#pragma once

#ifdef SIMT_WATCHED  // the compiler's calls are the machine's own: see watch.cpp
#undef __SANITIZE_THREAD__
#elif defined(__has_feature)  // clang's spelling of what g++ says by two macros
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#elif __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace simt {

/// A stack of its own, on which a function runs until it hands the processor on.
///
/// Handing on is a call of a few instructions: no system call, no second thread. The
/// sanitizers are told of every change of stack. To the thread sanitizer fibers are
/// threads, and a change of fiber orders nothing: only acquire() and release() do.
class Fiber {
public:
    Fiber() = default;  ///< whatever runs now, once it has handed on
    Fiber(const Fiber&) = delete;
    ~Fiber();

    /// The next hand_on to this fiber calls `entry`, which must never return. What ran on
    /// it before is forgotten.
    void restart(void (*entry)());

    /// Hands on from the fiber that runs, which is `from`, to `to`. Returns when somebody
    /// hands back.
    /// @param for_good  nobody will: `from` has come to its end
    static void hand_on(Fiber& from, Fiber& to, bool for_good = false);

private:
    static void begin();

    void (*entry_)() = nullptr;
    char* stack_ = nullptr;  ///< its lowest address; null for a thread's own
    void* top_ = nullptr;    ///< where it stopped
    bool ended_ = true;      ///< left for good; otherwise in the middle of something
    void *shadow_ = nullptr, *thread_ = nullptr;  ///< the sanitizers' names for it
#if !defined(__x86_64__)
    ucontext_t context_;
#endif
};

// For the thread sanitizer: all that came before a release of a place comes before what
// follows an acquire of it.
#ifdef __SANITIZE_THREAD__
void release(void* place);
void acquire(void* place);

/// While one lives, reads and writes are not looked at: the machine's own books are not
/// under test.
struct Quiet {
    Quiet();
    ~Quiet();
};
#else
inline void release(void*) {}
inline void acquire(void*) {}
struct Quiet {
    ~Quiet() {}  // so that no compiler calls it unused
};
#endif

}  // namespace simt
