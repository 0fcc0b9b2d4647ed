#include "lab/simulated.hpp"

#include <algorithm>
#include <utility>

namespace lab {

namespace {

constexpr gpt2::Config tiny{
    .n_vocab = 1, .n_ctx = 1 << 20, .n_embd = 1, .n_layer = 1, .n_head = 1};

}  // namespace

SimulatedModel::SimulatedModel(Cost cost)
    : Model(tiny, std::make_shared<gpt2::KvPool>(tiny, gpt2::DType::f16)),
      cost_(std::move(cost)) {}

Clock SimulatedModel::clock() {
    return {[this] { return now_; },
            [this](Seconds until) { now_ = std::max(now_, until); }};
}

// [run]
void SimulatedModel::run(std::span<const gpt2::Step> batch, gpt2::Logits& logits) {
    steps_.clear();
    for (const gpt2::Step& step : batch)
        steps_.push_back({.tokens = int(step.tokens.size()),
                          .past = step.cache.size(),
                          .rows = step.rows == gpt2::Rows::none ? 0 : 1});
    now_ += cost_(steps_);
    for (int row = 0; row < logits.rows(); ++row) logits[row][0] = 0;
}
// [run]

Service simulate(const SimulatedModel::Cost& cost, const gpt2::ServeOptions& options,
                 std::span<const Arrival> arrivals) {
    SimulatedModel model(cost);
    return serve(model, options, model.clock(), arrivals, [&](std::size_t i) {
        return std::vector<gpt2::Token>(std::size_t(arrivals[i].prompt), 0);
    });
}

}  // namespace lab
