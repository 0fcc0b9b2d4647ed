#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gpt2/cuda/cpu_machine/log.hpp"

// Who watches a kernel's loads and stores: the compiler.
//
// -fsanitize=thread is two things: a compiler that puts a call before every access to
// memory, and a library that is called and looks for races. Kernels are compiled with
// the first and linked without the second. The calls end here.

namespace simt {

#ifndef SIMT_WATCHED
bool sees_memory() { return false; }
#else
bool sees_memory() { return true; }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define SIMT_ACCESS(bytes)                                                     \
    void __tsan_read##bytes(void* at) { touched(at, bytes, false); }           \
    void __tsan_write##bytes(void* at) { touched(at, bytes, true); }           \
    void __tsan_unaligned_read##bytes(void* at) { touched(at, bytes, false); } \
    void __tsan_unaligned_write##bytes(void* at) { touched(at, bytes, true); }
SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)
void __tsan_read_range(void* at, std::size_t bytes) { touched(at, bytes, false); }
void __tsan_write_range(void* at, std::size_t bytes) { touched(at, bytes, true); }

// Clang has these do the work as well.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
    touched(from, bytes, false);
    touched(to, bytes, true);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
    touched(from, bytes, false);
    touched(to, bytes, true);
    return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
    touched(to, bytes, true);
    return std::memset(to, value, bytes);
}

// So do both for atomics. Those of kernels are counted by their own names: what comes
// here is not taken for a load or a store.
#define SIMT_ATOMIC(bits)                                                            \
    using Word##bits = std::uint##bits##_t;                                          \
    Word##bits __tsan_atomic##bits##_load(const volatile Word##bits* p, int) {       \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                 \
    }                                                                                \
    void __tsan_atomic##bits##_store(volatile Word##bits* p, Word##bits x, int) {    \
        __atomic_store_n(p, x, __ATOMIC_SEQ_CST);                                    \
    }                                                                                \
    Word##bits __tsan_atomic##bits##_exchange(volatile Word##bits* p, Word##bits x,  \
                                              int) {                                 \
        return __atomic_exchange_n(p, x, __ATOMIC_SEQ_CST);                          \
    }                                                                                \
    Word##bits __tsan_atomic##bits##_fetch_add(volatile Word##bits* p, Word##bits x, \
                                               int) {                                \
        return __atomic_fetch_add(p, x, __ATOMIC_SEQ_CST);                           \
    }                                                                                \
    Word##bits __tsan_atomic##bits##_fetch_sub(volatile Word##bits* p, Word##bits x, \
                                               int) {                                \
        return __atomic_fetch_sub(p, x, __ATOMIC_SEQ_CST);                           \
    }                                                                                \
    int __tsan_atomic##bits##_compare_exchange_strong(                               \
        volatile Word##bits* p, Word##bits* expected, Word##bits x, int, int) {      \
        return __atomic_compare_exchange_n(p, expected, x, false, __ATOMIC_SEQ_CST,  \
                                           __ATOMIC_SEQ_CST);                        \
    }                                                                                \
    int __tsan_atomic##bits##_compare_exchange_weak(                                 \
        volatile Word##bits* p, Word##bits* expected, Word##bits x, int, int) {      \
        return __tsan_atomic##bits##_compare_exchange_strong(p, expected, x, 0, 0);  \
    }                                                                                \
    Word##bits __tsan_atomic##bits##_compare_exchange_val(                           \
        volatile Word##bits* p, Word##bits expected, Word##bits x, int, int) {       \
        __tsan_atomic##bits##_compare_exchange_strong(p, &expected, x, 0, 0);        \
        return expected;                                                             \
    }
SIMT_ATOMIC(8)
SIMT_ATOMIC(32)
SIMT_ATOMIC(64)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
#endif

}  // namespace simt
