#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "gpt2/cuda/simt.hpp"

/// All that the engine asks of the CUDA runtime. device.cu and cpu_machine/device.cpp
/// are its two sides.
namespace gpt2::cuda::inline SIMT_MACHINE {

/// @throws Unavailable where there is no GPU that these kernels run on
void require_device();

/// Multiprocessors of the device: how many blocks it takes to keep it busy.
int multiprocessors();

/// Shared memory that a block may have on every GPU since compute capability 8.0.
inline constexpr std::size_t max_shared_bytes = std::size_t(160) << 10;

/// Where a block of memory lies.
enum class Place {
    device,  ///< beside the GPU; only copies and kernels reach it
    both,    ///< in the host's memory, which kernels reach too, slowly
};

/// Memory that goes with its last owner. Its content is unspecified.
/// @throws std::bad_alloc
std::shared_ptr<std::byte> allocate(std::size_t bytes, Place place = Place::device);

/// An array on the device. A copy shares it.
template <class T>
class Array {
public:
    Array() = default;

    /// Of that many elements, their content unspecified.
    explicit Array(std::size_t size, Place place = Place::device)
        : size_(size), memory_(allocate(size * sizeof(T), place)) {}

    std::size_t size() const { return size_; }                       ///< elements
    std::size_t bytes() const { return size_ * sizeof(T); }          ///< of all
    T* data() const { return reinterpret_cast<T*>(memory_.get()); }  ///< on the device

private:
    std::size_t size_ = 0;
    std::shared_ptr<std::byte> memory_;
};

/// Makes room for at least `size` elements; what was there is lost.
/// @return whether the array has moved
template <class T>
bool grow(Array<T>& array, std::size_t size) {
    if (size <= array.size()) return false;
    array = {};  // given back before the larger one is asked for
    array = Array<T>(size);
    return true;
}

/// Work for the device, done in the order in which it was given. Giving it takes the host
/// a few microseconds; it does not wait for it to be done.
class Stream {
public:
    Stream();
    ~Stream();
    Stream(const Stream&) = delete;

    /// Copies to the device, or from it. Memory of the host must stay as it is until
    /// wait() if it is not Place::both.
    void copy(void* to, const void* from, std::size_t bytes);

    /// Sets bytes to zero.
    void clear(void* to, std::size_t bytes);

    /// Waits until all that was given is done.
    void wait();

    /// Whether all that was given is done.
    bool idle();

    /// Runs a kernel on `grid` blocks of `block` threads, with that many bytes of
    /// SIMT_DYNAMIC_SHARED.
    template <class... P, class... A>
    void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared,
                A... arguments) {
        launch_as(false, kernel, grid, block, shared, arguments...);
    }

    /// The same, with all blocks on the device at once, so that they can wait for each
    /// other: at most resident() of them.
    template <class... P, class... A>
    void launch_together(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared,
                         A... arguments) {
        launch_as(true, kernel, grid, block, shared, arguments...);
    }

    /// CUDA's own name for it, to be handed to cuBLAS.
    void* handle() const { return handle_; }

private:
    template <class... P, class... A>
    void launch_as(bool together, void (*kernel)(P...), dim3 grid, dim3 block,
                   std::size_t shared, A... arguments);

    friend class Graph;
    void* handle_ = nullptr;
#ifndef __CUDACC__
    std::vector<std::function<void()>>* recording_ = nullptr;
#endif
};

/// Kernels that were recorded once and are launched together: one call of the host
/// instead of one for each. Their arguments are those of the recording, for ever; what
/// must change between launches is read through pointers.
class Graph {
public:
    /// Records what `work` gives to the stream instead of doing it.
    Graph(Stream& stream, const std::function<void()>& work);
    ~Graph();
    Graph(const Graph&) = delete;

    /// Gives all of it to the stream.
    void launch(Stream& stream) const;

private:
    void* handle_ = nullptr;
};

/// How many blocks of a kernel the device holds at once; 0 where it does not launch
/// blocks that wait for each other.
template <class... P>
int resident(void (*kernel)(P...), int threads, std::size_t shared);

// The launch, for each machine
// ----------------------------

#ifdef __CUDACC__

/// @throws Error with CUDA's own words
void check(cudaError_t status, const char* what);

/// Lets a kernel have that many bytes of dynamic shared memory.
/// @throws Error with CUDA's own words
template <class... P>
void allow_shared(void (*kernel)(P...), std::size_t shared) {
    if (shared > std::size_t(48) << 10)  // more than that must be asked for
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared)),
              "shared memory");
}

template <class... P>
int resident(void (*kernel)(P...), int threads, std::size_t shared) {
    int possible = 0, blocks = 0;
    check(cudaDeviceGetAttribute(&possible, cudaDevAttrCooperativeLaunch, 0), "device");
    if (!possible) return 0;
    allow_shared(kernel, shared);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared),
          "occupancy");
    return blocks * multiprocessors();
}

template <class... P, class... A>
void Stream::launch_as(bool together, void (*kernel)(P...), dim3 grid, dim3 block,
                       std::size_t shared, A... arguments) {
    allow_shared(kernel, shared);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = static_cast<cudaStream_t>(handle_);
    config.attrs = &cooperative;
    config.numAttrs = together ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...), "launch");
}

#else

/// Throws simt::Error where a kernel has written outside the device's memory.
void check_memory();

template <class... P>
int resident(void (*)(P...), int, std::size_t) {
    return multiprocessors();
}

template <class... P, class... A>
void Stream::launch_as(bool together, void (*kernel)(P...), dim3 grid, dim3 block,
                       std::size_t shared, A... arguments) {
    const auto work = [=] {
        simt::run(
            grid, block, shared, [=] { kernel(static_cast<P>(arguments)...); }, together);
        check_memory();
    };
    if (recording_)
        recording_->push_back(work);
    else
        work();
}

#endif

}  // namespace gpt2::cuda::inline SIMT_MACHINE
