#include "gpt2/cuda/cpu_machine/fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif

namespace simt {

namespace {

constexpr std::size_t stack_bytes = std::size_t(256) << 10, guard_bytes = 4096;

/// Who runs now, and, for the address sanitizer, the stack that the thread came with.
Fiber* running = nullptr;
#ifdef __SANITIZE_ADDRESS__
const void* thread_stack = nullptr;
std::size_t thread_stack_bytes = 0;
#endif

}  // namespace

#if defined(__x86_64__)
// simt_hand_on(save, load): pushes what a called function must preserve, stores the
// pointer to the stack in *save, takes up `load` instead and pops the same there.
extern "C" void simt_hand_on(void** save, void* load);
asm(R"(
    .pushsection .text
    .type simt_hand_on, @function
simt_hand_on:
    push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
    ret
    .size simt_hand_on, .-simt_hand_on
    .popsection
)");
#endif

Fiber::~Fiber() {
#ifdef __SANITIZE_THREAD__
    if (stack_ && thread_ && ended_) __tsan_destroy_fiber(thread_);
#endif
    if (stack_) munmap(stack_ - guard_bytes, stack_bytes + guard_bytes);
}

void Fiber::restart(void (*entry)()) {
    entry_ = entry;
    if (!stack_) {
        // The system gives memory to the pages that are used. The lowest may not be: a
        // stack that grows too far ends there, not in its neighbour.
        void* all = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) throw std::bad_alloc();
        mprotect(all, guard_bytes, PROT_NONE);
        stack_ = static_cast<char*>(all) + guard_bytes;
    }
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack_, stack_bytes);
    shadow_ = nullptr;
#endif
    if (!ended_) thread_ = nullptr;  // lost: the sanitizer takes back only what has ended
    ended_ = false;
#if defined(__x86_64__)
    // What simt_hand_on expects to find: six registers, then where to return to. Behind
    // it an empty word, so that the stack is aligned as if `begin` had been called.
    void** top = reinterpret_cast<void**>(stack_ + stack_bytes);
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&Fiber::begin);
    top_ = std::fill_n(top - 6, 6, nullptr) - 6;
#else
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_;
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, &Fiber::begin, 0);
#endif
}

__attribute__((noinline, no_sanitize("address", "thread"))) void Fiber::begin() {
#ifdef __SANITIZE_ADDRESS__
    // The first to hand on is the thread itself: this is how its stack becomes known.
    __sanitizer_finish_switch_fiber(nullptr, &thread_stack, &thread_stack_bytes);
#endif
    running->entry_();
}

__attribute__((noinline, no_sanitize("thread"))) void Fiber::hand_on(Fiber& from,
                                                                     Fiber& to,
                                                                     bool for_good) {
    running = &to;
    from.ended_ = for_good;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_good ? nullptr : &from.shadow_,
                                   to.stack_ ? to.stack_ : thread_stack,
                                   to.stack_ ? stack_bytes : thread_stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
    if (!from.thread_) from.thread_ = __tsan_get_current_fiber();
    if (!to.thread_) to.thread_ = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to.thread_, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(__x86_64__)
    simt_hand_on(&from.top_, to.top_);
#else
    swapcontext(&from.context_, &to.context_);
#endif
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from.shadow_, nullptr, nullptr);
#endif
}

#ifdef __SANITIZE_THREAD__
void release(void* place) { __tsan_release(place); }
void acquire(void* place) { __tsan_acquire(place); }
Quiet::Quiet() {
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
}
Quiet::~Quiet() {
    AnnotateIgnoreWritesEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
}
#endif

}  // namespace simt
