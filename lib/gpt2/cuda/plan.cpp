#include "gpt2/cuda/plan.hpp"

#include <algorithm>

namespace gpt2::cuda::inline SIMT_MACHINE {

namespace {

/// Queries of one sequence that attend together at most: their scores take
/// [heads, queries, positions].
constexpr int queries_at_a_time = 1024;

}  // namespace

Plan::Plan(int n_ctx) { batch_.table_width = KvLayout::blocks_for(n_ctx); }

bool Plan::lay_out(std::span<const Step> steps, int ahead, Stream& stream) {
    token_.clear();
    position_.clear();
    sequence_.clear();
    wanted_.clear();
    table_.clear();
    spans_.clear();
    for (const Step& step : steps) add(step, ahead);

    const bool moved = make_room(steps.size());
    const auto put = [&](const auto& to, const auto& from) {
        stream.copy(to.data(), from.data(), from.size() * sizeof(from[0]));
    };
    put(on_device_.token, token_);
    put(on_device_.position, position_);
    put(on_device_.sequence, sequence_);
    put(on_device_.wanted, wanted_);
    put(on_device_.table, table_);
    return moved;
}

void Plan::add(const Step& step, int ahead) {
    const int first = rows(), n = int(step.tokens.size());
    const int line = int(table_.size()) / batch_.table_width;
    for (int i = 0; i < n; ++i) {
        token_.push_back(step.tokens[std::size_t(i)]);
        position_.push_back(step.cache.size() + i);
        sequence_.push_back(line);
        if (step.rows == Rows::all || (step.rows == Rows::last && i == n - 1))
            wanted_.push_back(first + i);
    }
    const std::size_t start = table_.size();
    table_.resize(start + std::size_t(batch_.table_width));
    for (int b = 0; b < KvLayout::blocks_for(step.cache.size() + n + ahead); ++b)
        table_[start + std::size_t(b)] = step.cache.block(b);
    add_span(step, first);
}

/// Short steps go together, whosever they are; a long one goes alone, in pieces.
void Plan::add_span(const Step& step, int first) {
    const int n = int(step.tokens.size());
    if (n > few) {
        for (int i = 0; i < n; i += queries_at_a_time)
            spans_.push_back({first + i, std::min(queries_at_a_time, n - i), true,
                              step.cache.size() + i});
    } else if (!spans_.empty() && !spans_.back().many &&
               spans_.back().count < queries_at_a_time) {
        spans_.back().count += n;
    } else {
        spans_.push_back({first, n, false, 0});
    }
}

bool Plan::make_room(std::size_t sequences) {
    bool moved = grow(on_device_.table, sequences * std::size_t(batch_.table_width));
    for (Array<int>* array : {&on_device_.token, &on_device_.position,
                              &on_device_.sequence, &on_device_.wanted})
        moved |= grow(*array, token_.size());
    batch_.token = on_device_.token.data();
    batch_.position = on_device_.position.data();
    batch_.sequence = on_device_.sequence.data();
    batch_.table = on_device_.table.data();
    return moved;
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
