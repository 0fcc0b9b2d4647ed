#include "lab/ceilings.hpp"

#include <hwy/highway.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <vector>

#include "gpt2/cpu/team.hpp"
#include "gpt2/error.hpp"
#include "lab/machine_info.hpp"
#include "lab/measured.hpp"

namespace lab {

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Steady = std::chrono::steady_clock;
using gpt2::cpu::Worker;

double seconds_since(Steady::time_point start) {
    return std::chrono::duration<double>(Steady::now() - start).count();
}

constexpr std::size_t huge_page = std::size_t(2) << 20;

/// How often `turn` is done in a second, by all threads together: the sum of each one's
/// median over the repeats, which all begin at the same time. There are at least nine,
/// and they go on for `least_seconds`.
double turns_per_second(int threads, int warm_up, double least_seconds,
                        const std::function<void(const Worker&)>& turn) {
    std::vector<std::vector<double>> seconds(static_cast<std::size_t>(threads));
    bool enough = false;
    gpt2::cpu::together(threads, [&](const Worker& worker) {
        const auto begin = Steady::now();
        for (int repeat = 0; !enough; ++repeat) {
            worker.wait();
            const auto start = Steady::now();
            turn(worker);
            if (repeat >= warm_up)
                seconds[std::size_t(worker.index)].push_back(seconds_since(start));
            worker.wait();
            // Three repeats must do in a debug build, where each takes long.
            const double passed = seconds_since(begin);
            if (worker.index == 0)
                enough = (repeat >= warm_up + 8 && passed > least_seconds) ||
                         (repeat >= warm_up + 2 && passed > least_seconds + 1);
            worker.wait();
        }
    });
    double turns = 0;
    for (std::vector<double>& own : seconds)
        turns += 1 / summarize(std::move(own)).median;
    return turns;
}

/// Memory fresh from the system, in huge pages where there are any: with small ones the
/// search for the page would be measured too.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<std::uint32_t*>(got);
#ifdef MADV_HUGEPAGE
        madvise(got, bytes, MADV_HUGEPAGE);  // a wish: refusing it does no harm
#endif
    }
    ~Pages() { munmap(data_, bytes_); }
    Pages(const Pages&) = delete;

    std::uint32_t* data() const { return data_; }

private:
    std::uint32_t* data_;
    std::size_t bytes_;
};

/// The sum of `count` numbers in two halves side by side, so that two streams of cache
/// lines are under way at once. `count` is a multiple of 128.
std::uint64_t sum_in_two_streams(const std::uint32_t* data, std::size_t count) {
    const hn::CappedTag<std::uint32_t, 16> d;
    const std::size_t lanes = hn::Lanes(d), half = count / 2;
    auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0;
    const std::uint32_t* const other = data + half;
    for (std::size_t i = 0; i < half; i += 2 * lanes) {
        a0 = hn::Add(a0, hn::Load(d, data + i));
        b0 = hn::Add(b0, hn::Load(d, other + i));
        a1 = hn::Add(a1, hn::Load(d, data + i + lanes));
        b1 = hn::Add(b1, hn::Load(d, other + i + lanes));
    }
    alignas(64) std::uint32_t lane[16] = {};
    hn::Store(hn::Add(hn::Add(a0, a1), hn::Add(b0, b1)), d, lane);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < lanes; ++i) sum += lane[i];
    return sum;
}

/// Bytes to read: several times the largest cache, at most half a GiB (some machines
/// report the caches of processors that they do not have), at most a quarter of the
/// memory, in whole huge pages for every thread.
std::size_t bytes_per_thread(int threads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    // Every access is looked up in a table: the figure means nothing, and takes long.
    return 2 * huge_page;
#endif
    std::size_t all = std::size_t(256) << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) all = std::clamp(4 * std::size_t(cache), all, 2 * all);
#endif
    const std::size_t memory = std::size_t(memory_bytes());
    if (memory > 0) all = std::min(all, memory / 4);
    const std::size_t share = all / std::size_t(threads) / huge_page * huge_page;
    return std::max(share, huge_page);
}

/// Threads that take turns on one processor would each seem to have it alone.
int at_once(int threads) { return std::min(threads, gpt2::cpu::processors()); }

