// What threads of a block and of a warp do together.
#include "element.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
#define ALL 0xffffffffu

// ---- shared memory
__global__ void beginnings_of_runs(const int *key, const float *x, float *y, int n)
{
    __shared__ int keys[64];
    const int t = threadIdx.x, own = key[t];
    keys[t] = own;
    __syncthreads();
    const bool begins = t == 0 || keys[t - 1] != own;
    y[t] = begins ? x[t] * x[t] : x[t];
}

__global__ void static_shared(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = tile[31 - threadIdx.x] + tile[threadIdx.x];
}

__global__ void dynamic_shared(const float *x, float *y, int n)
{
    extern __shared__ float buffer[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = buffer[(threadIdx.x + 1) % blockDim.x] * buffer[threadIdx.x];
}

__global__ void carved_shared(const float *x, const double *w, double *y, int n)
{
    extern __shared__ char bytes[];
    double *weights = reinterpret_cast<double *>(bytes);
    float *values = reinterpret_cast<float *>(weights + blockDim.x);
    int *order = reinterpret_cast<int *>(values + blockDim.x);
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    weights[t] = i < n ? w[i] : 0.0;
    values[t] = i < n ? x[i] : 0.0f;
    order[t] = (t + 5) % blockDim.x;
    __syncthreads();
    if (i < n) y[i] = weights[order[t]] * values[t] * values[t];
}

__global__ void bordered_shared(const float *x, float *y)
{
    __shared__ float values[34];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = x[i];
    if (t < 2) values[t + 32] = 0.5f;
    __syncthreads();
    y[i] = values[t] * values[t + 2];
}

__global__ void shared_matrix(const float *x, float *y, int n)
{
    __shared__ float tile[8][9];
    const int r = threadIdx.y, c = threadIdx.x;
    tile[r][c] = x[(blockIdx.x * 8 + r) * 8 + c];
    __syncthreads();
    y[(blockIdx.x * 8 + r) * 8 + c] = tile[c][r] * tile[r][c];
}

struct Body {
    float3 position;
    float mass;
};

__global__ void shared_structs(const Body *bodies, float *y, int n)
{
    __shared__ Body tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = bodies[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += tile[k].mass * (tile[k].position.x - tile[threadIdx.x].position.y);
    if (i < n) y[i] = sum;
}

__global__ void shared_scalar(const float *x, float *y, int n)
{
    __shared__ float mean;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) mean = 0.5f * (x[blockIdx.x * blockDim.x] + x[blockIdx.x * blockDim.x + 1]);
    __syncthreads();
    if (i < n) y[i] = x[i] * mean;
}

__global__ void shared_atomics(const float *x, float *y, int n)
{
    __shared__ float bins[4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4) bins[threadIdx.x] = 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&bins[i % 4], x[i] * x[i]);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}

// ---- barriers
__global__ void barriers_in_a_loop(const float *x, float *y, int steps, int n)
{
    __shared__ float state[32];
    const int t = threadIdx.x, i = blockIdx.x * 32 + t;
    state[t] = x[i];
    for (int s = 0; s < steps; ++s) {
        __syncthreads();
        const float next = 0.5f * state[t] + 0.25f * state[(t + 1) % 32] * state[(t + 31) % 32];
        __syncthreads();
        state[t] = next;
    }
    if (i < n) y[i] = state[t];
}

__global__ void counting_barriers(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = i < n ? x[i] : 0.0f;
    const int large = __syncthreads_count(v > 1.0f);
    const int all = __syncthreads_and(v > 0.25f), any = __syncthreads_or(v > 1.25f);
    if (i < n) y[i] = v * v * large + v * (all + 2 * any);
}

__global__ void counting_after_return(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] > 1.4f) return;
    tile[threadIdx.x] = x[i] * x[i];
    const int large = __syncthreads_count(x[i] > 1.0f);
    float v = tile[threadIdx.x] * large;
    if (__syncthreads_and(x[i] > 0.25f)) v *= x[i];
    tile[threadIdx.x] = v;
    __syncthreads();
    if (v > 2.0f) return;
    v *= tile[threadIdx.x];
    y[i] = __syncthreads_or(v > 1.25f) ? v : sinf(v);
}

__global__ void return_before_barrier(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 1.0f;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[threadIdx.x] * tile[threadIdx.x / 2];
}

__global__ void warp_barriers(const float *x, float *y, int n)
{
    __shared__ float tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncwarp();
    const float v = tile[threadIdx.x ^ 1];
    __syncwarp(ALL);
    if (i < n) y[i] = v * tile[threadIdx.x];
}

__global__ void fences(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    y[i] *= x[i];
}

// ---- shuffles and votes
__global__ void float_shuffles(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const float v = x[i];
    const float sum = __shfl_sync(ALL, v, (lane * 3) % 32) * v + __shfl_up_sync(ALL, v, 1) + 2.0f * __shfl_down_sync(ALL, v, 2, 16) +
                      __shfl_xor_sync(ALL, v * v, 4);
    if (i < n) y[i] = sum;
}

