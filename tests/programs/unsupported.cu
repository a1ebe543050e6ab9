// What adgen has to refuse, with a reason: state in globals. And what it takes: calls
// through pointers, a sum by compare-and-swap, a vote, floats behind void *.
#include <cstdio>
#include <cuda_runtime.h>

__device__ float total_energy;

__device__ float square(float x) { return x * x; }
__device__ float cube(float x) { return x * x * x; }

typedef float (*unary)(float);

__global__ void accumulate_global(const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) total_energy += x[i];
}

__global__ void through_pointer(const float *x, float *out, int which, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unary table[2] = {square, cube};
    if (i < n) out[i] = table[which](x[i]);
}

__device__ double add_by_cas(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void sum_by_cas(const double *x, double *total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add_by_cas(total, x[i] * x[i]);
}

__global__ void any_large(const float *x, float *out, float limit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool large = __any_sync(0xffffffffu, i < n && x[i] > limit);
    if (i < n) out[i] = large ? x[i] : 0.5f * x[i];
}

__global__ void raw_bytes(const void *data, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * static_cast<const float *>(data)[i];
}

int main()
{
    float *x, *out;
    cudaMallocManaged(&x, 32 * sizeof(float));
    cudaMallocManaged(&out, 32 * sizeof(float));
    through_pointer<<<1, 32>>>(x, out, 1, 32);
    any_large<<<1, 32>>>(x, out, 1.0f, 32);
    raw_bytes<<<1, 32>>>(x, out, 32);
    accumulate_global<<<1, 32>>>(x, 32);
    cudaDeviceSynchronize();
    printf("%f\n", out[0]);
    return 0;
}
