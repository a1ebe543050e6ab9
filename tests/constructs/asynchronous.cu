// Copies into shared memory that go on beside the threads (cp.async), and what waits for them.
#include "element.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void pipeline_primitives(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (i < n) y[i] = tile[31 - threadIdx.x] * tile[threadIdx.x];
}

__global__ void pipeline_of_vectors(const float4 *v, float *y, int n)
{
    __shared__ float4 tile[2][32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &v[threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][threadIdx.x], &v[32 + threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float sum = tile[0][31 - threadIdx.x].x * tile[0][threadIdx.x].y;
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[1][31 - threadIdx.x].z * tile[1][threadIdx.x].w;
    if (i < n) y[i] = sum;
}

__global__ void group_copies(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    const cg::thread_block block = cg::this_thread_block();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cg::memcpy_async(block, tile, x + blockIdx.x * blockDim.x, sizeof(float) * 32);
    cg::wait(block);
    if (i < n) y[i] = tile[31 - threadIdx.x] * tile[threadIdx.x];
}

__global__ void cuda_pipeline(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x], &x[i], sizeof(float), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    if (i < n) y[i] = tile[31 - threadIdx.x] * tile[threadIdx.x];
    pipe.consumer_release();
}

__device__ void begin_copy(void *to, const void *from, bool all)
{
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (all)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;\n" ::"r"(address), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;\n" ::"r"(address), "l"(from), "n"(4) : "memory");
}

__global__ void copied_in_assembly(const float2 *v, float *y, int n)
{
    __shared__ float2 tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    begin_copy(&tile[threadIdx.x], &v[i], threadIdx.x % 2 == 0);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const float2 own = tile[threadIdx.x], other = tile[31 - threadIdx.x];
    if (i < n) y[i] = own.x * other.y + own.y * other.x;
}

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void begin(BlockBarrier &barrier)
{
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
}

__global__ void arrives_and_waits(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    __shared__ BlockBarrier barrier;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    begin(barrier);
    tile[t] = i < n ? x[i] : 0;
    auto phase = barrier.arrive();
    const float own = sinf(tile[t]);
    barrier.wait(std::move(phase));
    const float product = tile[31 - t] * own;
    barrier.arrive_and_wait();
    tile[t] = product;
    barrier.arrive_and_wait();
    if (i < n) y[i] = tile[(t + 1) % 32] * product;
}

__global__ void pipeline_of_the_block(const float *x, float *y, int n)
{
    __shared__ alignas(16) float tile[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, tiles = n / 32;
    float sum = 0;
    for (int c = 0, next = 0; c < tiles; ++c) {
        for (; next < tiles && next < c + 2; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[next % 2], x + 32 * next, sizeof(tile[0]), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[c % 2][t] * tile[c % 2][31 - t];
        pipeline.consumer_release();
    }
    if (i < n) y[i] = sum;
}

__global__ void brought_in_bulk(const float *x, float *y, int n)
{
    __shared__ alignas(16) float tile[32];
    __shared__ BlockBarrier barrier;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    begin(barrier);
    BlockBarrier::arrival_token phase;
    if (t == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(tile, x + blockIdx.x * blockDim.x, sizeof(tile),
                                                                   barrier);
        phase = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
    } else {
        phase = barrier.arrive();
    }
    barrier.wait(std::move(phase));
    if (i < n) y[i] = tile[t] * tile[31 - t];
}

__global__ void producer_and_consumer(const float *x, float *y, int n)
{
    __shared__ float tile[16];
    __shared__ BlockBarrier full;
    const int t = threadIdx.x;
    begin(full);
    if (t < 16) {
        tile[t] = x[t] * x[t];
        (void)full.arrive();
    } else {
        full.arrive_and_wait();
        y[t - 16] = tile[31 - t];
    }
}
