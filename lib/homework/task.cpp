#include "homework/task.hpp"

#include "gpt2/philox.hpp"

namespace homework {

Random::Random(std::uint64_t seed, const std::string& stream) : seed_(seed) {
    for (const char c : stream)  // FNV-1a
        stream_ = (stream_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

double Random::real(double least, double most) {
    return least + (most - least) * gpt2::uniform(seed_, stream_, drawn_++);
}

int Random::whole(int least, int most) {
    return int(std::floor(real(least, double(most) + 1)));
}

std::vector<float> Random::floats(std::size_t count) {
    std::vector<float> all(count);
    for (float& x : all) x = float(real(-1, 1));
    return all;
}

namespace {

std::vector<Chapter>& all() {
    static std::vector<Chapter> chapters;
    return chapters;
}

}  // namespace

Registered::Registered(Chapter chapter) {
    const auto before = [](const Chapter& a, const Chapter& b) {
        return a.name < b.name;
    };
    auto& chapters = all();
    chapters.insert(std::ranges::upper_bound(chapters, chapter, before),
                    std::move(chapter));
}

const std::vector<Chapter>& chapters() { return all(); }

}  // namespace homework
