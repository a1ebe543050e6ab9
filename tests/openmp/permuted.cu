// Numbers that are moved as parts of an integer: bytes of half precision in another order, halves of words.
#include <cuda_fp16.h>

__device__ unsigned bits(const __half2 &v) { return *reinterpret_cast<const unsigned *>(&v); }

__global__ void lows(const __half2 *a, const __half2 *b, __half2 *r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 x = a[i], y = b[i];
  const unsigned low = __byte_perm(bits(x), bits(y), 0x5410), high = __byte_perm(bits(x), bits(y), 0x3276);
  r[i] = __hmul2(*reinterpret_cast<const __half2 *>(&low), *reinterpret_cast<const __half2 *>(&high));
}

__global__ void larger(const __half2 *a, const __half2 *b, __half2 *r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 x = a[i], y = b[i], difference = __hsub2(x, y);
  const unsigned sign = bits(difference) & 0x80008000u;
  const unsigned found = __byte_perm(bits(x), bits(y), 0x3210 | ((sign >> 21) | (sign >> 13)) * 0x11);
  r[i] = *reinterpret_cast<const __half2 *>(&found);
}

__global__ void exchanged(const float2 *a, const float2 *b, float2 *r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long x = *reinterpret_cast<const unsigned long long *>(&a[i]);
  const unsigned long long y = *reinterpret_cast<const unsigned long long *>(&b[i]);
  const unsigned long long rotated = x << 32 | x >> 32, mixed = (x & 0xffffffff00000000ull) | (y & 0xffffffffull),
                           next = x << 32 | y >> 32;
  const float2 u = *reinterpret_cast<const float2 *>(&rotated), v = *reinterpret_cast<const float2 *>(&mixed),
               w = *reinterpret_cast<const float2 *>(&next);
  r[i] = make_float2(u.x * v.x * w.x, u.y * v.y * w.y);
}

__global__ void halves(const __half2 *a, const __half2 *b, __half2 *r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = *reinterpret_cast<const unsigned *>(&a[i]), y = *reinterpret_cast<const unsigned *>(&b[i]);
  const unsigned rotated = x >> 16 | x << 16, next = (x & 0xffffu) | (y & 0xffff0000u);
  r[i] = __hmul2(*reinterpret_cast<const __half2 *>(&rotated), *reinterpret_cast<const __half2 *>(&next));
}

struct alignas(32) Eight {
  float of[8];
};

// More at once than memory on the host is aligned to.
__global__ void squared(const float *x, float *y) {
  const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  Eight v = *reinterpret_cast<const Eight *>(x + i);
  for (float &each : v.of) each *= each;
  *reinterpret_cast<Eight *>(y + i) = v;
}
