#include "lab/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

std::string grouped(double whole) {
    std::string digits = fmt::format("{:.0f}", std::abs(whole));
    for (int at = int(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(std::size_t(at), 1, ',');
    if (whole < 0) digits.insert(0, 1, '-');
    return digits;
}

std::string rounded(double value) {
    const double magnitude = std::abs(value);
    if (magnitude < 999.5) return fmt::format("{:.3g}", value);
    const double unit = std::pow(10, std::floor(std::log10(magnitude)) - 2);
    return grouped(std::round(value / unit) * unit);
}

struct Scale {
    double size;
    const char* name;
};

/// In the largest of these units that is not larger than the value, else in the first.
template <std::size_t n>
std::string scaled(double value, const Scale (&scales)[n]) {
    const Scale* best = scales;
    for (const Scale& scale : scales)
        if (std::abs(value) >= scale.size * 0.9995) best = &scale;
    return rounded(value / best->size) + " " + best->name;
}

constexpr Scale bytes[] = {{1, "bytes"},
                           {1024, "KiB"},
                           {1048576., "MiB"},
                           {1073741824., "GiB"},
                           {1099511627776., "TiB"}};
constexpr Scale seconds[] = {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
constexpr Scale bytes_per_second[] = {{1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}};
constexpr Scale flops_per_second[] = {
    {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}};

}  // namespace

std::string number(double value) {
    if (!std::isfinite(value)) return fmt::format("{}", value);
    // Above 2^53 the last digits of a double mean nothing.
    if (value == std::round(value) && std::abs(value) < 0x1p53) return grouped(value);
    if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
    return rounded(value);
}

std::string quantity(double value, std::string_view unit) {
    if (!std::isfinite(value)) return fmt::format("{}", value);
    if (unit == "bytes") return scaled(value, bytes);
    if (unit == "bytes/s") return scaled(value, bytes_per_second);
    if (unit == "FLOP/s") return scaled(value, flops_per_second);
    if (unit == "s" && value >= 120) return rounded(value / 60) + " min";
    if (unit == "s") return scaled(value, seconds);
    return unit.empty() ? number(value) : fmt::format("{} {}", number(value), unit);
}

std::string cell(double value, std::string_view unit) {
    return unit == "bytes" ? quantity(value, unit) : number(value);
}

std::string off_by(double measured, double predicted) {
    return fmt::format("{:+.0f}%", 100 * (measured / predicted - 1));
}

}  // namespace lab
