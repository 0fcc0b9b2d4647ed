#pragma once

// Sixteen floats at a time, on every processor.
//
// All kernels of this engine are written in terms of `Vec16`, which is one register with
// AVX-512, two with AVX2 and four with NEON. The sixteen lanes, not the register, fix the
// order of every sum. So the bits of a result do not depend on the width of the
// processor.

#include <hwy/highway.h>

#include <utility>

#include "gpt2/dtype.hpp"

#ifdef __FAST_MATH__
#error "-ffast-math reorders sums and drops NaN checks: this engine promises equal bits"
#endif
// What Highway has for older processors rounds a multiply-add twice, and f16 towards
// zero.
#if HWY_ARCH_X86 && HWY_STATIC_TARGET > HWY_AVX2
#error "this engine needs AVX2 and what came with it: build with -march=haswell -maes"
#endif

namespace gpt2::cpu {

// Highway's operations, for the one target that the library is compiled for.
namespace hn = hwy::HWY_NAMESPACE;

/// A number in half precision, as it lies in memory.
using f16 = hwy::float16_t;
/// The upper half of a float, as it lies in memory.
using bf16 = hwy::bfloat16_t;

/// Highway's name for a register of floats, at most sixteen.
using Tag = hn::CappedTag<float, 16>;
/// 4, 8 or 16 floats, by the processor.
using Register = hn::Vec<Tag>;

/// Registers that make up sixteen floats.
inline constexpr int registers = 16 / int(hn::MaxLanes(Tag()));

/// f(i) for each of these i.
template <class F, int... i>
HWY_INLINE void call_with(F& f, std::integer_sequence<int, i...>) {
    (f(std::integral_constant<int, i>()), ...);
}

/// f(0), f(1) ... f(n - 1), with the index known to the compiler: loops over registers
/// must vanish, or the registers would have to live in memory.
template <int n, class F>
HWY_INLINE void unroll(F f) {
    call_with(f, std::make_integer_sequence<int, n>());
}

/// Sixteen floats.
struct Vec16 {
    Register r[registers];  ///< lanes 0 ... 15, in order
};

/// A Vec16 whose register i is f(i).
template <class F>
HWY_INLINE Vec16 make16(F f) {
    Vec16 v;
    unroll<registers>([&](auto i) HWY_ATTR { v.r[i] = f(i); });
    return v;
}

/// Floats in one register.
inline constexpr int lanes = 16 / registers;

/// x in all lanes.
HWY_INLINE Vec16 broadcast(float x) {
    return make16([&](int) HWY_ATTR { return hn::Set(Tag(), x); });
}
/// p[0 ... 15], from any address.
HWY_INLINE Vec16 load(const float* p) {
    return make16([&](int i) HWY_ATTR { return hn::LoadU(Tag(), p + i * lanes); });
}
/// p[0 ... 15], widened exactly.
HWY_INLINE Vec16 load(const f16* p) {
    const hn::Rebind<f16, Tag> half;
    return make16([&](int i) HWY_ATTR {
        return hn::PromoteTo(Tag(), hn::LoadU(half, p + i * lanes));
    });
}
/// p[0 ... 15], widened exactly.
HWY_INLINE Vec16 load(const bf16* p) {
    const hn::Rebind<bf16, Tag> half;
    return make16([&](int i) HWY_ATTR {
        return hn::PromoteTo(Tag(), hn::LoadU(half, p + i * lanes));
    });
}
/// p[0 ... 15] as floats.
HWY_INLINE Vec16 load(const std::int8_t* p) {
    const hn::Rebind<std::int8_t, Tag> small;
    const hn::RebindToSigned<Tag> whole;
    return make16([&](int i) HWY_ATTR {
        return hn::ConvertTo(Tag(),
                             hn::PromoteTo(whole, hn::LoadU(small, p + i * lanes)));
    });
}
/// p[0 ... 15] = v, at any address.
HWY_INLINE void store(const Vec16& v, float* p) {
    unroll<registers>([&](auto i) HWY_ATTR { hn::StoreU(v.r[i], Tag(), p + i * lanes); });
}
/// p[0 ... 15] = v, rounded to the nearest, ties to even.
HWY_INLINE void store(const Vec16& v, f16* p) {
    const hn::Rebind<f16, Tag> half;
    unroll<registers>([&](auto i) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(half, v.r[i]), half, p + i * lanes);
    });
}
/// p[0 ... 15] = v, which is finite, rounded to the nearest, ties to even.
HWY_INLINE void store(const Vec16& v, bf16* p) {
    // With integers: the instruction for it, where there is one, takes tiny numbers for
    // 0.
    const hn::RebindToUnsigned<Tag> wide;
    const hn::RebindToSigned<Tag> positive;
    const hn::Rebind<std::uint16_t, Tag> half;
    unroll<registers>([&](auto i) HWY_ATTR {
        const auto bits = hn::BitCast(wide, v.r[i]);
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1u));
        const auto sum = hn::Add(bits, hn::Add(hn::Set(wide, 0x7fffu), odd));
        const auto upper = hn::BitCast(positive, hn::ShiftRight<16>(sum));
        hn::StoreU(hn::DemoteTo(half, upper), half, &p[i * lanes].bits);
    });
}
/// p[0 ... 15] = v, rounded to the nearest, ties to even; at most 127 in magnitude.
HWY_INLINE void store(const Vec16& v, std::int8_t* p) {
    const hn::Rebind<std::int8_t, Tag> small;
    unroll<registers>([&](auto i) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(small, hn::NearestInt(v.r[i])), small, p + i * lanes);
    });
}