/// Bytes per second, where each thread reads `share` bytes of its own again and again.
double read_again_and_again(int threads, std::size_t share, double least_seconds) {
    const std::size_t count = share / sizeof(std::uint32_t);
    const Pages pages(share * std::size_t(threads));
    // A page that was never written is one shared page of zeros. Whoever writes it first
    // gets it near its own processor.
    gpt2::cpu::together(threads, [&](const Worker& worker) {
        std::uint32_t* const own = pages.data() + std::size_t(worker.index) * count;
        for (std::size_t i = 0; i < count; ++i) own[i] = 1;
    });
    std::vector<std::uint64_t> sums(std::size_t(threads), 0);
    const double turns =
        turns_per_second(threads, 1, least_seconds, [&](const Worker& worker) {
            const auto index = std::size_t(worker.index);
            sums[index] = sum_in_two_streams(pages.data() + index * count, count);
        });
    // Reading that nobody looks at may be left out by the compiler.
    for (const std::uint64_t sum : sums)
        if (sum != count)
            throw gpt2::Error("ceilings: memory was not read back as written");
    return turns * double(share);
}

/// Multiply-adds in twelve chains, `rounds` in each; returns one lane's sum, which nears
/// 24. A chain waits four or five cycles for its own result and a processor begins up to
/// two multiply-adds a cycle, so ten chains keep it busy; twelve and the two constants
/// still fit the sixteen registers of AVX2.
float multiply_add_chains(std::int64_t rounds) {
    // Read and written at run time, in this order, as far as the compiler knows: it can
    // neither leave the work out nor move it past a look at the clock.
    volatile float start = 1;
    const hn::CappedTag<float, 16> d;
    const auto factor = hn::Set(d, 0.5f), addend = hn::Set(d, start);
    // Chains that start alike are one chain to a good compiler.
    auto a = hn::Set(d, start), b = hn::Add(a, a), c = hn::Add(b, a), e = hn::Add(c, a);
    auto f = hn::Add(e, a), g = hn::Add(f, a), h = hn::Add(g, a), i = hn::Add(h, a);
    auto j = hn::Add(i, a), k = hn::Add(j, a), l = hn::Add(k, a), m = hn::Add(l, a);
    for (std::int64_t round = 0; round < rounds; ++round) {
        a = hn::MulAdd(a, factor, addend);
        b = hn::MulAdd(b, factor, addend);
        c = hn::MulAdd(c, factor, addend);
        e = hn::MulAdd(e, factor, addend);
        f = hn::MulAdd(f, factor, addend);
        g = hn::MulAdd(g, factor, addend);
        h = hn::MulAdd(h, factor, addend);
        i = hn::MulAdd(i, factor, addend);
        j = hn::MulAdd(j, factor, addend);
        k = hn::MulAdd(k, factor, addend);
        l = hn::MulAdd(l, factor, addend);
        m = hn::MulAdd(m, factor, addend);
    }
    const auto left = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g));
    const auto right = hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m));
    volatile float sum = hn::GetLane(hn::Add(left, right));
    return sum;
}

/// Rounds that keep one thread busy for some 30 milliseconds.
std::int64_t rounds_for_a_repeat() {
    for (std::int64_t rounds = 1000;; rounds *= 2) {
        const auto start = Steady::now();
        multiply_add_chains(rounds);
        if (seconds_since(start) > 0.01) return 2 * rounds;
    }
}

}  // namespace

double measure_multiply_add_peak(int threads) {
    threads = at_once(threads);
    constexpr int chains = 12, warm_up = 2;
    const double lanes = double(hn::Lanes(hn::CappedTag<float, 16>()));
    const std::int64_t rounds = rounds_for_a_repeat();
    std::vector<float> sums(std::size_t(threads), 0);
    // The clock rises under load: the first two repeats warm up.
    const double turns = turns_per_second(threads, warm_up, 0, [&](const Worker& worker) {
        sums[std::size_t(worker.index)] = multiply_add_chains(rounds);
    });
    for (const float sum : sums)
        if (!(sum > 23.9f && sum < 24.1f))
            throw gpt2::Error("ceilings: a multiply-add gave a wrong result");
    return turns * 2 * chains * lanes * double(rounds);
}

double measure_read_bandwidth(int threads, double seconds) {
    threads = at_once(threads);
    return read_again_and_again(threads, bytes_per_thread(threads), seconds);
}

ledger::Machine measure_ceilings(int threads) {
    ledger::Machine machine{.read_bandwidth = measure_read_bandwidth(threads),
                            .multiply_add_peak = measure_multiply_add_peak(threads),
                            .threads = threads};
    const auto readers = std::size_t(at_once(threads));
    for (std::size_t all = std::size_t(8) << 20; all <= std::size_t(128) << 20;
         all *= 2) {
        // In whole rounds of the loop that adds up.
        constexpr std::size_t round = 128 * sizeof(std::uint32_t);
        const std::size_t share = all / readers / round * round;
        const double bandwidth = read_again_and_again(int(readers), share, 0.05);
        if (bandwidth < 1.5 * machine.read_bandwidth) break;
        machine.cache_bytes = double(share * readers);
        machine.cache_bandwidth = bandwidth;
    }
    return machine;
}

}  // namespace lab
