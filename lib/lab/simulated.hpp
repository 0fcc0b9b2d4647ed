#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpt2/model.hpp"
#include "lab/traffic.hpp"
#include "ledger/cost.hpp"

namespace lab {

/// A model that computes nothing and takes no time. It moves a clock of its own instead,
/// by the seconds that a ledger says, and always writes token 0, the only one it has.
///
/// Under gpt2::Scheduler it stands in for a real model: requests are admitted, read in
/// chunks and written just the same, step by step. Only seconds and words differ. A block
/// of its KV cache is a kilobyte, so a machine of any size fits.
class SimulatedModel : public gpt2::Model {
public:
    /// The seconds of one forward pass.
    using Cost = std::function<Seconds(std::span<const ledger::Step>)>;

    /// A clock at 0, and sequences of up to 1,048,576 tokens.
    explicit SimulatedModel(Cost cost);

    std::size_t weight_bytes() const override { return 0; }  ///< none

    /// The clock that its passes move, and that waiting moves.
    Clock clock();

private:
    void run(std::span<const gpt2::Step> batch, gpt2::Logits& logits) override;

    Cost cost_;
    Seconds now_ = 0;
    std::vector<ledger::Step> steps_;
};

/// What a machine of these costs would make of this traffic.
/// @throws BadInput as serve()
Service simulate(const SimulatedModel::Cost& cost, const gpt2::ServeOptions& options,
                 std::span<const Arrival> arrivals);

}  // namespace lab
