#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpt2/config.hpp"
#include "gpt2/dtype.hpp"
#include "ledger/machine.hpp"

/// Bytes, FLOPs and seconds by arithmetic alone: what a forward pass should cost on a
/// machine whose two ceilings are known. It measures nothing and runs nothing.
namespace ledger {

/// Durations, predicted or measured.
using Seconds = double;

/// What one sequence asks of a forward pass. The arithmetic needs only the counts.
struct Step {
    int tokens = 1;  ///< new tokens, at least 1
    int past = 0;    ///< positions that the cache holds already
    int rows = 1;    ///< rows of logits wanted, at most `tokens`
};

/// One kind of operation in a forward pass, and what all its occurrences cost.
///
/// Counts are whole numbers, exact up to 2^53; beyond that a double rounds where an
/// integer would overflow.
struct Operation {
    std::string name;  ///< such as "attention"
    int times;         ///< n_layer for what every block does, else 1
    double flops;      ///< two per multiply-add
    double bytes;      ///< to and from memory

    /// FLOPs for every byte moved; infinite where no byte is. Where it is below the
    /// machine's own quotient of ceilings, memory sets the pace (the roofline: Williams
    /// et al. 2009).
    double intensity() const { return flops / bytes; }
};

/// The operations of one forward pass over a batch of steps, in their order.
///
/// FLOPs: the multiply-adds of the matrices and of attention, where position `past + i`
/// attends to `past + i + 1` positions. Layer norms, GELU, softmax and residuals are left
/// out: they grow with n_embd where the matrices grow with its square.
///
/// Bytes: each weight and scale that the pass needs once, however many tokens share it;
/// of the embeddings only the rows looked up; each sequence's keys and values, the old
/// ones read and the new ones written; the logits written. The activations between two
/// operations are left out: they stay in the processor's caches.
///
/// @throws gpt2::BadInput for an empty batch or a step outside its limits.
std::vector<Operation> forward_pass(const gpt2::Config& config, gpt2::DType weights,
                                    gpt2::DType kv, std::span<const Step> batch);

/// FLOPs of all of them together.
double total_flops(std::span<const Operation> operations);

/// Bytes that all of them together move.
double total_bytes(std::span<const Operation> operations);

/// An operation is finished when both its ceilings are met: it takes the longer of moving
/// its bytes and doing its arithmetic.
Seconds predict(const Operation& operation, const Machine& machine);

/// Operations follow one another: the sum. It is that of one pass among many: where all
/// bytes of the pass fit into the last cache, they are there from the pass before.
Seconds predict(std::span<const Operation> operations, const Machine& machine);

/// Bytes of all parameters: matrices as `dtype`, with the scales of int8; biases, layer
/// norms and the position embedding in f32. GPT-2 small in f32: 497,759,232.
std::int64_t weight_bytes(const gpt2::Config& config, gpt2::DType dtype);

/// Bytes of keys and values that one token leaves in the cache. Models with grouped heads
/// have fewer heads here than for queries. GPT-2 small in f16: 36,864.
/// @throws gpt2::BadInput unless all numbers are positive.
std::int64_t kv_bytes_per_token(int layers, int kv_heads, int head_dim,
                                gpt2::DType dtype);

/// The same for a GPT-2, which has as many heads for keys as for queries.
std::int64_t kv_bytes_per_token(const gpt2::Config& config, gpt2::DType dtype);

/// A model on a machine: what a forward pass should cost there.
class Engine {
public:
    /// @param weights, kv  how matrices of weights and the cache are stored
    Engine(const gpt2::Config& config, gpt2::DType weights, gpt2::DType kv,
           const Machine& machine)
        : config_(config), weights_(weights), kv_(kv), machine_(machine) {}

    /// The ceilings that it predicts from.
    const Machine& machine() const { return machine_; }

    /// The same model on another machine, or on this one at another time.
    Engine on(const Machine& machine) const { return {config_, weights_, kv_, machine}; }

    /// The operations of one forward pass, as forward_pass() lists them.
    /// @throws gpt2::BadInput as forward_pass
    std::vector<Operation> operations(std::span<const Step> batch) const;

    /// The least time that a forward pass over one step can take.
    /// @throws gpt2::BadInput as forward_pass
    Seconds forward(const Step& step) const;

    /// The same for a batch, whose steps share one trip of the weights.
    /// @throws gpt2::BadInput as forward_pass
    Seconds forward(std::span<const Step> batch) const;

    /// FLOPs per token of a text of `n` tokens, head included. It is the same number
    /// whether the text is read at once or token by token.
    double flops_per_token(int n) const;

    /// Bytes moved per token of this step.
    double bytes_per_token(const Step& step) const;

private:
    gpt2::Config config_;
    gpt2::DType weights_, kv_;
    Machine machine_;
};

}  // namespace ledger
