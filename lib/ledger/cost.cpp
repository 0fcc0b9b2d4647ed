#include "ledger/cost.hpp"

#include <algorithm>

#include "gpt2/error.hpp"

namespace ledger {

namespace {

/// What a batch adds up to, over all its sequences.
struct Load {
    double tokens = 0, rows = 0;
    double past = 0;   // positions that the caches hold already
    double pairs = 0;  // of a query and a position that it attends to
};

Load load_of(std::span<const Step> batch) {
    if (batch.empty()) throw gpt2::BadInput("ledger: expected at least one step");
    Load load;
    for (const Step& step : batch) {
        if (step.tokens < 1 || step.past < 0 || step.rows < 0 || step.rows > step.tokens)
            throw gpt2::BadInput(
                "ledger: step: expected tokens >= 1, past >= 0, 0 <= rows <= tokens; "
                "found tokens " +
                std::to_string(step.tokens) + ", past " + std::to_string(step.past) +
                ", rows " + std::to_string(step.rows));
        const double tokens = step.tokens, past = step.past;
        load.tokens += tokens;
        load.rows += step.rows;
        load.past += past;
        // The sum of past + i + 1 over i = 0 ... tokens - 1.
        load.pairs += tokens * past + tokens * (tokens + 1) / 2;
    }
    return load;
}

}  // namespace

std::vector<Operation> forward_pass(const gpt2::Config& config, gpt2::DType weights,
                                    gpt2::DType kv, std::span<const Step> batch) {
    const Load load = load_of(batch);
    const double d = config.n_embd, layers = config.n_layer, vocab = config.n_vocab;
    // Biases and layer norms, and the position embedding: f32 whatever the matrices are.
    constexpr double exact = sizeof(float);
    // Keys and values of one position in one layer, over all heads.
    const double kv_position = 2 * d * double(gpt2::size_of(kv));

    std::vector<Operation> operations;
    const auto per_layer = [&](const char* name, double flops, double bytes) {
        operations.push_back({name, config.n_layer, layers * flops, layers * bytes});
    };
    const auto stored = [&](double rows, double columns) {
        return double(
            gpt2::matrix_bytes(weights, std::int64_t(rows), std::int64_t(columns)));
    };
    // x [tokens, inputs] times a matrix [inputs, outputs], plus a bias [outputs].
    const auto matrix = [&](const char* name, double inputs, double outputs) {
        per_layer(name, load.tokens * 2 * inputs * outputs,
                  stored(inputs, outputs) + outputs * exact);
    };

    // For every token a row of the token embedding, which is a column of the head, and
    // one of the position embedding.
    operations.push_back({"embed", 1, 0, load.tokens * (stored(d, 1) + d * exact)});
    per_layer("norms", 0, 2 * 2 * d * exact);
    matrix("attn qkv", d, 3 * d);
    per_layer("kv append", 0, load.tokens * kv_position);
    // Each pair costs one dot product with the key and one multiply-add of the value,
    // d channels each. What this pass has appended is still in the processor's caches.
    per_layer("attention", load.pairs * 2 * 2 * d, load.past * kv_position);
    matrix("attn proj", d, d);
    matrix("fc", d, 4 * d);
    matrix("mlp proj", 4 * d, d);
    operations.push_back({"final norm", 1, 0, 2 * d * exact});
    if (load.rows > 0)
        operations.push_back({"head", 1, load.rows * 2 * d * vocab,
                              stored(d, vocab) + load.rows * vocab * sizeof(float)});
    return operations;
}

double total_flops(std::span<const Operation> operations) {
    double total = 0;
    for (const Operation& operation : operations) total += operation.flops;
    return total;
}

double total_bytes(std::span<const Operation> operations) {
    double total = 0;
    for (const Operation& operation : operations) total += operation.bytes;
    return total;
}

// [predict]
Seconds predict(const Operation& operation, const Machine& machine) {
    return std::max(operation.bytes / machine.read_bandwidth,
                    operation.flops / machine.multiply_add_peak);
}

Seconds predict(std::span<const Operation> operations, const Machine& machine) {
    const Machine here = machine.repeating(total_bytes(operations));
    Seconds total = 0;
    for (const Operation& operation : operations) total += predict(operation, here);
    return total;
}
// [predict]

std::int64_t weight_bytes(const gpt2::Config& config, gpt2::DType dtype) {
    const std::int64_t d = config.n_embd;
    std::int64_t in_matrices = 0, bytes = 0;
    const auto matrix = [&](std::int64_t count, std::int64_t rows, std::int64_t columns) {
        in_matrices += count * rows * columns;
        bytes += count * gpt2::matrix_bytes(dtype, rows, columns);
    };
    matrix(config.n_layer, d, 3 * d);
    matrix(config.n_layer, d, d);
    matrix(config.n_layer, d, 4 * d);
    matrix(config.n_layer, 4 * d, d);
    matrix(1, d, config.n_vocab);
    return bytes + (gpt2::parameters(config) - in_matrices) * std::int64_t(sizeof(float));
}

std::int64_t kv_bytes_per_token(int layers, int kv_heads, int head_dim,
                                gpt2::DType dtype) {
    // Up to 2^20 each, so that the product stays below 2^63.
    constexpr int most = 1 << 20;
    for (int number : {layers, kv_heads, head_dim})
        if (number < 1 || number > most)
            throw gpt2::BadInput(
                "ledger: layers, heads and head size: expected 1 to 1048576, found " +
                std::to_string(number));
    return 2 * std::int64_t(layers) * kv_heads * head_dim *
           std::int64_t(gpt2::size_of(dtype));
}

std::int64_t kv_bytes_per_token(const gpt2::Config& config, gpt2::DType dtype) {
    return kv_bytes_per_token(config.n_layer, config.n_head, config.head_dim(), dtype);
}

std::vector<Operation> Engine::operations(std::span<const Step> batch) const {
    return forward_pass(config_, weights_, kv_, batch);
}

Seconds Engine::forward(const Step& step) const { return forward(std::span(&step, 1)); }

Seconds Engine::forward(std::span<const Step> batch) const {
    return predict(operations(batch), machine_);
}

double Engine::flops_per_token(int n) const {
    const Step all{.tokens = n, .past = 0, .rows = n};
    return total_flops(operations(std::span(&all, 1))) / n;
}

double Engine::bytes_per_token(const Step& step) const {
    return total_bytes(operations(std::span(&step, 1))) / step.tokens;
}

}  // namespace ledger
