// Numbers of 8 bits, which clang has as assembly where the GPU has instructions for them.
#include <cuda_fp8.h>

#define MY_ELEMENT(n)                                                                                                  \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                               \
    if (i >= (n)) return

template <class Byte> __global__ void widened(const Byte *codes, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = float(codes[i]);
}

template <class Byte> __global__ void rounded(const float *x, Byte *codes, int n)
{
    MY_ELEMENT(n);
    codes[i] = Byte(x[i]);
}

__global__ void rounded_pairs(const __half2 *x, __nv_fp8x2_e4m3 *codes, int n)
{
    MY_ELEMENT(n);
    codes[i] = __nv_fp8x2_e4m3(x[i]);
}

__global__ void times_weights(const __nv_fp8_e4m3 *weights, const float *scales, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += float(weights[i * n + j]) * x[j];
    y[i] = scales[i] * sum * sum;
}

__global__ void times_its_rounded(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * float(__nv_fp8_e4m3(x[i]));
}
