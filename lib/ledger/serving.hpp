#pragma once

#include <cstdint>
#include <span>

#include "ledger/cost.hpp"

namespace ledger {

/// The shape of a model whose query heads share keys and values, with a gated MLP and an
/// output head of its own: Llama 3 and its kin. Weights and cache are kept in two bytes a
/// number.
struct Transformer {
    int layers;    ///< of attention and MLP
    int hidden;    ///< channels of the residual stream
    int heads;     ///< for queries
    int kv_heads;  ///< for keys and values
    int head_dim;  ///< channels of one head
    int inner;     ///< channels of the gated MLP
    int vocab;     ///< rows of the embedding, and of the head

    /// Parameters that every token is multiplied by, the output head left out.
    std::int64_t body() const;

    /// All of them: 8,030,261,248 for Llama 3 8B, 70,553,706,496 for 70B.
    std::int64_t parameters() const;

    /// Bytes of the weights.
    std::int64_t weight_bytes() const { return 2 * parameters(); }

    /// Bytes of keys and values that one token leaves in the cache.
    std::int64_t kv_bytes_per_token() const {
        return ledger::kv_bytes_per_token(layers, kv_heads, head_dim, gpt2::DType::f16);
    }
};

/// One device, as its maker's data sheet has it.
struct Accelerator {
    double memory;     ///< bytes
    double bandwidth;  ///< bytes/s out of that memory
    double flops;      ///< FLOP/s of dense 16-bit matrices
};

/// A model on one accelerator, or shared out evenly among several (tensor parallelism):
/// each keeps its share of every matrix and of every cache, and all work at the same
/// time. What the devices have to tell each other, twice in every layer, is left out, and
/// so is all that keeps a real program below its ceilings: the seconds are the least
/// possible.
class Serving {
public:
    /// @throws gpt2::BadInput for no accelerator, or where the weights do not fit
    Serving(const Transformer& model, const Accelerator& device, int devices);

    /// The least time of a step over this batch: the matrices of the layers, attention
    /// over the caches, and the head are each finished when both ceilings are met.
    /// Cheaper than Engine::forward, for simulations of many thousand steps.
    /// @throws gpt2::BadInput for an empty batch
    Seconds forward(std::span<const Step> batch) const;

    /// Tokens for whose keys and values there is room: nine tenths of the memory, without
    /// the weights. The tenth is for activations and for the program itself.
    std::int64_t kv_room() const { return room_; }

    /// The model that it was made for.
    const Transformer& model() const { return model_; }

private:
    Transformer model_;
    Machine machine_;  // all devices together
    std::int64_t room_;
};

}  // namespace ledger
