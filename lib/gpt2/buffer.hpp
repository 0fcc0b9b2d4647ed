#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>

namespace gpt2 {

/// Large memory for numbers, left unset: whoever writes a page first has it near.
///
/// On Linux it asks for pages of 2 MiB. With pages of 4 KiB, reading half a gigabyte of
/// weights takes 120,000 translations of addresses, and the processor remembers a few
/// thousand.
template <class T>
class Buffer {
public:
    Buffer() = default;

    /// @param size  numbers, not bytes
    /// @throws std::bad_alloc
    explicit Buffer(std::size_t size)
        : size_(size), memory_(allocate(size * sizeof(T))) {}

    std::size_t size() const { return size_; }  ///< numbers, not bytes

    /// The first number, at an address that is a multiple of 64.
    T* data() const { return static_cast<T*>(memory_.get()); }

    /// Number i, not checked. A constant buffer owns numbers that may change.
    T& operator[](std::size_t i) const { return data()[i]; }

private:
    static constexpr std::size_t huge_page = std::size_t(2) << 20;

    struct Free {
        std::align_val_t alignment;
        void operator()(void* p) const { ::operator delete(p, alignment); }
    };

    static std::unique_ptr<void, Free> allocate(std::size_t bytes) {
        const std::align_val_t alignment{bytes < huge_page ? 64 : huge_page};
        void* memory = ::operator new(bytes, alignment);
#ifdef __linux__
        if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        return {memory, Free{alignment}};
    }

    std::size_t size_ = 0;
    std::unique_ptr<void, Free> memory_{nullptr, Free{std::align_val_t{64}}};
};

}  // namespace gpt2
