#include "gpt2/cuda/device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "gpt2/cuda/cpu_machine/log.hpp"

// The CUDA runtime where there is no GPU: memory is the host's, and work is done when it
// is given.

namespace gpt2::cuda::inline cpu_machine {

namespace {

// Each piece of memory is filled with this, which makes NaNs of all numbers, and has a
// fence of it on both sides: a kernel that writes past an end is found out after it ran.
// (The address sanitizer has fences of its own, and finds it out at once.)
constexpr int fill = 0xff;
constexpr std::size_t alignment = 256;  // as cudaMalloc's
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t fence = 0;
#else
constexpr std::size_t fence = alignment;
#endif

std::mutex mutex;
std::map<std::byte*, std::size_t> pieces;  // start and bytes

bool intact(const std::byte* begin) {
    return std::all_of(begin, begin + fence,
                       [](std::byte b) { return b == std::byte(fill); });
}

}  // namespace

void require_device() {}

int multiprocessors() { return int(simt::multiprocessors); }

std::shared_ptr<std::byte> allocate(std::size_t bytes, Place) {
    const std::size_t all = fence + bytes + fence;
    const std::align_val_t aligned{alignment};
    std::byte* memory = static_cast<std::byte*>(::operator new(all, aligned));
    std::memset(memory, fill, all);
    const std::lock_guard lock(mutex);
    pieces[memory + fence] = bytes;
    simt::add_piece(memory + fence, bytes);
    return {memory + fence, [=](std::byte* p) {
                const std::lock_guard guard(mutex);
                pieces.erase(p);
                simt::remove_piece(p);
                ::operator delete(memory, aligned);
            }};
}

void check_memory() {
    const std::lock_guard lock(mutex);
    for (const auto& [begin, bytes] : pieces)
        if (!intact(begin - fence) || !intact(begin + bytes))
            throw simt::Error("device memory: something was written " +
                              std::string(intact(begin - fence) ? "behind the end"
                                                                : "before the start") +
                              " of a piece of " + std::to_string(bytes) + " bytes");
}

Stream::Stream() = default;
Stream::~Stream() = default;
void Stream::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
}
void Stream::clear(void* to, std::size_t bytes) { std::memset(to, 0, bytes); }
void Stream::wait() {}
bool Stream::idle() { return true; }

using Recording = std::vector<std::function<void()>>;

Graph::Graph(Stream& stream, const std::function<void()>& work) {
    auto recording = std::make_unique<Recording>();
    stream.recording_ = recording.get();
    work();
    stream.recording_ = nullptr;
    handle_ = recording.release();
}
Graph::~Graph() { delete static_cast<Recording*>(handle_); }
void Graph::launch(Stream&) const {
    ++simt::counts.graphs;
    for (const auto& work : *static_cast<const Recording*>(handle_)) work();
}

}  // namespace gpt2::cuda::inline cpu_machine
