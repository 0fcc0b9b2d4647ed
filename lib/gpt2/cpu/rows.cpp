#include "gpt2/cpu/rows.hpp"

#include <cmath>
#include <limits>

namespace gpt2::cpu {

void layer_norm(const float* x, int n, const float* gain, const float* bias, float* y) {
    Vec16 sums = broadcast(0.0f);
    for (int i = 0; i < n; i += 16) sums = sums + first(n - i, load(x + i), 0.0f);
    const float mean = sum(sums) / float(n);

    // [layer_norm]
    // The second pass looks at the distances from the mean. Subtracting mean^2 from the
    // mean of the squares needs one pass only, and loses half the digits.
    Vec16 squares = broadcast(0.0f);
    for (int i = 0; i < n; i += 16) {
        const Vec16 distance = first(n - i, load(x + i) - broadcast(mean), 0.0f);
        squares = fma(distance, distance, squares);
    }
    const float scale = 1.0f / std::sqrt(sum(squares) / float(n) + 1e-5f);
    // [layer_norm]

    for (int i = 0; i < n; i += 16) {
        const Vec16 normal = (load(x + i) - broadcast(mean)) * broadcast(scale);
        store(fma(normal, load(gain + i), load(bias + i)), y + i);
    }
}

void softmax(float* scores, int n, float scale, float* total) {
    // [softmax]
    // First the exact maximum, so that nothing overflows; a maximum has no rounding and
    // hence no order. Then the exponentials, each added to the lane of its position
    // modulo 16: the order of the sum is fixed by the positions alone.
    constexpr float lowest = std::numeric_limits<float>::lowest();
    Vec16 most = broadcast(lowest);
    for (int i = 0; i < n; i += 16)
        most = max(most, first(n - i, load(scores + i), lowest));
    const Vec16 largest = broadcast(max_lane(most));

    Vec16 sums = broadcast(0.0f);
    for (int i = 0; i < n; i += 16) {
        const Vec16 e = exp((load(scores + i) - largest) * broadcast(scale));
        const Vec16 weights = first(n - i, e, 0.0f);
        store(weights, scores + i);
        sums = sums + weights;
    }
    *total = sum(sums);
    // [softmax]
}

}  // namespace gpt2::cpu