__global__ void sent_by_one(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const float v = x[i] * x[i];
    float sum = __shfl_sync(ALL, v, 35) + lane * __shfl_sync(ALL, v, 11, 16);
    for (int k = 0; k < 8; ++k) sum += v * (k + 1) * __shfl_sync(ALL, v, k, 8);
    if (lane % 3 == 0) sum += __shfl_sync(0x49249249, v, 9);
    if (i < n) y[i] = sum;
}

__global__ void sent_within_a_mask(const double *x, double *y, int n, int lanes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const unsigned some = __ballot_sync(ALL, lane < lanes || lane == 30);
    const double v = x[i] * x[i];
    double sum = v;
    if (some >> lane & 1)
        for (int k = 0; k < lanes; ++k) sum += (lane + 1) * __shfl_sync(some, sum * v, k);
    if (lane % 4 < 3) sum += lane * __shfl_sync(0x77777777, v, 4 + lane % 4, 8) + lane * __shfl_sync(0x77777777, v, 6, 16);
    const unsigned eight = 0xffu << (lane & 24);
    sum += lane * __shfl_sync(eight, v, lane & 24) + __shfl_sync(eight, sum, 3, 8);
    if (i < n) y[i] = sum;
}

__global__ void double_shuffles(const double *x, double *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const double v = x[i];
    const double sum = __shfl_sync(ALL, v, (lane * 3) % 32) * v + __shfl_up_sync(ALL, v, 1) + 2.0 * __shfl_down_sync(ALL, v, 2, 16) +
                       __shfl_xor_sync(ALL, v * v, 4);
    if (i < n) y[i] = sum;
}

__device__ double shuffle_halves(double v, int from)
{
    const int low = __shfl_sync(ALL, __double2loint(v), from), high = __shfl_sync(ALL, __double2hiint(v), from);
    return __hiloint2double(high, low);
}

__global__ void halves_of_doubles(const double *x, double *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double v = shuffle_halves(x[i], (threadIdx.x + 3) % 32);
    if (i < n) y[i] = v * x[i];
}

__global__ void integer_shuffles(const float *x, const int *k, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int other = __shfl_down_sync(ALL, k[i], 1) + __shfl_xor_sync(ALL, k[i], 2);
    const unsigned long long wide = __shfl_sync(ALL, (unsigned long long)k[i], 3);
    if (i < n) y[i] = x[i] * x[i] * (other + float(wide));
}

__global__ void shuffled_bits(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float other = __int_as_float(__shfl_xor_sync(ALL, __float_as_int(x[i]), 1));
    if (i < n) y[i] = x[i] * other;
}

__global__ void shuffled_words_of_memory(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int word = reinterpret_cast<const int *>(x)[i];
    if (i < n) reinterpret_cast<int *>(y)[i] = __shfl_xor_sync(ALL, word, 1);
}

template <typename T> __device__ T shuffle_words(T value, int mask)
{
    T result;
    const int *from = reinterpret_cast<const int *>(&value);
    int *to = reinterpret_cast<int *>(&result);
    for (unsigned w = 0; w < sizeof(T) / sizeof(int); ++w) to[w] = __shfl_xor_sync(ALL, from[w], mask);
    return result;
}

__global__ void shuffled_struct(const float4 *in, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 other = shuffle_words(in[i], 2);
    if (i < n) y[i] = other.x * in[i].x + other.w;
}

__global__ void half_shuffles(const __half2 *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 v = __half22float2(__shfl_down_sync(ALL, x[i], 1));
    if (i < n) y[i] = v.x * v.y;
}

__global__ void votes(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    const int count = __popc(__ballot_sync(ALL, v > 1.0f)) + __any_sync(ALL, v > 1.25f) + __all_sync(ALL, v > 0.25f);
    if (i < n) y[i] = v * v * count + v * __popc(__activemask());
}

__global__ void matches(const float *x, const int *k, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int same;
    const int peers = __popc(__match_any_sync(ALL, k[i])) + __popc(__match_all_sync(ALL, 7, &same));
    if (i < n) y[i] = x[i] * x[i] * peers;
}

__global__ void integer_warp_reductions(const float *x, const int *k, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = __reduce_add_sync(ALL, k[i]) + __reduce_max_sync(ALL, k[i]);
    if (i < n) y[i] = x[i] * x[i] * sum;
}

// ---- reductions as people write them
__device__ float warp_sum(float v)
{
    for (int offset = warpSize / 2; offset > 0; offset >>= 1) v += __shfl_down_sync(ALL, v, offset);
    return v;
}

