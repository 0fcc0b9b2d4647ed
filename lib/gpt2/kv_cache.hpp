#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "gpt2/config.hpp"
#include "gpt2/dtype.hpp"

namespace gpt2 {

/// The shape of one block: the keys and values of 32 consecutive positions, in all
/// layers.
///
///     keys    [n_layer][n_head][head_dim][32]      a row holds one channel, 32 positions
///     values  [n_layer][n_head][32][head_stride]   a row holds one position, all
///     channels
///
/// Both are laid out so that attention runs along rows of vectors and never has to add up
/// the lanes of one. `head_stride` is head_dim rounded up to 16; the rest stays zero.
struct KvLayout {
    static constexpr int positions = 32;

    KvLayout(const Config& config, DType dtype);

    int n_layer, n_head, head_dim, head_stride;
    DType dtype;

    /// Elements from the start of a block.
    std::size_t keys(int layer, int head) const;
    std::size_t values(int layer, int head) const;
    std::size_t block_elements() const;
    std::size_t block_bytes() const { return block_elements() * size_of(dtype); }

    /// What one position really needs: 2 x n_layer x n_embd x bytes per number.
    std::size_t bytes_per_token() const;
};

/// The memory that all caches of one model take their blocks from.
class KvPool : public std::enable_shared_from_this<KvPool> {
public:
    KvPool(const Config& config, DType dtype);
    ~KvPool();

    const KvLayout& layout() const { return layout_; }
    int n_ctx() const { return n_ctx_; }

    /// A block of unspecified content. It comes back to the pool with its last owner.
    /// @throws std::bad_alloc
    std::shared_ptr<std::byte> take();

    /// Blocks that some cache holds.
    int blocks_in_use() const;

private:
    void give_back(std::byte* block);

    KvLayout layout_;
    int n_ctx_;
    mutable std::mutex mutex_;
    std::vector<std::byte*> free_;
    int in_use_ = 0;
};

/// What a model remembers of one sequence: the keys and values of every position read or
/// written so far.
///
/// A cache is a list of blocks of 32 positions. Blocks are shared and counted, so a fork
/// costs nothing; whoever writes into a shared block first takes a copy of its own.
class KvCache {
public:
    explicit KvCache(std::shared_ptr<KvPool> pool) : pool_(std::move(pool)) {}
    KvCache(KvCache&&) = default;
    KvCache& operator=(KvCache&&) = default;

    /// Positions held.
    int size() const { return size_; }

    /// Bytes of the keys and values of the positions held.
    std::size_t bytes() const { return size_ * pool_->layout().bytes_per_token(); }

    /// Forgets all positions from `size` on.
    /// @throws BadInput unless 0 <= size <= size().
    void truncate(int size);

    /// A second cache with the same content. Neither sees what the other does next.
    KvCache fork() const;

    // For engines
    // -----------

    const std::shared_ptr<KvPool>& pool() const { return pool_; }

    /// The block that holds positions [32 i, 32 i + 32).
    std::byte* block(int i) const { return blocks_[i].get(); }

    /// Makes positions [size(), size() + count) writable: takes the blocks that are
    /// missing and copies a shared one. What the cache holds does not change, also when
    /// it throws.
    void reserve(int count);

    /// Declares `count` reserved positions written.
    void advance(int count) { size_ += count; }

private:
    std::shared_ptr<KvPool> pool_;
    std::vector<std::shared_ptr<std::byte>> blocks_;
    int size_ = 0;
};

}  // namespace gpt2
