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

/// One product: y = f(norm(x) W + b).
template <class T>
struct Linear {
    const float* x;  ///< [rows, k]
    int k;           ///< what one output sums over
    Norm norm;       ///< of each row of x
    const T* w;      ///< [target.n, padded(k)]
    Target target;   ///< f, b and y
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

/// What a layer norm subtracts from a row's elements and multiplies them by.
struct Moments {
    float mean;   ///< of all elements
    float scale;  ///< one over their standard deviation

    /// Element i of such a row, which is x.
    __device__ float normalise(const Norm& norm, int i, float x) const {
        return (x - mean) * scale * norm.gain[i] + norm.bias[i];
    }
};

/// Those of a row, by one warp: `get(i)` is element i.
template <class Get>
__device__ Moments moments(int k, Get get) {
    const int lane = threadIdx.x % simt::warp_size;
    float sum = 0, squares = 0;
    for (int i = lane; i < k; i += simt::warp_size) sum += get(i);
    const float mean = warp_sum(sum) / k;
    for (int i = lane; i < k; i += simt::warp_size) {
        const float d = get(i) - mean;
        squares += d * d;
    }
    return {mean, rsqrtf(warp_sum(squares) / k + 1e-5f)};
}

// Few rows
// --------

constexpr int few_threads = 128;  ///< of a block of multiply_few

/// Weights on their way from memory to a lane: the part of a column that it takes next.
template <class T>
struct Ahead {
    static constexpr int size = 4;  ///< packs, all asked for before one is waited for
    Pack<T> packs[size];            ///< a warp's lanes side by side

    /// Asks for packs first, first + 32, ... of a column of so many.
    __device__ void load(const Pack<T>* column, int first, int count) {
        SIMT_UNROLL
        for (int a = 0; a < size; ++a) {
            const int p = first + a * simt::warp_size;
            packs[a] = p < count ? column[p] : Pack<T>{};
        }
    }

    /// Asks for the first that this lane takes of a product.
    __device__ void load(const Linear<T>& p) {
        if (first_column() < p.target.n)
            load(column_of(p, first_column()), threadIdx.x % simt::warp_size,
                 padded(p.k) / Pack<T>::size);
    }

    /// A column, as packs.
    __device__ static const Pack<T>* column_of(const Linear<T>& p, int column) {
        return reinterpret_cast<const Pack<T>*>(p.w + std::size_t(column) * padded(p.k));
    }

