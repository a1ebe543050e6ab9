// What test_verification_narrow.py verifies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const __half *x, const __half *w, __half *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hmul(x[i], __hadd(x[i], w[i]));
}

__global__ void brains(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hmul(x[i], __hadd(x[i], w[i]));
}

// Sums in half, each of whose additions is rounded.
__global__ void sums(const __half *x, const __half *w, __half *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half sum = __float2half(0.0f);
  for (int j = 0; j < 64; ++j) sum = __hadd(sum, __hmul(x[(i + j) % 64], w[(3 * i + j) % 64]));
  y[i] = sum;
}

// Float, with one rounding to half on the way.
__global__ void rounds_once(const float *x, const float *w, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __half2float(__float2half(x[i] * w[i])) * sinf(x[i]);
}

// A number is rounded by adding a large constant and taking it away again, which is a step, here and in hcos.
__global__ void reduced(const float *x, const float *w, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float turns = fmaf(x[i], 0.636619772f, 12582912.0f) - 12582912.0f, rest = fmaf(turns, -1.57079637f, x[i]);
  y[i] = rest * rest * w[i];
}

__global__ void half_cosine(const __half *x, const __half *w, __half *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hmul(hcos(x[i]), w[i]);
}
