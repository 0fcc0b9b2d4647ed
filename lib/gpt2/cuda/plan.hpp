#pragma once

#include <span>
#include <vector>

#include "gpt2/cuda/batch.hpp"
#include "gpt2/cuda/device.hpp"
#include "gpt2/model.hpp"

namespace gpt2::cuda::inline SIMT_MACHINE {

/// Rows that the kernels for few rows take at most: with more, each weight is used often
/// enough that a library's tiles pay.
constexpr int few = 8;

/// Consecutive rows that attend by the same kernels.
struct Span {
    int first;     ///< row
    int count;     ///< rows
    bool many;     ///< more than `few` of one sequence; otherwise short steps of any
    int position;  ///< of the first row, where there are many
};

/// A batch laid out as rows, on the host and then on the device. From there on nothing
/// but attention knows that there are several sequences.
class Plan {
public:
    /// For sequences of up to n_ctx positions.
    explicit Plan(int n_ctx);

    /// Lays out the next pass. What lies on the device stays where it is as long as there
    /// is room.
    /// @param ahead  positions behind each step that the block table should cover too
    /// @return whether anything has moved
    bool lay_out(std::span<const Step> steps, int ahead, Stream& stream);

    int rows() const { return int(token_.size()); }     ///< tokens of all steps
    int wanted() const { return int(wanted_.size()); }  ///< rows that get logits

    /// The rows that get logits, [wanted()], on the device.
    const int* wanted_rows() const { return on_device_.wanted.data(); }

    /// All rows, span by span.
    const std::vector<Span>& spans() const { return spans_; }

    /// The rows as kernels see them.
    const Batch& batch() const { return batch_; }

private:
    void add(const Step& step, int ahead);
    void add_span(const Step& step, int first);
    bool make_room(std::size_t sequences);

    std::vector<int> token_, position_, sequence_, wanted_;
    std::vector<std::byte*> table_;
    std::vector<Span> spans_;
    struct {
        Array<int> token, position, sequence, wanted;
        Array<std::byte*> table;
    } on_device_;
    Batch batch_{};
};

}  // namespace gpt2::cuda::inline SIMT_MACHINE
