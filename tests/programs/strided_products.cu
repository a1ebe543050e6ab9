/* Soft silhouettes: each thread comes by several pixels with the stride of the grid. */
#include <cuda_runtime.h>

__device__ float uncovered(const float *distances, int faces, float sharpness)
{
    float left = 1.f;
    for (int f = 0; f < faces; ++f) {
        const float d = distances[f];
        if (d > 3.f) continue;
        left *= 1.f - 1.f / (1.f + expf(d * sharpness));
    }
    return left;
}

__global__ void coverage(const float *distances, float *covered, int pixels, int faces, float sharpness)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < pixels; p += gridDim.x * blockDim.x)
        covered[p] = 1.f - uncovered(distances + p * faces, faces, sharpness);
}

/* Of the pixels that a thread comes by, the last one stays. */
__global__ void last_coverage(const float *distances, float *covered, int pixels, int faces, float sharpness, int width)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < pixels; p += gridDim.x * blockDim.x)
        covered[p % width] = 1.f - uncovered(distances + p * faces, faces, sharpness);
}
