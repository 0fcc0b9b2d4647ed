#pragma once

// What the tests of kernels share: arrays on the device, random numbers, and every order
// in which threads may take their turns.
//
// The tests are written for the kernels' CPU machine, where the device's memory is the
// host's and a kernel is done when its launch returns. tests/gpu runs the same text on a
// GPU, with memory that both reach and launches that wait.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gpt2/cuda/device.hpp"
#include "gpt2/cuda/numbers.hpp"

namespace support {

using gpt2::cuda::Array;

/// On the device: of exactly that size, so that whoever reads past the end is found out.
template <class T>
Array<T> on_device(const std::vector<T>& all) {
    Array<T> array(all.size());
    gpt2::cuda::Stream stream;
    stream.copy(array.data(), all.data(), array.bytes());
    stream.wait();
    return array;
}

template <class T>
std::vector<T> on_host(const Array<T>& array) {
    return {array.data(), array.data() + array.size()};
}

inline std::vector<float> random_floats(std::size_t n, unsigned seed, float scale = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> all(n);
    for (float& x : all) x = normal(random);
    return all;
}

template <class T>
std::vector<T> narrowed(const std::vector<float>& all) {
    std::vector<T> narrow;
    for (const float x : all) narrow.push_back(gpt2::cuda::narrow<T>(x));
    return narrow;
}

#ifdef __CUDACC__
/// A GPU's threads take their turns as they please.
template <class F>
void in_every_order(F test) {
    test();
}
#else
/// Runs a test once for each order.
template <class F>
void in_every_order(F test) {
    const std::pair<const char*, simt::Order> orders[] = {
        {"forward", simt::Order::forward},
        {"reverse", simt::Order::reverse},
        {"shuffled", simt::Order::shuffled}};
    for (const auto& [name, order] : orders) {
        SCOPED_TRACE(name);
        simt::set_order(order, 7);
        test();
    }
    simt::set_order(simt::Order::forward);
}
#endif

/// The largest difference from a reference in double precision; NaN counts as infinite.
template <class T>
double largest_difference(const std::vector<T>& found,
                          const std::vector<double>& expected) {
    if (found.size() != expected.size()) return INFINITY;
    double most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double d = std::abs(double(gpt2::cuda::widen(found[i])) - expected[i]);
        most = std::max(most, std::isnan(d) ? INFINITY : d);
    }
    return most;
}

}  // namespace support
