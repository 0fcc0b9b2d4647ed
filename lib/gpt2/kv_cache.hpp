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
///     keys    [n_layer][n_head][head_dim][32]     a row: one channel, 32 positions
///     values  [n_layer][n_head][32][head_stride]  a row: one position, all channels
///
/// Both are laid out so that attention runs along rows of vectors and never has to add up
/// the lanes of one. `head_stride` is head_dim rounded up to 16; the rest stays zero.
struct KvLayout {
    static constexpr int positions = 32;  ///< of one block: two vectors of sixteen

    /// The layout for a model of this shape, with numbers of this type: f32 or f16.
    KvLayout(const Config& config, DType dtype);

    int n_layer;      ///< as in Config
    int n_head;       ///< as in Config
    int head_dim;     ///< channels of one head
    int head_stride;  ///< head_dim, rounded up to whole vectors
    DType dtype;      ///< of keys and values alike

    /// Where a head's keys begin, [head_dim, 32]: elements from the start of a block.
    std::size_t keys(int layer, int head) const;

    /// Where a head's values begin, [32, head_stride]: elements from the start of a
    /// block.
    std::size_t values(int layer, int head) const;

    /// Elements of a whole block, padding included.
    std::size_t block_elements() const;

    /// Blocks that this many positions of one sequence take.
    static int blocks_for(int count) { return (count + positions - 1) / positions; }

    /// Bytes of a whole block: 2.25 MiB at GPT-2 small's shape in f32.
    std::size_t block_bytes() const { return block_elements() * size_of(dtype); }

    /// What one position really needs: 2 x n_layer x n_embd x bytes per number.
    std::size_t bytes_per_token() const;
};

/// The memory that all caches of one model take their blocks from.
///
/// Blocks given back are kept for the next cache. Each block holds its pool alive, so a
/// cache may outlive its model. Safe from several threads.
///
/// This one's blocks lie in the host's memory; a pool of another device says so in the
/// three virtual functions, and whoever holds a block must not read it himself.
class KvPool : public std::enable_shared_from_this<KvPool> {
public:
    /// An empty pool: memory is taken when a cache first needs it.
    KvPool(const Config& config, DType dtype);

    virtual ~KvPool() = default;

    /// How its blocks are laid out.
    const KvLayout& layout() const { return layout_; }

    /// Positions that one cache may hold at most.
    int n_ctx() const { return n_ctx_; }

    /// A block of unspecified content. It comes back to the pool with its last owner.
    /// @throws std::bad_alloc
    std::shared_ptr<std::byte> take();

    /// Blocks that some cache holds.
    int blocks_in_use() const;

    /// Copies a whole block.
    virtual void copy(std::byte* to, const std::byte* from) const;

private:
    virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) const;
    virtual void clear(std::byte* block) const;

    void give_back(std::byte* block);

    KvLayout layout_;
    int n_ctx_;
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<std::byte>> slabs_;  // where the blocks lie
    std::size_t fresh_ = 0;         // blocks of the last slab never yet taken
    std::vector<std::byte*> free_;  // blocks that came back
    int in_use_ = 0;
};

/// What a model remembers of one sequence: the keys and values of every position read or
/// written so far.
///
/// A cache is a list of blocks of 32 positions. Blocks are shared and counted, so a fork
/// costs nothing; whoever writes into a shared block first takes a copy of its own.
class KvCache {
public:
    /// An empty cache; Model::new_cache makes one of the right pool.
    explicit KvCache(std::shared_ptr<KvPool> pool) : pool_(std::move(pool)) {}

    /// A cache is moved, not copied: a second one is a fork.
    KvCache(KvCache&&) = default;

    /// Gives the blocks held so far back to their pool.
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

    /// Where its blocks come from. A model takes caches of its own pool only.
    const std::shared_ptr<KvPool>& pool() const { return pool_; }

    /// The block that holds positions [32 i, 32 i + 32).
    std::byte* block(int i) const { return blocks_[i].get(); }

    /// A share in that block, which must be full: nobody writes to it any more.
    std::shared_ptr<std::byte> share(int i) const { return blocks_[i]; }

    /// Appends a full block of the same pool, shared with others. size() must be a
    /// multiple of 32.
    void adopt(std::shared_ptr<std::byte> block);

    /// Makes positions [size(), size() + count) writable: takes the blocks that are
    /// missing and copies a shared one. What the cache holds does not change, also when
    /// it throws.
    /// @throws std::bad_alloc
    void reserve(int count);

    /// Declares `count` reserved positions written.
    void advance(int count) { size_ += count; }

private:
    std::shared_ptr<KvPool> pool_;
    std::vector<std::shared_ptr<std::byte>> blocks_;
    int size_ = 0;
};

}  // namespace gpt2
