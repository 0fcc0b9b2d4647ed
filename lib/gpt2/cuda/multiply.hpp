#pragma once

#include "gpt2/cuda/batch.hpp"

/// The matrices of a layer: y = f(norm(x) W + b), for few rows and for many.
///
/// For few rows one kernel does it all, and the weights' way from memory is what it takes
/// time for. For many rows a library multiplies (see gemm.hpp), with `prepare` before it
/// and `finish_rows` after. Both ways end in the same few lines, `finish`.
///
/// A matrix stands as [n, padded(k)]: all that one output sums over lies side by side.
namespace gpt2::cuda::inline SIMT_MACHINE {

/// A layer norm's parameters, [k] each; null: the rows are taken as they are.
struct Norm {
    const float* gain;  ///< null for none
    const float* bias;  ///< looked at where there is a gain
};

/// What becomes of a sum.
enum class Then {
    store,     ///< y = sum
    gelu,      ///< y = gelu(sum + bias)
    residual,  ///< y += sum + bias
    remember,  ///< of 3 x n_embd columns, queries go to y, keys and values to the cache
};

/// Where the sums of a product go.
struct Target {
    Then then;          ///< what becomes of them
    float* y;           ///< [rows, n]; for `remember` [rows, n / 3]
    int n;              ///< columns of the product
    const float* bias;  ///< [n]; not looked at for `store`
    Batch batch;        ///< for `remember`: whose keys and values they are
    CacheLayer cache;   ///< for `remember`: and where they go
};

/// GPT-2's: with the tanh.
__device__ inline float gelu(float x) {
    const float root = 0.7978845608f;  // sqrt(2 / pi)
    return 0.5f * x * (1 + tanhf(root * (x + 0.044715f * x * x * x)));
}

// [finish]
/// Does with one sum what the target says.
__device__ inline void finish(const Target& t, int row, int column, float sum) {
    if (t.then == Then::store) {
        t.y[std::size_t(row) * t.n + column] = sum;
        return;
    }
    sum += t.bias[column];
    if (t.then == Then::gelu) t.y[std::size_t(row) * t.n + column] = gelu(sum);
    if (t.then == Then::residual) t.y[std::size_t(row) * t.n + column] += sum;
    if (t.then != Then::remember) return;

    const int n_embd = t.n / 3, kind = column / n_embd, channel = column % n_embd;
    if (kind == 0) {
        t.y[std::size_t(row) * n_embd + channel] = sum;
        return;
    }
    const int head = channel / t.cache.head_dim, c = channel % t.cache.head_dim;
    const int position = t.batch.position[row], slot = position % KvLayout::positions;
    std::byte* block = t.batch.block(row, position);
    if (kind == 1)
        t.cache.put(block, t.cache.keys(head) + c * KvLayout::positions + slot, sum);
    else
        t.cache.put(block, t.cache.values(head) + slot * t.cache.head_stride + c, sum);
}
// [finish]

/// One warp's layer norm of a row: `get(i)` is element i, `put(i, y)` receives it.
template <class Get, class Put>
__device__ void normalise(const Norm& norm, int k, Get get, Put put) {
    const int lane = threadIdx.x % simt::warp_size;
    float sum = 0, squares = 0;
    for (int i = lane; i < k; i += simt::warp_size) sum += get(i);
    const float mean = warp_sum(sum) / k;
    for (int i = lane; i < k; i += simt::warp_size) {
        const float d = get(i) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_sum(squares) / k + 1e-5f);
    for (int i = lane; i < k; i += simt::warp_size)
        put(i, (get(i) - mean) * scale * norm.gain[i] + norm.bias[i]);
}

// Few rows
// --------

constexpr int few_threads = 128;  ///< of a block of multiply_few

/// y = f(norm(x) W + b) for at most `max_rows` rows: one warp for each column, which asks
/// memory for 4 times 16 bytes of the matrix a lane. Blocks share the columns out among
/// them.
///
/// Every block reads and normalises all of x for itself: a few KiB from the cache cost
/// less than one more kernel.
///
/// The bounds leave a thread 64 registers, and 128 where it keeps many sums: without them
/// the compiler aims at 32, and has to put some aside in memory.
///
/// @param x  [rows, k];  @param w  [target.n, padded(k)]
/// Dynamic shared memory: max_rows x padded(k) floats.
template <class T, int max_rows>
__global__ void __launch_bounds__(few_threads, max_rows <= 2 ? 8 : 4)
    multiply_few(const float* x, int rows, int k, Norm norm, const T* w, Target target) {
    SIMT_DYNAMIC_SHARED(float, input);
    const int stride = padded(k), warps = few_threads / simt::warp_size;
    const int warp = threadIdx.x / simt::warp_size, lane = threadIdx.x % simt::warp_size;
    const int packs = stride / Pack<T>::size;
    constexpr int ahead = 4;

    for (int i = threadIdx.x; i < max_rows * stride; i += few_threads) {
        const int row = i / stride, c = i % stride;
        input[i] = row < rows && c < k ? x[std::size_t(row) * k + c] : 0;
    }
    __syncthreads();
    if (norm.gain) {
        for (int row = warp; row < rows; row += warps)
            normalise(
                norm, k, [&](int i) -> float { return input[row * stride + i]; },
                [&](int i, float y) { input[row * stride + i] = y; });
        __syncthreads();
    }

    for (int column = blockIdx.x * warps + warp; column < target.n;
         column += gridDim.x * warps) {
        const Pack<T>* weights =
            reinterpret_cast<const Pack<T>*>(w + std::size_t(column) * stride);
        float sums[max_rows] = {};
        for (int first = lane; first < packs; first += ahead * simt::warp_size) {
            Pack<T> some[ahead];  // all on their way before the first is waited for
            SIMT_UNROLL
            for (int a = 0; a < ahead; ++a) {
                const int p = first + a * simt::warp_size;
                some[a] = p < packs ? weights[p] : Pack<T>{};
            }
            SIMT_UNROLL
            for (int a = 0; a < ahead; ++a) {
                const int p = first + a * simt::warp_size;
                if (p >= packs) break;
                SIMT_UNROLL
                for (int i = 0; i < Pack<T>::size; ++i) {
                    const float weight = widen(some[a].v[i]);
                    SIMT_UNROLL
                    for (int row = 0; row < max_rows; ++row)
                        sums[row] += weight * input[row * stride + p * Pack<T>::size + i];
                }
            }
        }
        SIMT_UNROLL
        for (int row = 0; row < max_rows; ++row) {
            const float sum = warp_sum(sums[row]);
            if (lane == 0 && row < rows) finish(target, row, column, sum);
        }
    }
}

// Many rows
// ---------

constexpr int row_threads = 128;  ///< of the kernels below: each warp takes a row

/// Rows as the library wants them: of the weights' type, [rows, padded(k)].
template <class T>
__global__ void __launch_bounds__(row_threads)
    prepare(const float* x, int rows, int k, Norm norm, T* out) {
    const int warps = row_threads / simt::warp_size, lane = threadIdx.x % simt::warp_size;
    const int row = blockIdx.x * warps + threadIdx.x / simt::warp_size;
    if (row >= rows) return;
    const int stride = padded(k);
    const float* from = x + std::size_t(row) * k;
    T* to = out + std::size_t(row) * stride;
    if (norm.gain)
        normalise(
            norm, k, [&](int i) { return from[i]; },
            [&](int i, float y) { to[i] = narrow<T>(y); });
    else
        for (int i = lane; i < k; i += simt::warp_size) to[i] = narrow<T>(from[i]);
    for (int i = k + lane; i < stride; i += simt::warp_size) to[i] = narrow<T>(0);
}

/// @param sums  [rows, target.n]
[[maybe_unused]] static __global__ void __launch_bounds__(row_threads)
    finish_rows(const float* sums, int rows, Target target) {
    const std::size_t all = std::size_t(rows) * target.n;
    for (std::size_t i = std::size_t(blockIdx.x) * row_threads + threadIdx.x; i < all;
         i += std::size_t(gridDim.x) * row_threads)
        finish(target, int(i / target.n), int(i % target.n), sums[i]);
}

// Rows in and out
// ---------------

/// x = the token's embedding + the position's, a block for each row.
/// @param tokens  [n_vocab, padded(k)];  @param positions  [n_ctx, k];  @param x [rows,
/// k]
template <class T>
__global__ void __launch_bounds__(row_threads)
    embed(Batch batch, const T* tokens, const float* positions, int k, float* x) {
    const int row = blockIdx.x, stride = padded(k);
    const T* token = tokens + std::size_t(batch.token[row]) * stride;
    const float* position = positions + std::size_t(batch.position[row]) * k;
    for (int c = threadIdx.x; c < k; c += row_threads)
        x[std::size_t(row) * k + c] = widen(token[c]) + position[c];
}

/// Takes rows out of x: a block for each of `wanted`.
[[maybe_unused]] static __global__ void __launch_bounds__(row_threads)
    take_rows(const float* x, const int* wanted, int k, float* out) {
    for (int c = threadIdx.x; c < k; c += row_threads)
        out[std::size_t(blockIdx.x) * k + c] = x[std::size_t(wanted[blockIdx.x]) * k + c];
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
