#pragma once

#include <array>
#include <cstdint>

namespace gpt2 {

/// Philox4x32-10: 128 random bits as a function of a counter and a key (Salmon et al.,
/// "Parallel random numbers: as easy as 1, 2, 3", 2011). It has no state, so the number
/// drawn for a position does not depend on what was drawn elsewhere.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
    auto& [a, b, c, d] = counter;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t from_a = std::uint64_t(a) * 0xd2511f53;
        const std::uint64_t from_c = std::uint64_t(c) * 0xcd9e8d57;
        counter = {std::uint32_t(from_c >> 32) ^ b ^ key[0], std::uint32_t(from_c),
                   std::uint32_t(from_a >> 32) ^ d ^ key[1], std::uint32_t(from_a)};
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    return counter;
}

/// A uniform number in [0, 1) with 53 random bits: the same for the same seed, request
/// and position, on every machine. (The standard library's distributions differ from one
/// implementation to the next.)
constexpr double uniform(std::uint64_t seed, std::uint64_t request,
                         std::uint64_t position) {
    const auto low = [](std::uint64_t x) { return std::uint32_t(x); };
    const auto high = [](std::uint64_t x) { return std::uint32_t(x >> 32); };
    const auto bits = philox({low(position), high(position), low(request), high(request)},
                             {low(seed), high(seed)});
    return double((std::uint64_t(bits[0]) << 32 | bits[1]) >> 11) * 0x1p-53;
}

}  // namespace gpt2
