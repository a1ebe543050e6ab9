// Special hardware.
#include "element.h"

__global__ void sleeping(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    __nanosleep(100);
    y[i] = x[i] * x[i];
}

__global__ void texture(cudaTextureObject_t image, const float *u, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = tex2D<float>(image, 7 * u[i], u[i]);
}

__global__ void surface(cudaSurfaceObject_t image, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * surf2Dread<float>(image, 4 * i, 0);
}

__global__ void named_barrier(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 1, 32;" ::: "memory");
    if (threadIdx.x < n) y[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void mipmap(cudaTextureObject_t image, const float *u, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = tex2DLod<float>(image, u[i], 0.5f, 1.0f);
}
