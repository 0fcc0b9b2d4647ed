// What the homework of chapter 09 is graded by.

#include <map>
#include <numeric>
#include <stdexcept>

#include "../given.hpp"
#include "gpt2/prefix_cache.hpp"
#include "homework/task.hpp"

namespace {

using homework::Node;
using homework::Random;
using homework::Student;
using Tree = std::vector<Node>;
using Text = std::vector<int>;

Text join(Text a, const Text& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Ids that count up from `first`.
Text count_up(int first, int count) {
    Text text(std::size_t(count), 0);
    std::iota(text.begin(), text.end(), first);
    return text;
}

/// The tree that these texts leave behind, by another way: each opening of whole
/// blocks is a node, whoever it comes from.
Tree tree_of(const std::vector<Text>& texts) {
    Tree tree(1);
    std::map<Text, int> places{{{}, 0}};
    for (const Text& text : texts) {
        int parent = 0;
        for (auto end = text.begin(); text.end() - end >= homework::block;) {
            const Text last(end, end + homework::block);
            end += homework::block;
            const auto [place, fresh] =
                places.emplace(Text(text.begin(), end), int(tree.size()));
            if (fresh) {
                tree[std::size_t(parent)].children.push_back(place->second);
                tree.push_back({last, {}});
            }
            parent = place->second;
        }
    }
    return tree;
}

/// The library's prefix cache, asked the same.
class Library {
public:
    explicit Library(const std::vector<Text>& texts) {
        for (const Text& text : texts) {
            gpt2::KvCache cache(pool_);
            cache.reserve(int(text.size()));
            cache.advance(int(text.size()));
            tree_.keep(text, cache);
        }
    }
    int known(const Text& prompt) const {
        return tree_.known(std::span(prompt).first(prompt.size() - 1)) *
               homework::block;
    }
    int blocks() const { return tree_.blocks(); }

private:
    static constexpr gpt2::Config config{
        .n_vocab = 1, .n_ctx = 1024, .n_embd = 1, .n_layer = 1, .n_head = 1};
    std::shared_ptr<gpt2::KvPool> pool_ =
        std::make_shared<gpt2::KvPool>(config, gpt2::DType::f32);
    gpt2::PrefixCache tree_{pool_};
};

/// Texts that begin as others do: each goes on where a part of another one ends, by
/// few different blocks.
std::vector<Text> related(Random& random, int count) {
    std::vector<Text> texts{{}};
    while (int(texts.size()) <= count) {
        const auto any = std::size_t(random.whole(0, int(texts.size()) - 1));
        Text text = texts[any];
        text.resize(std::size_t(random.whole(0, int(text.size()))));
        for (int i = random.whole(0, 3); i > 0; --i)
            text = join(text, count_up(1000 * random.whole(0, 2), 32));
        texts.push_back(join(text, count_up(7, random.whole(0, 40))));
        if (texts.back().size() > 1000) texts.back().resize(1000);
    }
    texts.erase(texts.begin());
    return texts;
}

void known(Student& student, Random& random) {
    const auto expect = [&](const char* what, int expected,
                            const std::vector<Text>& texts, const Text& prompt) {
        student.expect(what, expected, 0, tree_of(texts), prompt);
    };
    const Text a = count_up(100, 32), b = count_up(200, 32), c = count_up(300, 32);
    expect("an empty tree knows nothing", 0, {}, join(a, b));
    expect("what was read is known", 64, {join(a, b)}, join(join(a, b), {7}));
    Text other = join(a, b);
    other[40] = 7;
    expect("only whole blocks are known", 32, {join(a, b)}, join(other, {7}));
    expect("the last token is always read", 32, {join(a, b)}, join(a, b));
    expect("every child of a node may be the one", 64, {join(a, b), join(a, c)},
           join(join(a, c), {7}));
    expect("a block is known only behind the blocks that it was read behind", 32,
           {join(a, b), join(c, b)}, join(join(a, c), b));
    expect("what lies behind a difference is not known", 0, {join(join(a, b), c)},
           join(join(c, b), c));
    Text mixed = a;
    std::swap(mixed[3], mixed[4]);
    expect("all ids are compared, in order", 0, {a}, join(mixed, {7}));
    Text far = a;
    far[31] += 256;
    expect("ids are compared, not characters", 0, {a}, join(far, {7}));
    for (int i = 0; i < 40; ++i) {
        const std::vector<Text> texts = related(random, random.whole(1, 12));
        Text prompt = related(random, 6).back();
        if (random.whole(0, 3) > 0)
            prompt = texts[std::size_t(random.whole(0, int(texts.size()) - 1))];
        if (prompt.empty()) prompt = {7};
        expect("random trees know what the library's knows",
               Library(texts).known(prompt), texts, prompt);
    }
}

void keep(Student& student, Random& random) {
    const auto expect = [&](const char* what, std::vector<Text> texts,
                            const Text& text) {
        const Tree before = tree_of(texts);
        texts.push_back(text);
        student.expect(what, tree_of(texts), 0, before, text);
    };
    const Text a = count_up(100, 32), b = count_up(200, 32), c = count_up(300, 32);
    expect("a block becomes a child of the root", {}, a);
    expect("the second block becomes a child of the first", {}, join(a, b));
    expect("what is left behind the last whole block is not kept", {},
           join(a, count_up(7, 31)));
    expect("what the tree knows is not added again", {join(a, b)}, join(a, b));
    expect("texts that begin alike share their beginning", {join(a, b)}, join(a, c));
    expect("the same block behind another one is another node", {join(a, b)},
           join(c, b));
    expect("nothing of a short text is kept", {a}, count_up(100, 31));
    for (int i = 0; i < 40; ++i) {
        std::vector<Text> texts = related(random, random.whole(1, 12));
        const Text last = texts.back();
        // The other way and the library must agree, or neither is to be trusted.
        if (int(tree_of(texts).size()) != Library(texts).blocks() + 1)
            throw std::logic_error("two ways to keep texts disagree");
        texts.pop_back();
        expect("random texts are kept as they should", texts, last);
    }
}

const homework::Registered homework_09({
    .name = "09_prefix_cache",
    .tasks =
        {{.name = "known",
          .points = 5,
          .hint = "Stand at the root and take one block of the prompt at a time. "
                  "Which nodes may come next from where you stand? Where must you "
                  "stop at the latest?",
          .hint_zh = "从根出发，提示词一次走一块。站在当前这个节点上，下一步能去哪些"
                     "节点？最迟在哪儿必须停下？",
          .test = known},
         {.name = "keep",
          .points = 5,
          .hint = "The walk is the same as in known, without its last token. Only "
                  "what happens where no child fits is new.",
          .hint_zh = "走法和 known 一样，只是不用留出最后一个 token。新鲜的只有一"
                     "处：没有合适的子节点时该做什么。",
          .test = keep}},
});

}  // namespace
