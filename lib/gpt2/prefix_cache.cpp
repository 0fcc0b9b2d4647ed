#include "gpt2/prefix_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "gpt2/error.hpp"

namespace gpt2 {

namespace {

int whole_blocks(std::span<const Token> tokens) {
    return int(tokens.size()) / KvLayout::positions;
}

}  // namespace

PrefixCache::Chunk PrefixCache::chunk(std::span<const Token> tokens, int i) {
    Chunk ids;
    std::ranges::copy(tokens.subspan(std::size_t(i) * ids.size(), ids.size()),
                      ids.begin());
    return ids;
}

void PrefixCache::check(const KvCache& cache) const {
    if (cache.pool() != pool_) throw BadInput("prefix cache: a cache of another model");
}

int PrefixCache::known(std::span<const Token> tokens) const {
    const Children* children = &roots_;
    for (int i = 0; i < whole_blocks(tokens); ++i) {
        const auto found = children->find(chunk(tokens, i));
        if (found == children->end()) return i;
        children = &found->second->children;
    }
    return whole_blocks(tokens);
}

// [lend]
int PrefixCache::lend(std::span<const Token> tokens, KvCache& cache) {
    check(cache);
    if (cache.size() > 0)
        throw BadInput(fmt::format(
            "prefix cache: expected an empty cache, found {} positions", cache.size()));
    std::vector<Place> path;
    Children* children = &roots_;
    for (int i = 0; i < whole_blocks(tokens); ++i) {
        const auto found = children->find(chunk(tokens, i));
        if (found == children->end()) break;
        path.push_back(found->second);
        children = &found->second->children;
    }
    for (const Place& node : path) cache.adopt(node->block);
    touch(path);
    return cache.size();
}
// [lend]

int PrefixCache::keep(std::span<const Token> tokens, const KvCache& cache) {
    check(cache);
    if (std::size_t(cache.size()) < tokens.size())
        throw BadInput(
            fmt::format("prefix cache: expected a cache of {} positions, found {}",
                        tokens.size(), cache.size()));
    std::vector<Place> path;
    Children* children = &roots_;
    int fresh = 0;
    for (int i = 0; i < whole_blocks(tokens); ++i) {
        const Chunk ids = chunk(tokens, i);
        auto found = children->find(ids);
        if (found == children->end()) {
            nodes_.push_front({ids, cache.share(i), children, {}});
            try {
                found = children->emplace(ids, nodes_.begin()).first;
            } catch (...) {
                nodes_.pop_front();
                throw;
            }
            ++fresh;
        }
        path.push_back(found->second);
        children = &found->second->children;
    }
    touch(path);
    return fresh;
}

void PrefixCache::touch(std::span<const Place> path) {
    for (const Place& node : path | std::views::reverse)
        nodes_.splice(nodes_.begin(), nodes_, node);
}

// [drop]
int PrefixCache::drop(int count) {
    int dropped = 0;
    for (Place node = nodes_.end(); node != nodes_.begin() && dropped < count;) {
        --node;
        // A cache that uses a node uses all above it. So one that is free has only free
        // ones below, and they came before it in this walk: it is a tip by now.
        if (node->block.use_count() > 1) continue;
        node->among->erase(node->tokens);
        node = nodes_.erase(node);
        ++dropped;
    }
    return dropped;
}
// [drop]

}  // namespace gpt2
