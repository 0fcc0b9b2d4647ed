#include "gpt2/cuda/cpu_machine/machine.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "gpt2/cuda/cpu_machine/log.hpp"
#include "gpt2/cuda/cpu_machine/shared.hpp"

namespace simt {

Counts counts{};
Thread* current = nullptr;

/// A block that runs.
struct Block {
    uint3 index{};
    std::vector<Thread*> threads;
    unsigned at_barrier = 0;
    std::uint32_t at_operation[32] = {};  ///< by warp: the lanes that wait
    std::map<const void*, std::shared_ptr<void>> shared;
    std::size_t static_bytes = 0, dynamic_bytes = 0;

    // Places for the thread sanitizer, by turns: who is first at the next barrier must
    // not be seen by who is last to leave this one.
    char met_at_barrier[2] = {}, met_in_warp[32][2] = {};
};

/// The blocks that run, and the barrier at which those of a cooperative launch meet.
struct Grid {
    bool cooperative = false;
    std::vector<Thread*> threads;  ///< of all blocks, in the order of their turns
    std::size_t arrived = 0;
    unsigned passed = 0;      ///< barriers
    Thread* first = nullptr;  ///< who came first to the next
    Place at{};               ///< and where that is

    // For the thread sanitizer, by turns: see Block.
    char met[2] = {};
};

namespace {

constexpr std::size_t max_static = 48 << 10, max_dynamic = 227 << 10;

Order order = Order::forward;
std::mt19937 shuffler(1);

// The launch that runs: there is one at a time.
std::mutex one_at_a_time;
Fiber* host = nullptr;
const std::function<void()>* kernel_now = nullptr;
std::string failure;
Grid grid_now;

// Places for the thread sanitizer. What came before a launch comes before each of its
// threads; what a thread did comes before what follows the launch.
char launched, finished;

template <class T>
void put_in_order(std::vector<T>& all) {
    if (order == Order::reverse) std::ranges::reverse(all);
    if (order == Order::shuffled) std::ranges::shuffle(all, shuffler);
}

__attribute__((noinline, no_sanitize("thread"))) void wait() {
    release(&finished);
    Fiber::hand_on(current->fiber, *host);
}

__attribute__((noinline)) void run_kernel() {
    acquire(&launched);
    (*kernel_now)();
}

// Not instrumented: it never returns, and would leave its mark on the sanitizer's stack.
__attribute__((noinline, no_sanitize("address", "thread"))) void run_thread() {
    run_kernel();
    current->state = State::returned;
    release(&finished);
    Fiber::hand_on(current->fiber, *host, true);
}

/// Lets every thread that can run do so, round after round, until none can.
void take_turns(std::vector<Thread*>& turns) {
    put_in_order(turns);
    for (bool progress = true; progress;) {
        progress = false;
        for (Thread* thread : turns) {
            if (thread->state != State::ready) continue;
            progress = true;
            current = thread;
            threadIdx = thread->index;
            blockIdx = thread->block->index;
            Fiber::hand_on(*host, thread->fiber);
            if (!failure.empty()) return;
        }
    }
    const auto waits = [](const Thread* t) { return t->state != State::returned; };
    const auto stuck = std::ranges::find_if(turns, waits);
    if (stuck == turns.end()) return;
    say("deadlock: ");
    say(**stuck);
    say((*stuck)->state == State::at_grid_barrier ? " waits for the whole grid for ever; "
                                                  : " waits for ever; ");
    say(turns.size() - std::size_t(std::ranges::count_if(turns, waits)));
    say(" of ");
    say(turns.size());
    say(" threads have returned");
}

void check_launch(dim3 grid, dim3 block, std::size_t dynamic_bytes, bool cooperative) {
    const std::uint64_t threads = std::uint64_t(block.x) * block.y * block.z;
    if (threads == 0 || threads > 1024)
        throw Error("launch: expected 1 to 1024 threads in a block, found " +
                    std::to_string(threads));
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x >= 1u << 31 ||
        grid.y > 65535 || grid.z > 65535)
        throw Error("launch: a grid of " + std::to_string(grid.x) + " x " +
                    std::to_string(grid.y) + " x " + std::to_string(grid.z) + " blocks");
    const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
    if (cooperative && blocks > multiprocessors)
        throw Error("cooperative launch: expected at most " +
                    std::to_string(multiprocessors) +
                    " blocks, which all run at once, found " + std::to_string(blocks));
    if (dynamic_bytes > max_dynamic)
        throw Error("launch: expected at most " + std::to_string(max_dynamic) +
                    " bytes of shared memory, found " + std::to_string(dynamic_bytes));
}

}  // namespace

