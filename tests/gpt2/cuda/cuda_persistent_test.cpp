// Decoding by the kernel that stays: it writes what the loop over forward writes, in one
// launch, whatever the order of blocks and threads. And what may go wrong at a barrier
// over the whole grid is told apart.

#include <gmock/gmock.h>

#include "device_support.hpp"
#include "gpt2/cuda/engine.hpp"
#include "gpt2/sampler.hpp"
#include "support.hpp"

using namespace gpt2;
using testing::AllOf;
using testing::HasSubstr;

namespace {

SamplerOptions warm() {
    SamplerOptions options;
    options.temperature = 0.8f;
    options.top_k = 50;
    options.top_p = 0.9f;
    return options;
}

/// Writes behind a prompt, and by the loop over forward in the same model. The tokens
/// must be equal; so must be what the next token makes of the two caches, but for
/// rounding.
void check(const Config& config, int prompt, int count, const SamplerOptions& options,
           DType dtype = DType::f32, DType kv = DType::f32) {
    const auto weights = random_weights(config, unsigned(prompt + count));
    const auto model = cuda::load_emulated(*weights, dtype, kv, cuda::Decode::persistent);
    const Sampler sampler(options);
    KvCache a = model->new_cache(), b = model->new_cache();
    if (prompt > 0) {
        const auto tokens = support::random_tokens(prompt, config.n_vocab, 3);
        model->forward(tokens, a, Rows::none);
        b = a.fork();
    }
    std::vector<Token> written, expected = {3};
    model->write(a, 3, count, sampler, [&](Token token) {
        written.push_back(token);
        return true;
    });
    for (int i = 1; i < count; ++i) {
        const Logits logits = model->forward(std::span(&expected.back(), 1), b);
        expected.push_back(sampler.pick(logits[0], 0, std::uint64_t(b.size())));
    }
    EXPECT_EQ(written, expected);
    ASSERT_EQ(a.size(), b.size());
    if (a.size() == config.n_ctx) return;
    const std::vector<Token> next = {4};
    const Logits one = model->forward(next, a), other = model->forward(next, b);
    float scale = 0;
    for (const float x : other[0]) scale = std::max(scale, std::abs(x));
    // Near a limit of f16 a key may round the other way.
    const float bound = scale * (kv == DType::f16 ? 2e-3f : 1e-5f);
    for (int id = 0; id < config.n_vocab; ++id)
        ASSERT_NEAR(one[0][std::size_t(id)], other[0][std::size_t(id)], bound);
}

// Kernels for the grid's barrier
// ------------------------------

constexpr unsigned threads = 64, blocks = 4;

/// Right: every block reads what its neighbour has written.
__global__ void pass_on(float* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = float(blockIdx.x + 1);
    simt::sync_grid([] {});
    const float next = out[(blockIdx.x + 1) % gridDim.x];
    simt::sync_grid([] {});
    if (threadIdx.x == 0) out[blockIdx.x] = next;
}

__global__ void no_grid_barrier(float* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = float(blockIdx.x + 1);
    const float next = out[(blockIdx.x + 1) % gridDim.x];
    simt::sync_grid([] {});
    if (threadIdx.x == 0) out[blockIdx.x] = next;
}

[[maybe_unused]] __global__ void too_early_meanwhile(float* out) {
    float next = 0;
    if (threadIdx.x == 0) out[blockIdx.x] = float(blockIdx.x + 1);
    simt::sync_grid([&] { next = out[(blockIdx.x + 1) % gridDim.x]; });
    simt::sync_grid([] {});
    if (threadIdx.x == 0) out[blockIdx.x] = next;
}

__global__ void a_block_leaves(float* out) {
    if (blockIdx.x == 2) return;
    simt::sync_grid([] {});
    out[blockIdx.x] = 1;
}

__global__ void two_grid_barriers(float* out) {
    if (blockIdx.x == 0)
        simt::sync_grid([] {});
    else
        simt::sync_grid([] {});
    out[blockIdx.x] = 1;
}

using Kernel = void (*)(float*);

/// What the machine says of a cooperative launch, or an ordinary one.
std::string said_of(Kernel kernel, std::vector<float>* found = nullptr,
                    bool together = true, unsigned grid = blocks) {
    const auto out = support::on_device(std::vector<float>(grid));
    cuda::Stream stream;
    try {
        if (together)
            stream.launch_together(kernel, dim3(grid), dim3(threads), 0, out.data());
        else
            stream.launch(kernel, dim3(grid), dim3(threads), 0, out.data());
    } catch (const simt::Error& error) {
        return error.what();
    }
    if (found) *found = support::on_host(out);
    return "nothing";
}

const std::vector<float> passed_on = {2, 3, 4, 1};

}  // namespace

TEST(CudaPersistent, WritesWhatTheLoopWritesInEveryOrder) {
    support::in_every_order([] {
        for (const SamplerOptions& options : {SamplerOptions{}, warm()})
            check({130, 96, 48, 2, 3}, 7, 5, options);
    });
}

