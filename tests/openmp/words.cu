// What is larger than a word and goes through shuffles word by word.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>

template <class V> __device__ V shuffled(V value, int from) {
  int *words = reinterpret_cast<int *>(&value);
  for (int k = 0; k < sizeof(V) / sizeof(int); k++) words[k] = __shfl_sync(~0u, words[k], from);
  return value;
}

__global__ void numbers(const double *x, double *y) {
  int t = threadIdx.x;
  y[t] = shuffled(x[t] * x[t], 31 - t) * x[t];
}

struct Best { float key; int at; double weight; };

__global__ void structs(const float *x, const double *w, double *y) {
  int t = threadIdx.x;
  Best best = {x[t] * x[t], t, w[t] * x[t]};
  for (int o = 16; o; o /= 2) {
    Best other = shuffled(best, (t + o) % 32);
    if (other.key < best.key) best = other;
  }
  y[t] = best.key * best.weight * (best.at + 1) + shuffled(best, t / 2).weight;
}

__global__ void larger(const double *x, double *y) {
  using Reduce = cub::WarpReduce<double>;
  __shared__ typename Reduce::TempStorage room[2];
  int warp = threadIdx.x / 32;
  auto choose = [](double a, double b) { return a > b ? a : b; };
  double most = Reduce(room[warp]).Reduce(x[blockIdx.x * 64 + threadIdx.x], choose);
  if (threadIdx.x % 32 == 0) y[2 * blockIdx.x + warp] = most * most;
}

__global__ void running(const double *x, double *y) {
  using Scan = cub::BlockScan<double, 64>;
  __shared__ typename Scan::TempStorage room;
  int i = blockIdx.x * 64 + threadIdx.x;
  double sum;
  Scan(room).InclusiveSum(x[i], sum);
  y[i] = sum * x[i];
}

__device__ half outside(half x) { return __hgt(x, __float2half(0.5f)) || __hlt(x, __float2half(-0.5f)) ? x : __float2half(0); }

__global__ void pairs(const half *x, half *y) {
  int i = 2 * threadIdx.x;
  half2 given = *(const half2 *)(x + i), kept;
  kept.x = outside(given.x);
  kept.y = outside(given.y);
  *(half2 *)(y + i) = kept;
}

template <class T> __global__ void neighbours(const T *x, T *y) {
  int i = threadIdx.x;
  T v = x[i];
  for (int mask = 1; mask < 4; mask *= 2) v = v + __shfl_xor_sync(~0u, v, mask);
  y[i] = v * __shfl_down_sync(~0u, x[i], 1);
}

template __global__ void neighbours<half>(const half *, half *);
template __global__ void neighbours<__nv_bfloat16>(const __nv_bfloat16 *, __nv_bfloat16 *);
