// Sums and other reductions of a warp or a block, of which the first thread has the result.
#pragma once
#include <ATen/cuda/DeviceUtils.cuh>

namespace at::native::cuda_utils {

constexpr int kCUDABlockReduceNumThreads = 512;
constexpr int kCUDABlockReduceMaxThreads = C10_WARP_SIZE * C10_WARP_SIZE;

// Of blocks of one dimension, and of two.
struct Block1D {
  static __device__ __forceinline__ int Tid() { return threadIdx.x; }
  static __device__ __forceinline__ int Warps() { return blockDim.x / C10_WARP_SIZE; }
};
struct Block2D {
  static __device__ __forceinline__ int Tid() { return threadIdx.x + threadIdx.y * blockDim.x; }
  static __device__ __forceinline__ int Warps() { return blockDim.x * blockDim.y / C10_WARP_SIZE; }
};

template <class T, class Op> __device__ __forceinline__ T WarpReduce(T value, const Op &op) {
#pragma unroll
  for (int lanes = C10_WARP_SIZE / 2; lanes > 0; lanes /= 2)
    value = op.combine(value, op.warp_shfl_down(value, lanes));
  return value;
}

template <class T, class Op, class B = Block1D>
__device__ __forceinline__ T BlockReduce(T value, const Op &op, const T &identity, T *shared) {
  const int lane = B::Tid() % C10_WARP_SIZE, warp = B::Tid() / C10_WARP_SIZE;
  value = WarpReduce(value, op);
  __syncthreads();
  if (lane == 0)
    shared[warp] = value;
  __syncthreads();
  value = B::Tid() < B::Warps() ? shared[lane] : identity;
  return warp == 0 ? WarpReduce(value, op) : value;
}

template <class T> struct SumOfTwo {
  __device__ __forceinline__ T combine(T a, T b) const { return a + b; }
  __device__ __forceinline__ T warp_shfl_down(T value, int by) const { return WARP_SHFL_DOWN(value, by); }
};
template <class T> struct MaxOfTwo {
  __device__ __forceinline__ T combine(T a, T b) const { return a > b ? a : b; }
  __device__ __forceinline__ T warp_shfl_down(T value, int by) const { return WARP_SHFL_DOWN(value, by); }
};

template <class T> __device__ __forceinline__ T WarpReduceSum(T value) { return WarpReduce(value, SumOfTwo<T>()); }
template <class T> __device__ __forceinline__ T WarpReduceMax(T value) { return WarpReduce(value, MaxOfTwo<T>()); }
template <class T, class B = Block1D> __device__ __forceinline__ T BlockReduceSum(T value, T *shared) {
  return BlockReduce<T, SumOfTwo<T>, B>(value, SumOfTwo<T>(), T(0), shared);
}
template <class T, class B = Block1D> __device__ __forceinline__ T BlockReduceMax(T value, T *shared) {
  return BlockReduce<T, MaxOfTwo<T>, B>(value, MaxOfTwo<T>(), T(-INFINITY), shared);
}

} // namespace at::native::cuda_utils
