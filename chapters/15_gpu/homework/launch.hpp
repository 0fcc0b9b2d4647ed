#pragma once

#include <span>

#include "given.hpp"
#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/numbers.hpp"
#ifndef __CUDACC__
#include "gpt2/cuda/cpu_machine/log.hpp"
#endif

namespace homework {

using gpt2::cuda::warp_max;  ///< the greatest of 32 lanes' numbers, to every lane
using gpt2::cuda::warp_sum;  ///< the sum of 32 lanes' numbers, to every lane

/// See attend.hpp.
using Kernel = void (*)(const float* query, const float* keys, const float* values,
                        int dim, int position, int span, float* out);

/// Runs a kernel on the kernels' CPU machine: one block for each head, 32 threads in
/// it.
/// @param order  in which threads take their turns: 0 forward, 1 backward, else
///               shuffled
Outcome launch(Kernel kernel, const Heads& heads, int order);

#ifndef __CUDACC__  // nvcc is only asked whether it takes the kernel

inline Outcome launch(Kernel kernel, const Heads& heads, int order) {
    using gpt2::cuda::Array;
    gpt2::cuda::Stream stream;
    const auto on_device = [&](std::span<const float> numbers) {
        Array<float> array(numbers.size());
        stream.copy(array.data(), numbers.data(), array.bytes());
        return array;
    };
    const auto query = on_device(heads.query), keys = on_device(heads.keys),
               values = on_device(heads.values);
    const Array<float> out(heads.query.size());

    simt::set_order(order == 0   ? simt::Order::forward
                    : order == 1 ? simt::Order::reverse
                                 : simt::Order::shuffled,
                    unsigned(order));
    Outcome outcome{};
    const simt::Log log;
    try {
        stream.launch(kernel, dim3(unsigned(out.size()) / unsigned(heads.dim)),
                      dim3(simt::warp_size), 0, query.data(), keys.data(),
                      values.data(), heads.dim, heads.position, heads.span,
                      out.data());
    } catch (const simt::Error& error) {
        outcome.complaint = error.what();
    }
    for (const simt::Traffic& traffic : log.launches.at(0).total().traffic)
        outcome.loaded += traffic.loaded;
    outcome.out.assign(out.data(), out.data() + out.size());
    return outcome;
}

#endif

}  // namespace homework
