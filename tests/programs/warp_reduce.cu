// Energy of a field by warp shuffles, as reductions have been written since Kepler.
#include <cstdio>
#include <cuda_runtime.h>

__inline__ __device__ float warp_sum(float value)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

__global__ void field_energy(const float *field, float *energy, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += field[i] * field[i];
    sum = warp_sum(sum);
    if ((threadIdx.x & (warpSize - 1)) == 0)
        atomicAdd(energy, sum);
}

int main()
{
    const int n = 1 << 16;
    float *field, *energy;
    cudaMallocManaged(&field, n * sizeof(float));
    cudaMallocManaged(&energy, sizeof(float));
    for (int i = 0; i < n; ++i)
        field[i] = 0.001f * i;
    *energy = 0.0f;
    field_energy<<<32, 256>>>(field, energy, n);
    cudaDeviceSynchronize();
    printf("%f\n", *energy);
    cudaFree(field);
    cudaFree(energy);
    return 0;
}
