// Other derivatives than one gradient, and what a file says of its functions with the macros of adgen.h.
#include "element.h"
#include <adgen.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void carried_forward(const double *x, double *y, int n)
{
    MY_ELEMENT(n);
    double v = x[i];
    for (int k = 0; k < 3; ++k) v = sin(v) + 0.3 * v * v;
    y[i] = v;
}

__global__ void forward_by_lanes(const double *x, double *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    const double mine = i < n ? x[i] : 0, next = __shfl_down_sync(0xffu << (lane & 24), mine, 1, 8);
    if (i < n) y[i] = mine * next;
}

__global__ void forward_with_shared(const double *x, double *y, int n)
{
    __shared__ double tile[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = tile[threadIdx.x] * tile[31 - threadIdx.x];
}

__global__ void forward_by_a_group(const double *x, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i];
    if (i % 3 == 0) return;
    const auto group = cooperative_groups::coalesced_threads();
    y[i] = x[i] * cooperative_groups::reduce(group, x[i] * x[i], cooperative_groups::plus<double>());
}

// Boxes of particles, of which each meets those of a list.
__global__ void forward_over_lists(const double *x, const int *boxes, double *y, int n)
{
    __shared__ double tile[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        const int other = boxes[3 * blockIdx.x + k] * 32 + t;
        tile[t] = other < n ? x[other] : 0;
        __syncthreads();
        for (int j = 0; j < 32; ++j) sum += i < n ? exp(-(x[i] - tile[j]) * (x[i] - tile[j])) * tile[j] : 0;
        __syncthreads();
    }
    if (i < n) y[i] = sum;
}

__global__ void second_derivatives(const double *x, const double *w, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = sin(x[i]) * w[i] * w[i] + exp(x[i] * w[i]);
}

__global__ void second_of_a_loop(const double *x, double *y, int n)
{
    MY_ELEMENT(n);
    double v = x[i];
    for (int k = 0; k < 4; ++k) v = v * v * 0.5 + x[i];
    y[i] = v;
}

__global__ void second_of_a_sum(const double *x, double *sum, int n)
{
    MY_ELEMENT(n);
    atomicAdd(sum, x[i] * x[i] * x[(i + 1) % n]);
}

ADGEN_INACTIVE __device__ double level(double v) { return floor(10 * v) / 10; }

__global__ void inactive_function(const double *x, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = level(x[i]) * x[i];
}

ADGEN_GRADIENT(gradient_of_bent) __device__ double bent(double v, double w) { return v * v * w; }
__device__ void gradient_of_bent(double v, double w, double cotangent, double *d_v, double *d_w)
{
    *d_v = 2 * v * w * cotangent;
    *d_w = v * v * cotangent;
}

__global__ void own_gradient(const double *x, const double *w, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = bent(x[i], w[i]) + w[i];
}