void set_order(Order new_order, unsigned seed) {
    order = new_order;
    shuffler.seed(seed);
}

void say(const char* text) { failure += text; }

void say(std::size_t number) { failure += std::to_string(number); }

void say(const Thread& thread) {
    const auto triple = [](const uint3& i) {
        return " (" + std::to_string(i.x) + "," + std::to_string(i.y) + "," +
               std::to_string(i.z) + ")";
    };
    failure += "block" + triple(thread.block->index) + " thread" + triple(thread.index);
    if (thread.at.file)
        failure +=
            std::string(" at ") + thread.at.file + ":" + std::to_string(thread.at.line);
}

void give_up() {
    wait();  // and nobody hands back
    std::abort();
}

void barrier(Place at) {
    const Quiet quiet;
    Thread& self = *current;
    Block& block = *self.block;
    self.state = State::at_barrier;
    self.at = at;
    char* place = &block.met_at_barrier[self.barriers % 2];
    release(place);
    if (++block.at_barrier < block.threads.size()) {
        wait();
    } else {
        count(&Counts::barriers);
        for (Thread* other : block.threads) {
            if (other->at.line != at.line)
                fail("divergent barrier: ", self, ", ", *other);
            other->state = State::ready;
            ++other->barriers;
        }
        block.at_barrier = 0;
    }
    acquire(place);
}

/// @return its number, for the wait
unsigned arrive_at_grid_barrier(Place at) {
    const Quiet quiet;
    Grid& grid = grid_now;
    Thread& self = *current;
    self.at = at;
    if (!grid.cooperative)
        fail("grid barrier in a launch that is not cooperative: ", self);
    if (grid.arrived == 0) {
        grid.first = &self;
        grid.at = at;
    } else if (grid.at.line != at.line) {
        fail("divergent grid barrier: ", self, ", ", *grid.first);
    }
    const unsigned number = grid.passed;
    release(&grid.met[number % 2]);
    ++self.barriers;  // to arrive is a barrier of the block, and so is having waited
    if (++grid.arrived == grid.threads.size()) {
        grid.arrived = 0;
        ++grid.passed;
        ++counts.grid_barriers;
        for (Thread* other : grid.threads)
            if (other->state == State::at_grid_barrier) other->state = State::ready;
    }
    return number;
}

void wait_at_grid_barrier(unsigned number) {
    const Quiet quiet;
    if (grid_now.passed == number) {
        current->state = State::at_grid_barrier;
        wait();
    }
    ++current->barriers;
    acquire(&grid_now.met[number % 2]);
}

std::uint64_t warp_operation(Operation operation, std::uint32_t mask, std::uint64_t value,
                             int source, Place at) {
    const Quiet quiet;
    Thread& self = *current;
    self.operation = operation;
    self.mask = mask;
    self.value = value;
    self.source = source;
    self.at = at;
    self.state = State::at_warp_operation;
    if (!(mask >> self.lane & 1)) fail("not in its own mask: ", self);
    char* place = &self.block->met_in_warp[self.warp][self.warp_orders % 2];
    if (operation == Operation::order) release(place);

    std::uint32_t& waiting = self.block->at_operation[self.warp];
    waiting |= 1u << self.lane;
    if ((waiting & mask) != mask) {
        wait();
    } else {
        waiting &= ~mask;
        Thread** lanes = &self.block->threads[self.warp * 32];
        for (int lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            const Thread& other = *lanes[lane];
            if (other.operation != operation || other.mask != mask ||
                other.at.line != at.line)
                fail("divergent warp operation: ", self, ", ", other);
            if (operation == Operation::shuffle && !(mask >> other.source & 1))
                fail("shuffle from lane ", std::size_t(other.source),
                     ", outside the mask: ", other);
        }
        for (int lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            Thread& other = *lanes[lane];
            if (operation == Operation::shuffle)
                other.result = lanes[other.source]->value;
            else
                ++other.warp_orders;
            other.state = State::ready;
        }
        count(&Counts::warp_operations);
        if (operation == Operation::shuffle) count(&Counts::shuffles);
    }
    if (operation == Operation::order) acquire(place);
    return self.result;
}

std::shared_ptr<void>& shared_slot(const void* key, std::size_t bytes) {
    Block& block = *current->block;
    const auto [place, is_new] = block.shared.try_emplace(key);
    if (is_new) block.static_bytes += bytes;
    if (block.static_bytes > max_static + block.dynamic_bytes)
        fail("more than ", max_static, " bytes of static shared memory: ", *current);
    return place->second;
}

