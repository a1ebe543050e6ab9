// Fused half-precision layers with packed maths: RMS norm with residual, SwiGLU over vectors of eight, int4 weights
// dequantised by bit tricks into half2, and rotary positions.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

template <typename T> struct Packed;
template <> struct Packed<__half> {
    using type = __half2;
    static __device__ float2 up(__half2 v) { return __half22float2(v); }
    static __device__ __half2 down(float2 v) { return __float22half2_rn(v); }
};
template <typename T> union alignas(16) Vec8 {
    uint4 raw;
    typename Packed<T>::type pair[4];
    __device__ Vec8() {}
};

template <typename T>
__global__ void rms_norm_residual(T *__restrict__ x, const T *__restrict__ residual, const T *__restrict__ weight, T *__restrict__ out, int width, float eps)
{
    const int row = blockIdx.x;
    __shared__ float warp_sums[32];
    float ss = 0.0f;
    uint4 *x4 = reinterpret_cast<uint4 *>(x + row * width);
    const uint4 *r4 = reinterpret_cast<const uint4 *>(residual + row * width);
    for (int c = threadIdx.x; c < width / 8; c += blockDim.x) {
        Vec8<T> a, b;
        a.raw = x4[c];
        b.raw = r4[c];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            a.pair[k] = __hadd2(a.pair[k], b.pair[k]);
            const float2 f = Packed<T>::up(a.pair[k]);
            ss += f.x * f.x + f.y * f.y;
        }
        x4[c] = a.raw;
    }
    for (int m = 16; m; m >>= 1) ss += __shfl_xor_sync(0xffffffffu, ss, m);
    if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x >> 5] = ss;
    __syncthreads();
    ss = 0.0f;
    for (int w = 0; w < blockDim.x / 32; ++w) ss += warp_sums[w];
    const float inv = rsqrtf(ss / width + eps);
    for (int c = threadIdx.x; c < width / 8; c += blockDim.x) {
        Vec8<T> a, w;
        a.raw = x4[c];
        w.raw = reinterpret_cast<const uint4 *>(weight)[c];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float2 f = Packed<T>::up(a.pair[k]);
            f.x *= inv; f.y *= inv;
            a.pair[k] = __hmul2(Packed<T>::down(f), w.pair[k]);
        }
        reinterpret_cast<uint4 *>(out + row * width)[c] = a.raw;
    }
}

__global__ void swiglu(const __half2 *__restrict__ gate_up, __half2 *__restrict__ out, int rows, int half_width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * half_width) return;
    const int r = i / half_width, c = i % half_width;
    const __half2 g = gate_up[r * 2 * half_width + c], u = gate_up[r * 2 * half_width + half_width + c];
    const __half2 one = __float2half2_rn(1.0f);
    const __half2 sig = __h2div(one, __hadd2(one, h2exp(__hneg2(g))));
    out[i] = __hmul2(__hmul2(g, sig), u);
}

// Two nibbles at a time: 0x6400 is 1024 in half precision, so 0x6400 | n is 1024 + n.
__device__ __forceinline__ void dequant8(uint32_t packed, __half2 (&w)[4])
{
    const uint32_t magic = 0x64006400u, low = 0x000f000fu;
    const __half2 bias = __float2half2_rn(-1032.0f);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const uint32_t bits = ((packed >> (4 * k)) & low) | magic;
        w[k] = __hadd2(*reinterpret_cast<const __half2 *>(&bits), bias);
    }
}

__global__ void int4_gemv(const uint32_t *__restrict__ weights, const __half *__restrict__ scales, const __half *__restrict__ x,
                          float *__restrict__ y, int rows, int cols, int group)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float acc = 0.0f;
    for (int w = lane; w < cols / 8; w += 32) {
        __half2 q[4];
        dequant8(weights[row * (cols / 8) + w], q);
        const __half2 s = __half2half2(scales[row * (cols / group) + w * 8 / group]);
        __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const __half2 xx = __halves2half2(x[w * 8 + k], x[w * 8 + k + 4]);
            sum = __hfma2(__hmul2(q[k], s), xx, sum);
        }
        acc += __low2float(sum) + __high2float(sum);
    }
#pragma unroll
    for (int d = 16; d; d /= 2) acc += __shfl_down_sync(~0u, acc, d);
    if (lane == 0) y[row] = acc;
}

// Rotary positions as complex numbers, with the angle in half precision.
__global__ void rotary(const __half2 *__restrict__ x, const __half *__restrict__ frequency, __half2 *__restrict__ out, int rows, int pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * pairs) return;
    const __half angle = __hmul(frequency[i % pairs], __int2half_rn(i / pairs));
    const __half2 turn = __halves2half2(hcos(angle), hsin(angle));
    const __half2 v = x[i], turned = __hcmadd(v, turn, __float2half2_rn(0.0f));
    out[i] = __halves2half2(turned.x, __hadd(turned.y, h2tanh(v).x));
}

template __global__ void rms_norm_residual<__half>(__half *, const __half *, const __half *, __half *, int, float);
