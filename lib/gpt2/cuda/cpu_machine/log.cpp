#include "gpt2/cuda/cpu_machine/log.hpp"

#include <map>
#include <mutex>

namespace simt {

Log* log = nullptr;

namespace {

struct Piece {
    std::size_t bytes;
    Holds holds = Holds::other;
    std::uint64_t launch = 0;        // the last one that touched it ...
    std::vector<bool> touched = {};  // ... and where: a bit for each two bytes
};

constexpr std::size_t grain = 2;  // bytes of the narrowest number

std::mutex mutex;
std::map<const std::byte*, Piece> pieces;  // by where they begin

constexpr std::uint64_t Counts::*counted[] = {
    &Counts::barriers,     &Counts::warp_operations, &Counts::shuffles,
    &Counts::shared_reads, &Counts::shared_writes,   &Counts::atomics};

// The linker may have taken the watched copy of a library's function for this file too:
// what the books do to memory is not written into the books.
bool busy = false;
struct Busy {
    Busy() { busy = true; }
    ~Busy() { busy = false; }
};

/// What the current thread does belongs here; null while nobody writes.
Stage* stage_now() {
    if (!log || !current || log->launches.empty()) return nullptr;
    std::vector<Stage>& stages = log->launches.back().stages;
    if (stages.size() <= current->barriers) stages.resize(current->barriers + 1);
    return &stages[current->barriers];
}

}  // namespace

void count(std::uint64_t Counts::*what) {
    const Quiet quiet;
    ++(counts.*what);
    if (Stage* stage = stage_now()) ++(stage->counts.*what);
}

void touched(const void* at, std::size_t bytes, bool stores) {
    if (busy) return;
    const Busy now;
    Stage* stage = stage_now();
    if (!stage) return;
    const auto* begin = static_cast<const std::byte*>(at);
    const std::lock_guard lock(mutex);
    auto found = pieces.upper_bound(begin);
    if (found == pieces.begin()) return;
    --found;
    Piece& piece = found->second;
    const auto offset = std::size_t(begin - found->first);
    if (offset >= piece.bytes) return;  // a stack, or what is the host's

    if (piece.launch != counts.launches) {
        piece.launch = counts.launches;
        piece.touched.assign(piece.bytes / grain + 1, false);
    }
    std::uint64_t first = 0;
    for (std::size_t i = offset / grain; i * grain < offset + bytes; ++i) {
        first += piece.touched[i] ? 0 : grain;
        piece.touched[i] = true;
    }
    Traffic& traffic = stage->of(piece.holds);
    if (stores) {
        traffic.stored += bytes;
    } else {
        traffic.loaded += bytes;
        traffic.first += first;
    }
}

void mark(Holds what) {
    const std::lock_guard lock(mutex);
    for (auto& [begin, piece] : pieces)
        if (piece.holds == Holds::other) piece.holds = what;
}

void add_piece(const std::byte* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    pieces[begin] = {bytes};
}

void remove_piece(const std::byte* begin) {
    const std::lock_guard lock(mutex);
    pieces.erase(begin);
}

Traffic& Traffic::operator+=(const Traffic& other) {
    loaded += other.loaded;
    first += other.first;
    stored += other.stored;
    return *this;
}

std::uint64_t Stage::stored() const {
    std::uint64_t sum = 0;
    for (const Traffic& one : traffic) sum += one.stored;
    return sum;
}

Stage& Stage::operator+=(const Stage& other) {
    for (const auto what : counted) counts.*what += other.counts.*what;
    for (std::size_t i = 0; i < traffic.size(); ++i) traffic[i] += other.traffic[i];
    return *this;
}

Stage Launch::total() const {
    Stage sum;
    for (const Stage& stage : stages) sum += stage;
    return sum;
}

Log::Log() { log = this; }
Log::~Log() { log = nullptr; }

}  // namespace simt
