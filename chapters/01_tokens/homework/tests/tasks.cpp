// What the homework of chapter 01 is graded by.

#include "../given.hpp"
#include "gpt2/load.hpp"
#include "homework/task.hpp"

namespace {

using homework::Random;
using homework::Rule;
using homework::Student;
using Pieces = std::vector<std::string>;

Pieces bytes_of(const std::string& word) {
    Pieces pieces;
    for (const char c : word) pieces.push_back(std::string(1, c));
    return pieces;
}

/// The same by another way: rank by rank, and back to the first rule whenever two
/// pieces were joined.
Pieces merged(Pieces pieces, const std::vector<Rule>& rules) {
    for (std::size_t rank = 0; rank < rules.size();) {
        Pieces next;
        for (const std::string& piece : pieces)
            if (!next.empty() && next.back() == rules[rank].left &&
                piece == rules[rank].right)
                next.back() += piece;
            else
                next.push_back(piece);
        rank = next.size() < pieces.size() ? 0 : rank + 1;
        pieces = std::move(next);
    }
    return pieces;
}

void merge(Student& student, Random& random) {
    const auto expect = [&](const char* what, const Pieces& expected,
                            const Pieces& pieces, const std::vector<Rule>& rules) {
        student.expect(what, expected, 0, pieces, rules);
    };
    expect("neighbours are joined", {"th"}, {"t", "h"}, {{"t", "h"}});
    expect("what no rule joins stays as it is", {"h", "t"}, {"h", "t"},
           {{"t", "h"}});
    expect("nothing gives nothing", {}, {}, {{"t", "h"}});
    expect("the rule that stands first goes first, wherever its pieces stand",
           {"t", "he"}, {"t", "h", "e"}, {{"h", "e"}, {"t", "h"}});
    expect("what was joined is joined again", {"the"}, {"t", "h", "e"},
           {{"t", "h"}, {"th", "e"}});
    expect("a rule that a later one has made possible is not forgotten", {"abc"},
           {"a", "b", "c"}, {{"ab", "c"}, {"a", "b"}});
    expect("every place that the rule fits is joined", {"ab", "ab"},
           {"a", "b", "a", "b"}, {{"a", "b"}});
    expect("pieces that overlap are joined from left to right", {"aa", "a"},
           {"a", "a", "a"}, {{"a", "a"}});
    for (int i = 0; i < 40; ++i) {
        Pieces word = bytes_of(std::string(std::size_t(random.whole(1, 20)), 'a'));
        for (std::string& piece : word) piece[0] = char('a' + random.whole(0, 2));
        Pieces known{"a", "b", "c"};
        std::vector<Rule> rules;
        for (int rule = random.whole(1, 12); rule > 0; --rule) {
            const auto any = [&] {
                return known[std::size_t(random.whole(0, int(known.size()) - 1))];
            };
            rules.push_back({any(), any()});
            known.push_back(rules.back().left + rules.back().right);
        }
        expect("random words and rules come out as they should", merged(word, rules),
               word, rules);
    }
}

const homework::Registered homework_01({
    .name = "01_tokens",
    .tasks = {{.name = "merge",
               .points = 10,
               .hint =
                   "Look through all neighbours for the lowest rank before you join "
                   "any. Then begin anew.",
               .hint_zh = "先把所有相邻的两块都看一遍，找出排在最前的那条规则，再动"
                          "手合并；合并完从头再找。",
               .test = merge}},
});

}  // namespace