TEST(CudaPersistent, InEveryType) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const DType kv : {DType::f32, DType::f16})
            check({97, 64, 24, 2, 2}, 5, 4, warm(), dtype, kv);
}

// Heads that fill no warp; more and fewer heads than blocks; contexts that end within a
// block of the cache, at its end, and at the last position there is.
TEST(CudaPersistent, AwkwardShapes) {
    check({33, 40, 60, 1, 12}, 0, 4, {});
    check({33, 70, 80, 1, 16}, 31, 5, {});
    check({33, 70, 60, 1, 20}, 63, 4, warm());
    check({33, 40, 75, 1, 25}, 1, 4, {});
    check({33, 40, 64, 1, 1}, 27, 14, {});  // two launches, to the end of the context
    check({40, 1024, 16, 1, 2}, 1018, 7, warm());
}

// The widest head that the kernel takes is 64 channels; the graph does the rest.
TEST(CudaPersistent, LeavesTheRestToTheGraph) {
    const auto launches = [](const Config& config) {
        const auto weights = random_weights(config, 1);
        const auto model = cuda::load_emulated(*weights, DType::f32, DType::f32,
                                               cuda::Decode::persistent);
        KvCache cache = model->new_cache();
        std::uint64_t before = 0;
        std::vector<std::uint64_t> counts;
        model->write(cache, 1, 5, {}, [&](Token) {
            before = simt::counts.launches;
            counts.push_back(before);
            return true;
        });
        return counts.back() - counts[1];
    };
    EXPECT_EQ(launches({33, 40, 64, 2, 1}), 1u);
    EXPECT_EQ(launches({33, 40, 65, 2, 1}), 3u * (2 * 5 + 3));
    check({33, 40, 65, 1, 1}, 3, 5, {});
}

// Five barriers a layer, one behind the head and one behind the embedding.
TEST(CudaPersistent, CountsItsBarriers) {
    const auto weights = random_weights({33, 40, 24, 3, 2}, 1);
    const auto model =
        cuda::load_emulated(*weights, DType::f32, DType::f32, cuda::Decode::persistent);
    KvCache cache = model->new_cache();
    const std::uint64_t before = simt::counts.grid_barriers;
    model->write(cache, 1, 12, {}, [](Token) { return true; });
    EXPECT_EQ(simt::counts.grid_barriers - before, 10u * (3 * 5 + 2));
}

TEST(CudaPersistent, StopsWhereItIsTold) {
    const auto weights = random_weights({33, 60, 24, 1, 2}, 1);
    const auto model =
        cuda::load_emulated(*weights, DType::f32, DType::f32, cuda::Decode::persistent);
    for (const int until : {1, 2, 3, 9, 20}) {
        KvCache cache = model->new_cache();
        int seen = 0;
        model->write(cache, 5, 50, {}, [&](Token) { return ++seen < until; });
        EXPECT_EQ(seen, until);
        EXPECT_EQ(cache.size(), until - 1);
    }
}

// The grid's barrier
// ------------------

TEST(CudaGridBarrier, HoldsInEveryOrder) {
    support::in_every_order([] {
        std::vector<float> found;
        EXPECT_EQ(said_of(pass_on, &found), "nothing");
        EXPECT_EQ(found, passed_on);
    });
}

TEST(CudaGridBarrier, SaysWhatIsWrong) {
    support::in_every_order([] {
        EXPECT_THAT(said_of(a_block_leaves),
                    AllOf(HasSubstr("waits for the whole grid for ever; 64 of 256"),
                          HasSubstr("cuda_persistent_test.cpp:")));
        EXPECT_THAT(said_of(two_grid_barriers),
                    AllOf(HasSubstr("divergent grid barrier: block ("),
                          HasSubstr("cuda_persistent_test.cpp:")));
        EXPECT_THAT(said_of(pass_on, nullptr, false),
                    HasSubstr("grid barrier in a launch that is not cooperative: "));
        EXPECT_THAT(
            said_of(pass_on, nullptr, true, 5),
            HasSubstr("expected at most 4 blocks, which all run at once, found 5"));
    });
}

// A barrier that is missing gives a wrong result, and the thread sanitizer says why.
#ifdef __SANITIZE_THREAD__
TEST(CudaGridBarrierDeathTest, TheThreadSanitizerSeesThatOneIsMissing) {
    for (const Kernel kernel : {no_grid_barrier, too_early_meanwhile}) {
        const auto race = [&] {
            said_of(kernel);
            std::exit(0);
        };
        EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
    }
}
#else
TEST(CudaGridBarrier, WithoutOneTheResultIsWrong) {
    support::in_every_order([] {
        std::vector<float> found;
        EXPECT_EQ(said_of(no_grid_barrier, &found), "nothing");
        EXPECT_NE(found, passed_on);
    });
}
#endif
