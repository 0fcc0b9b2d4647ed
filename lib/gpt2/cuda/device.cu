#include <new>
#include <string>

#include "gpt2/cuda/device.hpp"
#include "gpt2/error.hpp"

// device.hpp by way of the CUDA runtime: its other side is cpu_machine/device.cpp.

namespace gpt2::cuda::inline gpu {

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    throw Error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

void require_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
        throw Unavailable(
            std::string("device cuda: no GPU: ") +
            (status == cudaSuccess ? "none is visible" : cudaGetErrorString(status)));
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device");
    if (major < 8)
        throw Unavailable(
            "device cuda: expected compute capability 8.0 or newer, found " +
            std::to_string(major) + "." + std::to_string(minor));
}

int multiprocessors() {
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "device");
    return count;
}

std::shared_ptr<std::byte> allocate(std::size_t bytes, Place place) {
    void* memory = nullptr;
    bytes = bytes > 0 ? bytes : 1;
    const bool both = place == Place::both;
    const cudaError_t status =
        both ? cudaMallocHost(&memory, bytes) : cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // or the next launch would report it again
        throw std::bad_alloc();
    }
    check(status, "memory");
    return {static_cast<std::byte*>(memory), [both](std::byte* p) {
                if (both)
                    cudaFreeHost(p);
                else
                    cudaFree(p);
            }};
}

namespace {
cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
}  // namespace

Stream::Stream() {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    handle_ = stream;
}
Stream::~Stream() { cudaStreamDestroy(stream_of(handle_)); }

void Stream::copy(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(handle_)),
          "copy");
}
void Stream::clear(void* to, std::size_t bytes) {
    check(cudaMemsetAsync(to, 0, bytes, stream_of(handle_)), "clear");
}
bool Stream::idle() {
    const cudaError_t status = cudaStreamQuery(stream_of(handle_));
    if (status != cudaErrorNotReady) check(status, "wait");
    return status == cudaSuccess;
}
void Stream::wait() { check(cudaStreamSynchronize(stream_of(handle_)), "wait"); }

Graph::Graph(Stream& stream, const std::function<void()>& work) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    const cudaStream_t s = stream_of(stream.handle());
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
    work();
    check(cudaStreamEndCapture(s, &graph), "capture");
    const cudaError_t status = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "graph");
    handle_ = ready;
}
Graph::~Graph() { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(handle_)); }
void Graph::launch(Stream& stream) const {
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_),
                          stream_of(stream.handle())),
          "graph");
}

}  // namespace gpt2::cuda::inline gpu
