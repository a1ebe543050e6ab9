// Copies into shared memory that go on beside the threads (cp.async), and what waits for them.
#include "element.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
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
