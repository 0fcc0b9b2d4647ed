#include "gpt2/cpu/team.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gpt2/hold_signals.hpp"

namespace gpt2::cpu {

namespace {

// A forward pass has some hundred places where the threads meet, a few microseconds
// apart. Falling asleep and being woken costs more than that, so a thread first looks
// around for a while. Between passes it falls asleep for good. Where threads must share a
// processor, the one that looks around keeps the others from working: there it sleeps at
// once.
constexpr int looks = 4000;

/// Returns once `value` is no longer `old`.
void wait_while(const std::atomic<unsigned>& value, unsigned old, bool crowded) {
    for (int i = 0; !crowded && i < looks; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
    value.wait(old, std::memory_order_acquire);
}

#ifdef __linux__

/// While it lives, the calling thread runs on the `index`-th of the processors that it
/// may use. Unpinned threads were seen to share one processor while another idled, at
/// half speed.
class Pin {
public:
    explicit Pin(int index) {
        if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        if (index >= CPU_COUNT(&before_))
            return;  // more threads than processors: let them float
        int processor = 0;
        for (; index > 0 || !CPU_ISSET(processor, &before_); ++processor)
            if (CPU_ISSET(processor, &before_)) --index;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    ~Pin() {
        if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
    }
    Pin(const Pin&) = delete;

private:
    cpu_set_t before_;
    bool pinned_ = false;
};

#else

class Pin {
public:
    explicit Pin(int) {}
};

#endif

class Team {
public:
    ~Team() {
        closing_ = true;
        start();
        for (std::thread& thread : threads_) thread.join();
    }

    void together(int count, const std::function<void(const Worker&)>& work) {
        const std::lock_guard turn(turn_);
        while (int(threads_.size()) + 1 < count) {
            const HoldSignals
                hold;  // whoever ends the program is heard by its main thread
            const int index = int(threads_.size()) + 1;
            threads_.emplace_back(
                [this, index, round = round_.load()] { serve(index, round); });
        }
        crowded_ = int(threads_.size()) + 1 > processors_;
        work_ = &work;
        count_ = count;
        back_ = 0;
        start();
        {
            const Pin pin(0);
            work(Worker{0, count});
        }
        // Every thread reports back, also those that had nothing to do: `work` and the
        // fields above must not change under their eyes.
        const unsigned all = unsigned(threads_.size());
        for (unsigned seen = back_; seen != all; seen = back_)
            wait_while(back_, seen, crowded());
    }

    void meet(int count) {
        const unsigned phase = phase_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == unsigned(count)) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.fetch_add(1, std::memory_order_release);
            phase_.notify_all();
        } else {
            wait_while(phase_, phase, crowded());
        }
    }

private:
    /// Whether there are more threads than processors.
    bool crowded() const { return crowded_.load(std::memory_order_relaxed); }

    void start() {
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
    }

    void serve(int index, unsigned round) {
        const Pin pin(index);
        for (;; ++round) {
            wait_while(round_, round, crowded());
            if (closing_) return;
            if (index < count_) (*work_)(Worker{index, count_});
            back_.fetch_add(1, std::memory_order_release);
            back_.notify_one();
        }
    }

    std::mutex turn_;
    std::vector<std::thread> threads_;
    const std::function<void(const Worker&)>* work_ = nullptr;
    int count_ = 0;
    bool closing_ = false;
    const int processors_ = processors();
    std::atomic<bool> crowded_{false};
    // Each on a cache line of its own: one thread writes while the others look.
    alignas(64) std::atomic<unsigned> round_{0};    // pieces of work started
    alignas(64) std::atomic<unsigned> back_{0};     // threads done with this one
    alignas(64) std::atomic<unsigned> arrived_{0};  // threads at the meeting point
    alignas(64) std::atomic<unsigned> phase_{0};    // meetings that have taken place
};

Team& team() {
    static Team the_team;
    return the_team;
}

}  // namespace

void Worker::wait() const {
    if (count > 1) team().meet(count);
}

// [share]
Worker::Range Worker::share(int n) const {
    return {int(long(n) * index / count), int(long(n) * (index + 1) / count)};
}
// [share]

int processors() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

void together(int threads, const std::function<void(const Worker&)>& work) {
    if (threads <= 1) {
        const Pin pin(0);
        work(Worker{0, 1});
    } else {
        team().together(threads, work);
    }
}

}  // namespace gpt2::cpu
