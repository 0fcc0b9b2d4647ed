#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <span>

#include "gpt2/kv_cache.hpp"
#include "gpt2/token.hpp"

namespace gpt2 {

/// The openings that a model has read, kept for the next text that begins alike.
///
/// A radix tree over token ids. A node stands for 32 tokens behind those of its parent,
/// and owns a share in the block with their keys and values. Whoever looks for an opening
/// walks down from the root and compares ids, all of them: no hash is asked, so none can
/// deceive. What lies below the first difference is not found, for those keys and values
/// were made behind other tokens.
///
/// Only whole blocks are kept, and a whole block is never written again. So one can be in
/// the tree and in many caches at once, and a hit copies nothing. It costs at most 31
/// tokens at the end of an opening, which are read again. Sources: SGLang's radix tree
/// (Zheng et al. 2024), vLLM's shared blocks (Kwon et al. 2023).
class PrefixCache {
public:
    /// An empty tree, for the blocks of one model.
    explicit PrefixCache(std::shared_ptr<KvPool> pool) : pool_(std::move(pool)) {}

    /// Its nodes point at one another.
    PrefixCache(const PrefixCache&) = delete;

    /// Blocks that it holds, whoever else uses them.
    int blocks() const { return int(nodes_.size()); }

    /// How many whole blocks, from the start of `tokens`, it knows.
    int known(std::span<const Token> tokens) const;

    /// Fills an empty cache with all that it knows from the start of `tokens`.
    /// @return positions, a multiple of 32
    /// @throws BadInput for a cache that is not empty, or that is another model's.
    int lend(std::span<const Token> tokens, KvCache& cache);

    /// Keeps the whole blocks of a cache that holds `tokens`.
    /// @return how many it did not know yet: those it now shares with the cache
    /// @throws BadInput for a cache with fewer positions, or of another model.
    int keep(std::span<const Token> tokens, const KvCache& cache);

    /// Drops up to `count` blocks that no cache uses: whole branches from their tips, the
    /// one used least recently first.
    /// @return how many it dropped
    int drop(int count);

private:
    using Chunk = std::array<Token, KvLayout::positions>;
    struct Node;
    using Place = std::list<Node>::iterator;
    using Children = std::map<Chunk, Place>;  // compared id by id
    struct Node {
        Chunk tokens;
        std::shared_ptr<std::byte> block;
        Children* among;    // where its parent lists it
        Children children;  // the texts that went on behind it
    };

    static Chunk chunk(std::span<const Token> tokens, int i);
    void check(const KvCache& cache) const;
    void touch(std::span<const Place> path);

    std::shared_ptr<KvPool> pool_;
    Children roots_;
    // All nodes, the one used last in front. A node comes before its children: whoever
    // uses them uses it too.
    std::list<Node> nodes_;
};

}  // namespace gpt2
