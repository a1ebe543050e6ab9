// What the blocks of a grid do together: kernels that are launched so that all of them run at once.
#include "element.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void grid_ranks(const float *x, float *y, int n)
{
    const auto grid = cg::this_grid();
    const float parts = grid.size() + grid.num_blocks() + grid.group_dim().x;
    if (grid.thread_rank() < n) y[grid.thread_rank()] = x[grid.thread_rank()] * x[grid.thread_rank()] * parts;
    if (grid.block_rank() == 1 && grid.thread_index().x == 33) y[33] += grid.block_index().x;
}

__global__ void grid_group(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[n - 1 - i] = x[i];
    cg::this_grid().sync();
    if (i < n) y[i] *= x[n - 1 - i];
}

// Steps between two buffers, each of which reads what other blocks have written.
__global__ void grid_relaxation(float *a, float *b, int steps, int n)
{
    const cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < steps; ++k) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = 0.5f * sinf(a[i]) + 0.25f * (a[(i + 1) % n] + a[(i + n - 1) % n]) * a[i];
        grid.sync();
        float *other = a;
        a = b;
        b = other;
    }
}

__device__ void meet(const cg::grid_group &grid) { cg::sync(grid); }

// Every block adds up what all blocks have added up.
__global__ void grid_normalised(const float *x, float *partial, float *y, int n)
{
    __shared__ float tile[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int s = 16; s > 0; s /= 2) {
        if (t < s) tile[t] += tile[t + s];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = tile[0];
    meet(cg::this_grid());
    float sum = 0;
    for (int k = 0; k < gridDim.x; ++k) sum += partial[k];
    if (i < n) y[i] = x[i] / sqrtf(sum);
    cg::this_grid().sync();
    if (t == 0) partial[blockIdx.x] *= y[blockIdx.x * blockDim.x];
}

__global__ void grid_with_atomics(const float *x, float *sum, float *y, int n)
{
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank();
    if (i < n) atomicAdd(&sum[i % 3], x[i] * x[i]);
    grid.sync();
    if (i < n) y[i] = x[i] * sum[(i + 1) % 3];
    grid.sync();
    if (i < 3) sum[i] = y[i] * 2.0f;
}

__global__ void returns_before_the_grid(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] * x[i];
    cg::this_grid().sync();
}
