#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// The largest single allocation of the whole program, so that a test can see that what a
// file says of sizes was not believed before it was checked. It replaces the global
// operator new: for one source file of a program.
static std::atomic<std::size_t> largest_allocation = 0;

[[gnu::noinline]] void* operator new(std::size_t size) {
    std::size_t seen = largest_allocation;
    while (seen < size && !largest_allocation.compare_exchange_weak(seen, size)) {
    }
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
