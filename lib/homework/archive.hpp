#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// How arguments and answers travel between the grader and the process with a student's
/// code: as bytes. Numbers, texts, vectors, optionals, and plain structs of these.
namespace homework {

namespace detail {

/// Turns into anything: what asks how many members a struct has.
struct Anything {
    /// Never defined: only whether it would compile is asked.
    template <class T>
    operator T() const;
};

template <class T, std::size_t... i>
constexpr bool made_of(std::index_sequence<i...>) {
    return requires { T{(static_cast<void>(i), Anything())...}; };
}

/// Members of a plain struct, at most six.
template <class T, std::size_t n = 6>
constexpr std::size_t members() {
    if constexpr (n == 0 || made_of<T>(std::make_index_sequence<n>()))
        return n;
    else
        return members<T, n - 1>();
}

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
/// Texts, and vectors of numbers: all their bytes lie side by side.
template <class T>
inline constexpr bool is_plain = std::is_same_v<T, std::string>;
template <class T>
inline constexpr bool is_plain<std::vector<T>> =
    std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace detail

/// Calls f with all members of a plain struct.
template <class T, class F>
void with_members(T& x, F f) {
    constexpr std::size_t n = detail::members<std::remove_const_t<T>>();
    static_assert(n > 0, "expected a plain struct of one to six members");
    if constexpr (n == 1) {
        auto& [a] = x;
        f(a);
    } else if constexpr (n == 2) {
        auto& [a, b] = x;
        f(a, b);
    } else if constexpr (n == 3) {
        auto& [a, b, c] = x;
        f(a, b, c);
    } else if constexpr (n == 4) {
        auto& [a, b, c, d] = x;
        f(a, b, c, d);
    } else if constexpr (n == 5) {
        auto& [a, b, c, d, e] = x;
        f(a, b, c, d, e);
    } else {
        auto& [a, b, c, d, e, g] = x;
        f(a, b, c, d, e, g);
    }
}

/// Appends x as bytes.
template <class T>
void put(std::string& out, const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        char bytes[sizeof x];
        std::memcpy(bytes, &x, sizeof x);
        out.append(bytes, sizeof x);
    } else if constexpr (std::is_same_v<T, std::string> || detail::is_vector<T>) {
        put(out, std::uint64_t(x.size()));
        if constexpr (detail::is_plain<T>)
            out.append(reinterpret_cast<const char*>(x.data()),
                       x.size() * sizeof(typename T::value_type));
        else
            for (const auto& element : x) put(out, element);
    } else if constexpr (detail::is_optional<T>) {
        put(out, x.has_value());
        if (x) put(out, *x);
    } else {
        with_members(x, [&](const auto&... member) { (put(out, member), ...); });
    }
}

/// Bytes that are no such value: whoever sent them was not the function that was asked.
struct Malformed : std::runtime_error {
    Malformed() : std::runtime_error("an answer that cannot be read") {}
};

/// Takes an x off the front of `in`.
/// @throws Malformed where `in` does not begin with one
template <class T>
void get(std::string_view& in, T& x) {
    if constexpr (std::is_same_v<T, bool>) {
        std::uint8_t byte = 0;
        get(in, byte);
        if (byte > 1) throw Malformed();
        x = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        if (in.size() < sizeof x) throw Malformed();
        std::memcpy(&x, in.data(), sizeof x);
        in.remove_prefix(sizeof x);
    } else if constexpr (std::is_same_v<T, std::string> || detail::is_vector<T>) {
        std::uint64_t count = 0;
        get(in, count);
        if (count > in.size()) throw Malformed();  // each element takes a byte or more
        x.clear();
        if constexpr (detail::is_plain<T>) {
            constexpr std::size_t each = sizeof(typename T::value_type);
            if (count > in.size() / each) throw Malformed();
            x.resize(std::size_t(count));
            if (count > 0) std::memcpy(x.data(), in.data(), x.size() * each);
            in.remove_prefix(x.size() * each);
        } else {
            x.reserve(std::size_t(count));
            for (std::uint64_t i = 0; i < count; ++i) {
                typename T::value_type element{};
                get(in, element);
                x.push_back(std::move(element));
            }
        }
    } else if constexpr (detail::is_optional<T>) {
        bool has = false;
        get(in, has);
        x.reset();
        if (has) get(in, x.emplace());
    } else {
        with_members(x, [&](auto&... member) { (get(in, member), ...); });
    }
}

/// What a parameter of a function keeps its argument in: a vector for a span, a string
/// for a view, else the type without reference and const.
template <class T>
struct Owned {
    using type = std::remove_cvref_t<T>;  ///< T itself
};
/// What a span looks at is kept in a vector.
template <class T>
struct Owned<std::span<const T>> {
    using type = std::vector<T>;  ///< of the same numbers
};
/// What a view looks at is kept in a string.
template <>
struct Owned<std::string_view> {
    using type = std::string;  ///< of the same bytes
};
/// Owned, for the type of any parameter.
template <class T>
using owned = typename Owned<std::remove_cvref_t<T>>::type;

}  // namespace homework