std::size_t dynamic_bytes() { return current->block->dynamic_bytes; }

namespace {

bool in_order(const History::Access& earlier) {
    const Thread& self = *current;
    return !earlier.happened || earlier.number == self.number ||
           earlier.barriers < self.barriers ||
           (earlier.number / 32 == self.warp && earlier.warp_orders < self.warp_orders);
}

[[noreturn]] void race(const char* name, std::size_t i, const char* does, const char* did,
                       const History::Access& earlier) {
    fail("race on shared memory: ", *current, " and after: it ", does, name, "[", i,
         "], which thread ", std::size_t(earlier.number), did,
         " with no barrier between");
}

void note(History::Access& access) {
    access = {current->number, current->barriers, current->warp_orders, true};
}

}  // namespace

void History::on_read(const char* name, std::size_t i) {
    if (!write.happened)
        fail("shared memory read before it was written: ", name, "[", i, "]: ", *current);
    if (!in_order(write)) race(name, i, "reads ", " wrote", write);
    note(read);
    count(&Counts::shared_reads);
}

void History::on_write(const char* name, std::size_t i) {
    if (!in_order(write)) race(name, i, "writes ", " wrote", write);
    if (!in_order(read)) race(name, i, "writes ", " read", read);
    note(write);
    read = {};
    count(&Counts::shared_writes);
}

namespace {

/// Block `number` of a grid, its threads at their start.
std::unique_ptr<Block> start_block(std::uint64_t number, std::size_t dynamic_bytes,
                                   const std::unique_ptr<Thread>* threads) {
    auto block = std::make_unique<Block>();
    block->index = {unsigned(number % gridDim.x),
                    unsigned(number / gridDim.x % gridDim.y),
                    unsigned(number / gridDim.x / gridDim.y)};
    block->dynamic_bytes = dynamic_bytes;
    for (unsigned t = 0; t < blockDim.x * blockDim.y * blockDim.z; ++t) {
        Thread& thread = *threads[t];
        thread.fiber.restart(run_thread);
        thread.block = block.get();
        thread.index = {t % blockDim.x, t / blockDim.x % blockDim.y,
                        t / blockDim.x / blockDim.y};
        thread.number = t;
        thread.lane = t % 32;
        thread.warp = t / 32;
        thread.state = State::ready;
        thread.at = {};
        thread.barriers = thread.warp_orders = 0;
        block->threads.push_back(&thread);
    }
    return block;
}

}  // namespace

void run(dim3 grid, dim3 block, std::size_t dynamic_bytes, std::function<void()> kernel,
         bool cooperative) {
    check_launch(grid, block, dynamic_bytes, cooperative);
    const std::lock_guard lock(one_at_a_time);
    const Quiet quiet;
    Fiber self;
    host = &self;
    kernel_now = &kernel;
    failure.clear();
    blockDim = block;
    gridDim = grid;
    ++counts.launches;
    if (log) log->launches.push_back({grid, block, {}});
    const struct Leave {
        ~Leave() { current = nullptr; }
    } leave;

    std::vector<std::uint64_t> numbers(std::uint64_t(grid.x) * grid.y * grid.z);
    std::iota(numbers.begin(), numbers.end(), 0);
    put_in_order(numbers);
    const std::size_t at_once = cooperative ? numbers.size() : 1;

    // One block's worth more than run at once: to the thread sanitizer a block that
    // follows another is other threads.
    static std::vector<std::unique_ptr<Thread>> pool;
    const std::size_t threads = std::size_t(block.x) * block.y * block.z;
    while (pool.size() < (at_once + 1) * threads)
        pool.push_back(std::make_unique<Thread>());

    release(&launched);
    for (std::size_t first = 0; first < numbers.size(); first += at_once) {
        std::vector<std::unique_ptr<Block>> blocks;  // to the sanitizers, new memory
        grid_now = {};
        grid_now.cooperative = cooperative;
        for (std::size_t i = 0; i < at_once; ++i) {
            const std::size_t place = (first + i) % (at_once + 1) * threads;
            blocks.push_back(
                start_block(numbers[first + i], dynamic_bytes, &pool[place]));
            for (Thread* thread : blocks.back()->threads)
                grid_now.threads.push_back(thread);
        }
        take_turns(grid_now.threads);
        acquire(&finished);
        if (!failure.empty()) throw Error(failure);
    }
}

}  // namespace simt
