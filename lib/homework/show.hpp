#pragma once

#include <cmath>
#include <string>

#include "homework/archive.hpp"

/// Values as messages show them, and whether two are the same.
namespace homework {

/// A number, short and exact.
std::string show_number(double x);
/// A text between quotation marks, on one line.
std::string show_text(std::string_view text);

/// Any value that travels, on one line; of long ones the beginning.
template <class T>
std::string show(const T& x) {
    constexpr std::size_t most = 12;
    if constexpr (std::is_same_v<T, bool>) {
        return x ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
        return std::to_string(x);
    } else if constexpr (std::is_floating_point_v<T>) {
        return show_number(double(x));
    } else if constexpr (std::is_same_v<T, std::string>) {
        return show_text(x);
    } else if constexpr (detail::is_vector<T>) {
        std::string all;
        for (std::size_t i = 0; i < x.size() && i < most; ++i)
            all += (i == 0 ? "" : ", ") + show(typename T::value_type(x[i]));
        if (x.size() > most) all += ", ... (" + std::to_string(x.size()) + ")";
        return "[" + all + "]";
    } else if constexpr (detail::is_optional<T>) {
        return x ? show(*x) : "none";
    } else {
        std::string all;
        with_members(x, [&](const auto&... member) {
            ((all += (all.empty() ? "" : ", ") + show(member)), ...);
        });
        return "{" + all + "}";
    }
}

/// Whether found is expected. Integers and texts must be equal. Floating-point numbers
/// may be off by `tolerance`, of an expected number above 1 by that share of it.
template <class T>
bool same(const T& expected, const T& found, double tolerance) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isinf(double(expected)) || std::isnan(double(found)))
            return expected == found;
        return std::abs(double(expected) - double(found)) <=
               tolerance * std::max(1.0, std::abs(double(expected)));
    } else if constexpr (detail::is_vector<T>) {
        if (expected.size() != found.size()) return false;
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (!same(typename T::value_type(expected[i]),
                      typename T::value_type(found[i]), tolerance))
                return false;
        return true;
    } else if constexpr (detail::is_optional<T>) {
        if (!expected || !found) return !expected && !found;
        return same(*expected, *found, tolerance);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
        return expected == found;
    } else {
        bool all = true;
        with_members(expected, [&](const auto&... of_expected) {
            with_members(found, [&](const auto&... of_found) {
                ((all = all && same(of_expected, of_found, tolerance)), ...);
            });
        });
        return all;
    }
}

}  // namespace homework
