#include "ledger/serving.hpp"

#include <algorithm>
#include <string>

#include "gpt2/error.hpp"

namespace ledger {

namespace {

constexpr double bytes_each = 2;  // of a weight, a key, a value, a score

}  // namespace

std::int64_t Transformer::body() const {
    const std::int64_t d = hidden, queries = std::int64_t(heads) * head_dim,
                       keys = std::int64_t(kv_heads) * head_dim;
    const std::int64_t attention = d * queries + 2 * d * keys + queries * d;
    const std::int64_t mlp = 3 * d * inner;  // gate, up, down
    const std::int64_t norms = 2 * d;
    return layers * (attention + mlp + norms) + d;
}

std::int64_t Transformer::parameters() const {
    return body() + 2 * std::int64_t(hidden) * vocab;
}

Serving::Serving(const Transformer& model, const Accelerator& device, int devices)
    : model_(model),
      machine_{device.bandwidth * devices, device.flops * devices, devices} {
    if (devices < 1)
        throw gpt2::BadInput("ledger: accelerators: expected at least 1, found " +
                             std::to_string(devices));
    const double free = 0.9 * device.memory * devices - double(model.weight_bytes());
    room_ = std::int64_t(free / double(model.kv_bytes_per_token()));
    if (free < 0 || room_ < 1)
        throw gpt2::BadInput(
            "ledger: " + std::to_string(devices) + " accelerators: the weights of " +
            std::to_string(model.weight_bytes()) + " bytes leave no room for a cache");
}

// [serving]
Seconds Serving::forward(std::span<const Step> batch) const {
    if (batch.empty()) throw gpt2::BadInput("ledger: expected at least one step");
    double tokens = 0, rows = 0, past = 0, pairs = 0;
    for (const Step& step : batch) {
        const double n = step.tokens;
        tokens += n;
        rows += step.rows;
        past += step.past;
        pairs += n * step.past + n * (n + 1) / 2;
    }
    const auto least = [&](double bytes, double flops) {
        return std::max(bytes / machine_.read_bandwidth,
                        flops / machine_.multiply_add_peak);
    };
    const double body = double(model_.body());
    const double head = double(model_.hidden) * model_.vocab;
    const double channels = double(model_.layers) * model_.heads * model_.head_dim;
    const double kv = double(model_.kv_bytes_per_token());
    return least(bytes_each * body, 2 * body * tokens) +
           least(kv * (past + tokens), 4 * channels * pairs) +
           (rows > 0 ? least(bytes_each * (head + rows * model_.vocab), 2 * head * rows)
                     : 0);
}
// [serving]

}  // namespace ledger
