// Functions as people write them where the library's are too slow: rounding by a large constant, exponents and signs by their bits.
#include <cuda_runtime.h>
#include <cstdio>

#define MAGIC 12582912.0f

__device__ __forceinline__ float fast_sin(float x)
{
    float k = x * 0.318309886f + MAGIC;
    const int half_turns = __float_as_int(k);
    k -= MAGIC;
    float r = x - k * 3.14159274f;
    r = r + k * 8.7422777e-8f;
    const float r2 = r * r;
    const float s = r + r * r2 * (-1.66666546e-1f + r2 * (8.33216087e-3f - 1.95152959e-4f * r2));
    return (half_turns & 1) ? -s : s;
}

// Through the nearest power of two, which the low bits of the sum hold.
__device__ __forceinline__ double fast_exp(double x)
{
    const double shift = 6755399441055744.0;
    double t = __fma_rn(x, 1.4426950408889634, shift);
    const int n = __double2loint(t);
    t = __dsub_rn(t, shift);
    const double r = __fma_rn(t, -0.693147180559945309417, x);
    double p = 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return __hiloint2double((1023 + n) << 20, 0) * p;
}

// With a table of steps between the powers.
__device__ __forceinline__ double table_exp2(double x, const double *table)
{
    const double shift = 0x1.8p52 / 32, k = (x + shift) - shift, whole = floor(k), r = (x - k) * 0.693147180559945309417;
    return ldexp(table[__double2int_rn((k - whole) * 32)], (int)whole) * (1 + r * (1 + r * (0.5 + r * (1.0 / 6 + r / 24))));
}

// A signed square root: the sign is put back by its bit.
__device__ __forceinline__ float signed_root(float x)
{
    const unsigned sign = __float_as_uint(x) & 0x80000000u;
    const float root = sqrtf(__uint_as_float(__float_as_uint(x) & 0x7fffffffu) + 0.1f);
    return __uint_as_float(__float_as_uint(root) | sign);
}

__global__ void waves(const float *x, const float *phase, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fast_sin(x[i] * 3.0f + phase[i]) * signed_root(x[i]);
}

__global__ void decay(const double *time, const double *rate, const double *table, double *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fast_exp(-time[i] * rate[i]) + table_exp2(time[i], table);
}

// Periodic distances by the nearest image.
__global__ void pair_energy(const double *x, double *energy, double box, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int j = 0; j < n; ++j) {
        if (i == j) continue;
        double d = x[i] - x[j];
        d -= box * ((d / box + 6755399441055744.0) - 6755399441055744.0);
        sum += 1.0 / (0.5 + d * d);
    }
    energy[i] = sum;
}

int main()
{
    const int n = 256;
    float *x, *phase, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&phase, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; ++i) x[i] = 0.01f * i - 1.0f, phase[i] = 0.5f;
    waves<<<2, 128>>>(x, phase, y, n);
    cudaDeviceSynchronize();
    printf("%f\n", y[7]);
    return 0;
}
