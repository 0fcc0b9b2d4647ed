#include "gpt2/kv_cache.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

constexpr std::align_val_t cache_line{64};

int blocks_for(int positions) {
    return (positions + KvLayout::positions - 1) / KvLayout::positions;
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

KvPool::~KvPool() {
    for (std::byte* block : free_) ::operator delete(block, cache_line);
}

std::shared_ptr<std::byte> KvPool::take() {
    std::byte* block = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            block = free_.back();
            free_.pop_back();
        }
        // Room for every block to come back, so that giving one back cannot fail.
        free_.reserve(free_.size() + in_use_ + 1);
        ++in_use_;
    }
    try {
        if (!block) {
            block = static_cast<std::byte*>(
                ::operator new(layout_.block_bytes(), cache_line));
            std::memset(block, 0, layout_.block_bytes());
        }
        return {block, [pool = shared_from_this()](std::byte* b) { pool->give_back(b); }};
    } catch (...) {
        const std::lock_guard lock(mutex_);
        --in_use_;
        throw;
    }
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
    blocks_.resize(blocks_for(size));
}

KvCache KvCache::fork() const {
    KvCache copy(pool_);
    copy.blocks_.assign(blocks_.begin(), blocks_.begin() + blocks_for(size_));
    copy.size_ = size_;
    return copy;
}

// [reserve]
void KvCache::reserve(int count) {
    if (count == 0) return;
    // Only the block that `size_` falls into can be both shared and about to be written.
    const int open = size_ / KvLayout::positions;
    if (open < int(blocks_.size()) && blocks_[open].use_count() > 1) {
        std::shared_ptr<std::byte> own = pool_->take();
        std::memcpy(own.get(), blocks_[open].get(), pool_->layout().block_bytes());
        blocks_[open] = std::move(own);
    }
    while (int(blocks_.size()) < blocks_for(size_ + count))
        blocks_.push_back(pool_->take());
}
// [reserve]

}  // namespace gpt2