    /// This warp's. The next are as many further on as there are warps in the grid. So
    /// few columns keep all blocks busy, not the first ones.
    __device__ static int first_column() {
        return threadIdx.x / simt::warp_size * gridDim.x + blockIdx.x;
    }
};

/// A product of at most `max_rows` rows, by all blocks of a grid: one warp for each
/// column, which asks memory for 4 times 16 bytes of the matrix a lane.
///
/// Every block reads and normalises all of x for itself: a few KiB from the cache cost
/// less than one more kernel.
///
/// Dynamic shared memory: max_rows x padded(k) floats.
///
/// @param some  what Ahead::load(p) has asked for
template <class T, int max_rows>
__device__ void multiply_rows(const Linear<T>& p, int rows, Ahead<T> some) {
    SIMT_DYNAMIC_SHARED(float, input);
    SIMT_SHARED(float, mean, max_rows);
    SIMT_SHARED(float, scale, max_rows);
    const int k = p.k, stride = padded(k), warps = blockDim.x / simt::warp_size;
    const int warp = threadIdx.x / simt::warp_size, lane = threadIdx.x % simt::warp_size;
    const int packs = stride / Pack<T>::size;

    for (int i = threadIdx.x; i < max_rows * stride; i += blockDim.x) {
        const int row = i / stride, c = i % stride;
        input[i] = row < rows && c < k ? p.x[std::size_t(row) * k + c] : 0;
    }
    __syncthreads();
    if (p.norm.gain) {
        for (int row = warp; row < rows; row += warps) {
            const Moments m =
                moments(k, [&](int i) -> float { return input[row * stride + i]; });
            if (lane == 0) {
                mean[row] = m.mean;
                scale[row] = m.scale;
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < rows * stride; i += blockDim.x) {
            const int row = i / stride, c = i % stride;
            if (c < k)
                input[i] = Moments{mean[row], scale[row]}.normalise(p.norm, c, input[i]);
        }
        __syncthreads();
    }

    bool loaded = true;
    for (int column = Ahead<T>::first_column(); column < p.target.n;
         column += gridDim.x * warps) {
        const Pack<T>* weights = Ahead<T>::column_of(p, column);
        float sums[max_rows] = {};
        for (int first = lane; first < packs; first += Ahead<T>::size * simt::warp_size) {
            if (!loaded) some.load(weights, first, packs);
            loaded = false;
            SIMT_UNROLL
            for (int a = 0; a < Ahead<T>::size; ++a) {
                const int pack = first + a * simt::warp_size;
                if (pack >= packs) break;
                SIMT_UNROLL
                for (int i = 0; i < Pack<T>::size; ++i) {
                    const float weight = widen(some.packs[a].v[i]);
                    SIMT_UNROLL
                    for (int row = 0; row < max_rows; ++row)
                        sums[row] +=
                            weight * input[row * stride + pack * Pack<T>::size + i];
                }
            }
        }
        SIMT_UNROLL
        for (int row = 0; row < max_rows; ++row) {
            const float sum = warp_sum(sums[row]);
            if (lane == 0 && row < rows) finish(p.target, row, column, sum);
        }
    }
}

/// The same as a kernel of few_threads.
///
/// The bounds leave a thread 64 registers, and 128 where it keeps many sums: without them
/// the compiler aims at 32, and has to put some aside in memory.
template <class T, int max_rows>
__global__ void __launch_bounds__(few_threads, max_rows <= 2 ? 8 : 4)
    multiply_few(const float* x, int rows, int k, Norm norm, const T* w, Target target) {
    const Linear<T> p{x, k, norm, w, target};
    Ahead<T> some;
    some.load(p);
    multiply_rows<T, max_rows>(p, rows, some);
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
    const Moments m = norm.gain ? moments(k, [&](int i) { return from[i]; }) : Moments{};
    for (int i = lane; i < k; i += simt::warp_size)
        to[i] = narrow<T>(norm.gain ? m.normalise(norm, i, from[i]) : from[i]);
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

/// Row `row` of x = its token's embedding + its position's, by one block.
/// @param tokens  [n_vocab, padded(k)];  @param positions  [n_ctx, k];  @param x [rows,
/// k]
template <class T>
__device__ void embed_row(const Batch& batch, int row, const T* tokens,
                          const float* positions, int k, float* x) {
    const T* token = tokens + std::size_t(batch.token[row]) * padded(k);
    const float* position = positions + std::size_t(batch.position[row]) * k;
    for (int c = threadIdx.x; c < k; c += blockDim.x)
        x[std::size_t(row) * k + c] = widen(token[c]) + position[c];
}

/// All rows, a block for each.
template <class T>
__global__ void __launch_bounds__(row_threads)
    embed(Batch batch, const T* tokens, const float* positions, int k, float* x) {
    embed_row(batch, blockIdx.x, tokens, positions, k, x);
}

/// Takes rows out of x: a block for each of `wanted`.
[[maybe_unused]] static __global__ void __launch_bounds__(row_threads)
    take_rows(const float* x, const int* wanted, int k, float* out) {
    for (int c = threadIdx.x; c < k; c += row_threads)
        out[std::size_t(blockIdx.x) * k + c] = x[std::size_t(wanted[blockIdx.x]) * k + c];
}

}  // namespace gpt2::cuda::inline SIMT_MACHINE
