#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gpt2/cuda/cpu_machine/machine.hpp"

namespace simt {

/// Who wrote an element of shared memory last, and who read it since.
///
/// Two threads' accesses are in order only if a barrier lies between them: a
/// __syncthreads, or, in one warp, a __syncwarp. Each thread counts those it has passed;
/// an access notes the counts, and the next one by another thread must have higher ones.
/// (Of several readers since the last barrier only the last is known in person.)
struct History {
    struct Access {
        unsigned number = 0, barriers = 0, warp_orders = 0;
        bool happened = false;
    };
    Access write, read;

    void on_read(const char* name, std::size_t i);
    void on_write(const char* name, std::size_t i);
};

/// One element of an array in shared memory, as a kernel sees it.
template <class T>
class Element {
public:
    Element(const char* name, std::size_t i, T& value, History& history)
        : name_(name), i_(i), value_(value), history_(history) {}
    Element(const Element&) = default;

    operator T() const {
        const Quiet quiet;
        history_.on_read(name_, i_);
        return value_;
    }
    T operator=(T value) {
        const Quiet quiet;
        history_.on_write(name_, i_);
        return value_ = value;
    }
    T operator=(const Element& other) { return *this = T(other); }
    T operator+=(T value) { return *this = T(*this) + value; }

private:
    const char* name_;
    std::size_t i_;
    T& value_;
    History& history_;
};

/// An array in a block's shared memory: fresh for each block, and nothing is in it until
/// somebody writes it.
template <class T>
class Shared {
public:
    Shared(const char* name, std::size_t size)
        : name_(name), values_(size), histories_(size) {}

    Element<T> operator[](std::size_t i) {
        if (i >= values_.size())
            fail("shared memory: ", name_, "[", i, "] of ", values_.size(), ": ",
                 *current);
        return {name_, i, values_[i], histories_[i]};
    }

private:
    const char* name_;
    std::vector<T> values_;
    std::vector<History> histories_;
};

/// The array of that key in the current thread's block, made by the first to ask.
/// @param make  called with the size in bytes already counted against the limit
std::shared_ptr<void>& shared_slot(const void* key, std::size_t bytes);

template <class T>
Shared<T>& shared_array(const void* key, const char* name, std::size_t size) {
    const Quiet quiet;
    std::shared_ptr<void>& slot = shared_slot(key, size * sizeof(T));
    if (!slot) slot = std::make_shared<Shared<T>>(name, size);
    return *static_cast<Shared<T>*>(slot.get());
}

/// Bytes that the launch gave to SIMT_DYNAMIC_SHARED.
std::size_t dynamic_bytes();

}  // namespace simt

/// `T name[size]` in the block's shared memory.
#define SIMT_SHARED(T, name, size) \
    static char simt_key_##name;   \
    simt::Shared<T>& name = simt::shared_array<T>(&simt_key_##name, #name, size)

/// The same, of the size that the launch said: at most one in a kernel.
#define SIMT_DYNAMIC_SHARED(T, name)                                       \
    static char simt_key_##name;                                           \
    simt::Shared<T>& name = simt::shared_array<T>(&simt_key_##name, #name, \
                                                  simt::dynamic_bytes() / sizeof(T))