// Lane by lane, each rounded once.

/// a + b in every lane.
HWY_INLINE Vec16 operator+(const Vec16& a, const Vec16& b) {
    return make16([&](int i) HWY_ATTR { return hn::Add(a.r[i], b.r[i]); });
}
/// a - b in every lane.
HWY_INLINE Vec16 operator-(const Vec16& a, const Vec16& b) {
    return make16([&](int i) HWY_ATTR { return hn::Sub(a.r[i], b.r[i]); });
}
/// a * b in every lane.
HWY_INLINE Vec16 operator*(const Vec16& a, const Vec16& b) {
    return make16([&](int i) HWY_ATTR { return hn::Mul(a.r[i], b.r[i]); });
}
/// a / b in every lane.
HWY_INLINE Vec16 operator/(const Vec16& a, const Vec16& b) {
    return make16([&](int i) HWY_ATTR { return hn::Div(a.r[i], b.r[i]); });
}
/// |a| in every lane.
HWY_INLINE Vec16 abs(const Vec16& a) {
    return make16([&](int i) HWY_ATTR { return hn::Abs(a.r[i]); });
}
/// The greater one in every lane; neither may be NaN.
HWY_INLINE Vec16 max(const Vec16& a, const Vec16& b) {
    return make16([&](int i) HWY_ATTR { return hn::Max(a.r[i], b.r[i]); });
}
/// a * b + c, rounded once.
HWY_INLINE Vec16 fma(const Vec16& a, const Vec16& b, const Vec16& c) {
    return make16([&](int i) HWY_ATTR { return hn::MulAdd(a.r[i], b.r[i], c.r[i]); });
}

/// The first n lanes of v; `other` in those behind.
HWY_INLINE Vec16 first(int n, const Vec16& v, float other) {
    return make16([&](int i) HWY_ATTR {
        const auto mask = hn::FirstN(Tag(), std::size_t(HWY_MAX(0, n - i * lanes)));
        return hn::IfThenElse(mask, v.r[i], hn::Set(Tag(), other));
    });
}

// [sum]
/// The sum of all lanes, always in the same order: by halves.
HWY_INLINE float sum(const Vec16& v) {
    alignas(64) float x[16];
    store(v, x);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) x[i] += x[i + half];
    return x[0];
}
// [sum]

/// The greatest lane. A maximum is not rounded, so its order does not matter.
HWY_INLINE float max_lane(const Vec16& v) {
    alignas(64) float x[16];
    store(v, x);
    float most = x[0];
    for (float value : x) most = value > most ? value : most;
    return most;
}

/// e^x within 2 units in the last place, for x clamped to [-87, 88]: neither zero nor
/// infinity ever comes out.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by a polynomial (the coefficients of Cephes'
/// expf, S. Moshier), 2^n by writing n into the exponent's bits. No call into a math
/// library, whose bits differ from machine to machine.
HWY_INLINE Vec16 exp(const Vec16& x) {
    return make16([&](int i) HWY_ATTR {
        const Tag d;
        const auto at = [&](float c) HWY_ATTR { return hn::Set(d, c); };
        const auto v = hn::Min(hn::Max(x.r[i], at(-87.0f)), at(88.0f));
        const auto n = hn::Round(hn::Mul(v, at(1.44269504088896341f)));

        // [exp]
        // ln 2 in two parts, the first with so few bits that n times it is exact.
        auto r = hn::MulAdd(n, at(-0.693359375f), v);
        r = hn::MulAdd(n, at(2.12194440e-4f), r);
        auto p = at(1.9875691500e-4f);
        p = hn::MulAdd(p, r, at(1.3981999507e-3f));
        p = hn::MulAdd(p, r, at(8.3334519073e-3f));
        p = hn::MulAdd(p, r, at(4.1665795894e-2f));
        p = hn::MulAdd(p, r, at(1.6666665459e-1f));
        p = hn::MulAdd(p, r, at(5.0000001201e-1f));
        p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), at(1.0f));
        // [exp]

        const hn::RebindToSigned<Tag> di;
        const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, n));
        return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
    });
}

}  // namespace gpt2::cpu
