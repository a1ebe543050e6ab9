// Structs by value, of which members of type void * hold numbers of the type that the kernel takes them for.
#include <c10/util/Half.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Sizes {
  int n;
  float slope;
};

struct Given {
  const void *x;
  const void *given_bias;
  Sizes sizes;
  void *y;
};

template <class T> __device__ T biased(const Given &given, int i) {
  return static_cast<const T *>(given.x)[i] * T(given.sizes.slope) + ((const T *)given.given_bias)[i % 4];
}

template <class T> __global__ void activated(Given p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.sizes.n)
    return;
  const T v = biased<T>(p, i);
  reinterpret_cast<T *>(p.y)[i] = v > 0 ? v * v : v / 2;
}

template __global__ void activated<float>(Given);
template __global__ void activated<double>(Given);

// Numbers of 16 bits, which are classes, are computed with as floats and copied as they are.
template <class T> __global__ void rounded(Given p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.sizes.n)
    return;
  const T *x = static_cast<const T *>(p.x);
  const T kept = x[i];
  const float v = float(kept) * p.sizes.slope + (p.given_bias ? (float)((const T *)p.given_bias)[i % 4] : 0.0f);
  ((T *)p.y)[i] = T(v > 0 ? v * v : v / 2);
}

template __global__ void rounded<c10::Half>(Given);
template __global__ void rounded<__nv_bfloat16>(Given);

// Two types behind one member.
__global__ void mixed(Given p) {
  const int i = threadIdx.x;
  ((float *)p.y)[i] = ((const float *)p.x)[i] + ((const int *)p.x)[i];
}

// Numbers of 16 bits, and structs of numbers.
template <class T> __global__ void scaled(Given p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.sizes.n)
    return;
  const T *x = reinterpret_cast<const T *>(p.x) + 0;
  const float4 *bias = reinterpret_cast<const float4 *>(p.given_bias);
  const float4 each = bias[i % 2];
  const float v = float(x[i]);
  reinterpret_cast<T *>(p.y)[i] = T(v * v * p.sizes.slope + each.x * each.w);
}

template __global__ void scaled<__half>(Given);
template __global__ void scaled<__nv_bfloat16>(Given);

// Words in which halves are copied.
__global__ void copied(Given p) {
  const uint2 words = reinterpret_cast<const uint2 *>(p.x)[threadIdx.x];
  const __half *halves = reinterpret_cast<const __half *>(&words);
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<__half *>(p.y)[4 * threadIdx.x + k] = halves[k] * halves[k];
}
