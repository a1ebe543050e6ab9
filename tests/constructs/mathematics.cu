// A few of the functions that mathematics.md has all of, and numbers of 16 bits.
#include "element.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void fast_forms(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float v = x[i];
    y[i] = __sinf(v) + __cosf(v) * __expf(v) + __logf(v) + __powf(v, 1.5f) + __fdividef(v, v + 1.0f) + __tanf(v) + __exp10f(v);
}

__global__ void roots(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = rsqrtf(x[i]) + cbrtf(x[i]) + __fsqrt_rn(x[i]) + rcbrtf(x[i]) + __frsqrt_rn(x[i]);
}

__global__ void sine_and_cosine(const float *x, double *y, int n)
{
    MY_ELEMENT(n);
    float s, c;
    double ds, dc;
    sincosf(x[i], &s, &c);
    sincospi(double(x[i]), &ds, &dc);
    y[i] = s * c + ds * dc;
}

__global__ void fused(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = fmaf(x[i], x[i], 1.0f) + __fmaf_rn(x[i], 2.0f, x[i]) + __fmul_rn(x[i], x[i]) + __fadd_rz(x[i], 1.0f);
}

__global__ void integer_functions(const float *x, const int *k, float *y, int n)
{
    MY_ELEMENT(n);
    const int bits = __popc(k[i]) + __clz(k[i]) + __ffs(k[i]) + (__brev(k[i]) & 3) + __mul24(k[i], 3) + __mulhi(k[i], 1 << 30);
    const int dots = __dp4a(k[i] * 2654435, 0x7f80fe01, k[i]) + __dp2a_hi(k[i], 0x7f80fe01, 3);
    y[i] = x[i] * x[i] * bits + min(k[i], 3) * max(k[i], 2) * abs(k[i]) * x[i] + 1e-4f * dots * x[i];
}

__global__ void extremes(const float *x, const float *w, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = fminf(x[i], w[i]) * fmaxf(x[i], 1.0f) + max(x[i], w[i]) + fabsf(x[i] - w[i]) + __saturatef(0.5f * x[i]);
}

__global__ void in_pieces(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float v = 5.0f * x[i];
    y[i] = v * floorf(v) + ceilf(v) * v + rintf(v) * v + fmodf(v, 1.5f) + copysignf(v, -v) + truncf(v) + fdimf(v, 3.0f);
}

__global__ void conversions(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float v = 5.0f * x[i];
    y[i] = v * int(v) + __float2int_rn(v) * v + v * (unsigned char)v + float(double(v) * v) + (isnan(v) || isinf(v) ? 0.0f : v);
}

__global__ void special_functions(const double *x, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = erf(x[i]) + lgamma(x[i]) + tgamma(x[i]) + normcdf(x[i]) + j0(x[i]) + expm1(x[i]) + log1p(x[i]) + erfcinv(x[i]);
}

__global__ void powers(const float *x, const float *p, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = powf(x[i], p[i]) + powf(x[i], 3.0f) + powif(x[i], 3) + pow(x[i], 2) + exp2f(x[i]) + log2f(x[i]) + hypotf(x[i], p[i]);
}

__global__ void norms(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = norm3df(x[i], 1.0f, 2.0f) + rnorm4df(x[i], 1.0f, 2.0f, x[i]) + rhypotf(x[i], 2.0f) + atan2f(x[i], 2.0f);
}

__global__ void half_storage(const __half *x, const float *w, __half *y, int n)
{
    MY_ELEMENT(n);
    y[i] = __float2half(__half2float(x[i]) * w[i]);
}

__global__ void half_arithmetic(const __half *x, float *y, int n)
{
    MY_ELEMENT(n);
    const __half v = x[i] * x[i] + __float2half(1.0f);
    y[i] = __half2float(__hfma(v, x[i], hexp(x[i])));
}

__global__ void half_pairs(const __half2 *x, float2 *y, int n)
{
    MY_ELEMENT(n);
    y[i] = __half22float2(__hmul2(x[i], __hadd2(x[i], __float2half2_rn(1.0f))));
}

__global__ void halves_copied_as_floats(const __half *x, __half *y, int n)
{
    const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 8 > n) return;
    __half from[8], to[8];
    *reinterpret_cast<float4 *>(from) = *reinterpret_cast<const float4 *>(x + i);
    for (int k = 0; k < 8; k += 2) {
        const __half2 pair = *reinterpret_cast<__half2 *>(&from[k]);
        *reinterpret_cast<__half2 *>(&to[k]) = __hfma2(pair, pair, pair);
    }
    *reinterpret_cast<float4 *>(y + i) = *reinterpret_cast<float4 *>(to);
}

__global__ void bfloat16_storage(const __nv_bfloat16 *packed, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = __bfloat162float(packed[i]) * x[i] * x[i];
}

__global__ void half_atomics(const __half *x, __half *sum, int n)
{
    MY_ELEMENT(n);
    atomicAdd(sum, x[i]);
}

// At the origin the slope of a root is infinite, and counts for nothing.
__global__ void nested_in_conditions(const float *x, const float *p, float *y, int n)
{
    MY_ELEMENT(n);
    float z = hypotf(1.0f, hypotf(x[i], 0.5f)) < 1.5f ? p[i] : 2.0f * p[i];
    if (powf(cbrtf(x[i] - x[i]), 0.5f) < 0.5f) z *= x[i];
    y[i] = z;
}
