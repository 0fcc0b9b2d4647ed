#include "gpt2/kv_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpt2/buffer.hpp"
#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

/// Blocks that are asked of the system together, some 16 MiB: a block alone, 2.25 MiB at
/// GPT-2 small's shape, would lie in pages of 4 KiB, and every head's 8 KiB of it begin
/// with a search for its pages.
std::size_t blocks_per_slab(std::size_t block_bytes) {
    constexpr std::size_t slab = std::size_t(16) << 20;
    return std::max<std::size_t>(1, slab / block_bytes);
}

}  // namespace

KvLayout::KvLayout(const Config& config, DType type)
    : n_layer(config.n_layer),
      n_head(config.n_head),
      head_dim(config.head_dim()),
      head_stride((config.head_dim() + 15) / 16 * 16),
      dtype(type) {}

// A block holds the keys of all layers and heads, then the values of all.

std::size_t KvLayout::keys(int layer, int head) const {
    return (std::size_t(layer) * n_head + head) * head_dim * positions;
}

std::size_t KvLayout::values(int layer, int head) const {
    return keys(n_layer, 0) +
           (std::size_t(layer) * n_head + head) * head_stride * positions;
}

std::size_t KvLayout::block_elements() const { return values(n_layer, 0); }

std::size_t KvLayout::bytes_per_token() const {
    return std::size_t(2) * n_layer * n_head * head_dim * size_of(dtype);
}

KvPool::KvPool(const Config& config, DType dtype)
    : layout_(config, dtype), n_ctx_(config.n_ctx) {}

std::shared_ptr<std::byte> KvPool::take() {
    const std::size_t bytes = layout_.block_bytes();
    std::byte* block = nullptr;
    {
        const std::lock_guard lock(mutex_);
        // Room for every block to come back, so that giving one back cannot fail.
        free_.reserve(free_.size() + std::size_t(in_use_) + 1);
        if (!free_.empty()) {
            block = free_.back();
            free_.pop_back();
        } else {
            if (fresh_ == 0) {
                const std::size_t blocks = blocks_per_slab(bytes);
                slabs_.push_back(allocate(blocks * bytes));
                fresh_ = blocks;
            }
            block = slabs_.back().get() + --fresh_ * bytes;
            clear(block);  // what pads a head's values stays zero
        }
        ++in_use_;
    }
    try {
        return {block, [pool = shared_from_this()](std::byte* b) { pool->give_back(b); }};
    } catch (...) {
        give_back(block);
        throw;
    }
}

std::shared_ptr<std::byte> KvPool::allocate(std::size_t bytes) const {
    const auto memory = std::make_shared<const Buffer<std::byte>>(bytes);
    return {memory, memory->data()};
}

void KvPool::clear(std::byte* block) const {
    std::memset(block, 0, layout_.block_bytes());
}

void KvPool::copy(std::byte* to, const std::byte* from) const {
    std::memcpy(to, from, layout_.block_bytes());
}

void KvPool::give_back(std::byte* block) {
    const std::lock_guard lock(mutex_);
    free_.push_back(block);
    --in_use_;
}

int KvPool::blocks_in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use_;
}

void KvCache::truncate(int size) {
    if (size < 0 || size > size_)
        throw BadInput(
            fmt::format("cache: truncate: expected 0 to {}, found {}", size_, size));
    size_ = size;
    blocks_.resize(KvLayout::blocks_for(size));
}

KvCache KvCache::fork() const {
    KvCache copy(pool_);
    copy.blocks_.assign(blocks_.begin(), blocks_.begin() + KvLayout::blocks_for(size_));
    copy.size_ = size_;
    return copy;
}

void KvCache::adopt(std::shared_ptr<std::byte> block) {
    blocks_.resize(size_ / KvLayout::positions);  // what was reserved and not written
    blocks_.push_back(std::move(block));
    size_ += KvLayout::positions;
}

// [reserve]
void KvCache::reserve(int count) {
    if (count == 0) return;
    // Only the block that `size_` falls into can be both shared and about to be written.
    const int open = size_ / KvLayout::positions;
    if (open < int(blocks_.size()) && blocks_[open].use_count() > 1) {
        std::shared_ptr<std::byte> own = pool_->take();
        pool_->copy(own.get(), blocks_[open].get());
        blocks_[open] = std::move(own);
    }
    while (int(blocks_.size()) < KvLayout::blocks_for(size_ + count))
        blocks_.push_back(pool_->take());
}
// [reserve]

}  // namespace gpt2