__global__ void warp_reduction(const float *x, float *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = warp_sum(i < n ? x[i] * x[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}

__global__ void block_reduction(const float *x, float *sum, int n)
{
    __shared__ float warps[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = warp_sum(i < n ? x[i] * x[i] : 0.0f);
    if (t % 32 == 0) warps[t / 32] = v;
    __syncthreads();
    v = t < blockDim.x / 32 ? warps[t] : 0.0f;
    if (t < 32) v = warp_sum(v);
    if (t == 0) sum[blockIdx.x] = v;
}

__global__ void block_maximum(const float *x, float *largest, int n)
{
    __shared__ float tile[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] : -1e30f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) tile[t] = fmaxf(tile[t], tile[t + s]);
        __syncthreads();
    }
    if (t == 0) largest[blockIdx.x] = tile[0];
}

__global__ void block_scan(const float *x, float *y, int n)
{
    __shared__ float tile[2][64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int from = 0;
    tile[0][t] = x[i] * x[i];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        tile[1 - from][t] = t >= s ? tile[from][t] + tile[from][t - s] : tile[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) y[i] = tile[from][t];
}

// ---- cooperative groups
__global__ void thread_block_group(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    cg::thread_block block = cg::this_thread_block();
    const int i = block.group_index().x * block.size() + block.thread_rank();
    tile[block.thread_rank()] = x[i];
    block.sync();
    if (i < n) y[i] = tile[block.size() - 1 - block.thread_rank()] * x[i];
}

__global__ void tiled_partition(const float *x, float *y, int n)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i] * x[i];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) v += tile.shfl_down(v, offset);
    v = tile.shfl(v, 0);
    tile.sync();
    if (i < n) y[i] = v * x[i] * (tile.meta_group_rank() + 1);
}

__global__ void group_reduce(const float *x, float *y, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float sum = cg::reduce(warp, x[i] * x[i], cg::plus<float>());
    const float largest = cg::reduce(warp, x[i], cg::greater<float>());
    if (i < n) y[i] = sum * largest;
}

__global__ void group_scan(const float *x, float *y, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float sum = cg::inclusive_scan(warp, x[i] * x[i]);
    if (i < n) y[i] = sum;
}

__global__ void coalesced_group(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 1.0f) {
        cg::coalesced_group active = cg::coalesced_threads();
        y[i] = x[i] * x[i] * active.size();
    }
}

// ---- CUB inside kernels
__global__ void cub_block_reduce(const float *x, float *sum, int n)
{
    typedef cub::BlockReduce<float, 64> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float total = Reduce(storage).Sum(i < n ? x[i] * x[i] : 0.0f);
    if (threadIdx.x == 0) sum[blockIdx.x] = total;
}

__global__ void cub_warp_reduce(const float *x, float *sum, int n)
{
    typedef cub::WarpReduce<float> Reduce;
    __shared__ typename Reduce::TempStorage storage[1];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float total = Reduce(storage[0]).Reduce(x[i] * x[i], cub::Sum()); // which CUB has no more
    if (threadIdx.x == 0) sum[blockIdx.x] = total;
}

__global__ void cub_segmented_sum(const float *x, float *y, int n)
{
    typedef cub::WarpReduce<float> Reduce;
    __shared__ typename Reduce::TempStorage storage[2];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (lane >= 27) return;
    const float total = Reduce(storage[threadIdx.x / 32]).HeadSegmentedSum(x[i] * x[i], lane % 9 == 0);
    if (lane % 9 == 0) y[i] = total * total;
}

__global__ void cub_block_scan(const float *x, float *y, int n)
{
    typedef cub::BlockScan<float, 32> Scan;
    __shared__ typename Scan::TempStorage storage;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total;
    Scan(storage).InclusiveSum(x[i] * x[i], total);
    if (i < n) y[i] = total;
}

// ---- lanes of a warp as they were before there were masks
__device__ void reduce_last_warp(volatile float *tile, int t)
{
    tile[t] += tile[t + 16];
    tile[t] += tile[t + 8];
    tile[t] += tile[t + 4];
    tile[t] += tile[t + 2];
    tile[t] += tile[t + 1];
}

__global__ void volatile_reduction(const float *x, float *y, int n)
{
    __shared__ float tile[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 32] = 0.0f;
    tile[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    if (t < 32) reduce_last_warp(tile, t);
    if (t == 0) y[blockIdx.x] = tile[0];
}

__global__ void volatile_scan(const float *x, float *y, int n)
{
    __shared__ volatile float sums[32];
    __shared__ volatile int counts[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? x[i] : 0.0f;
    counts[t] = i < n;
    for (int step = 1; step < 32; step *= 2) {
        if (t >= step) {
            sums[t] += sums[t - step];
            counts[t] += counts[t - step];
        }
    }
    if (i < n) y[i] = sums[t] * sums[t] / counts[t];
}

__global__ void shuffles_without_mask(const float *x, const double *z, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] * x[i] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down(v, offset);
    const double w = __shfl_xor(z[i] * z[i], 1) + __shfl_up(i, 1);
    const int some = __any(x[i] > 1.0f) + __all(x[i] > 0.0f) + __popc(__ballot(x[i] > 1.0f));
    if (i < n) y[i] = __shfl(v, 0) * some + (float)w;
}
