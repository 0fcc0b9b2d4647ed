#include "gpt2/cpu/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace gpt2::cpu;

TEST(Team, SharesAreEvenAndComplete) {
    for (int count = 1; count <= 9; ++count)
        for (int n = 0; n < 40; ++n) {
            int next = 0;
            for (int i = 0; i < count; ++i) {
                const auto [begin, end] = Worker{i, count}.share(n);
                EXPECT_EQ(begin, next);
                EXPECT_GE(end - begin, n / count);
                EXPECT_LE(end - begin, n / count + 1);
                next = end;
            }
            EXPECT_EQ(next, n);
        }
}

TEST(Team, EveryoneWaitsForEveryone) {
    for (const int threads : {1, 2, 3, 7, 2, 1}) {
        std::vector<int> slots(threads, 0);
        std::atomic<int> wrong{0};
        together(threads, [&](const Worker& worker) {
            for (int round = 1; round <= 200; ++round) {
                slots[worker.index] = round;  // not atomic: the wait is what orders it
                worker.wait();
                for (const int slot : slots) wrong += slot != round;
                worker.wait();
            }
        });
        EXPECT_EQ(wrong, 0) << threads << " threads";
    }
}

TEST(Team, RunsEachWorkerOnce) {
    for (int threads = 1; threads <= 5; ++threads) {
        std::vector<std::atomic<int>> runs(threads);
        for (int i = 0; i < 50; ++i)
            together(threads, [&](const Worker& worker) {
                EXPECT_EQ(worker.count, threads);
                ++runs[worker.index];
            });
        for (const auto& n : runs) EXPECT_EQ(n, 50);
    }
}

TEST(Team, CallersTakeTurns) {
    std::atomic<int> inside{0}, overlaps{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            for (int k = 0; k < 50; ++k)
                together(3, [&](const Worker& worker) {
                    if (worker.index == 0 && ++inside != 1) ++overlaps;
                    worker.wait();
                    if (worker.index == 0) --inside;
                });
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(overlaps, 0);
}

TEST(Team, LeavesTheCallersProcessorsAlone) {
    const int before = processors();
    together(2, [](const Worker&) {});
    EXPECT_EQ(processors(), before);
}
