// Numbers whose last bits are set or cleared by chance, so that the mean of many roundings is the number itself.
#include <cuda_bf16.h>

__device__ unsigned noise(unsigned place, unsigned seed)
{
    unsigned mixed = place * 0x9e3779b9u + seed;
    mixed ^= mixed >> 15;
    mixed *= 0x85ebca6bu;
    return mixed ^ (mixed >> 13);
}

__device__ float compared(float number, unsigned random)
{
    const unsigned bits = __float_as_uint(number);
    return __uint_as_float((bits & 0xffff) > (random & 0xffff) ? bits | 0xffff : bits & ~0xffffu);
}

__device__ float increased(float number, unsigned random)
{
    return __uint_as_float((__float_as_uint(number) + (random & 0xffff)) & 0xffff0000u);
}

__global__ void squares(const float *x, __nv_bfloat16 *y, float *z, unsigned seed)
{
    const int i = threadIdx.x;
    const unsigned random = noise(i, seed);
    y[i] = __float2bfloat16_rn(compared(x[i] * x[i], random));
    z[i] = increased(x[i] * x[i] * x[i], random);
}
