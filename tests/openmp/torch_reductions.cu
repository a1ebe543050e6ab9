// What kernels of PyTorch take from its headers to reduce rows: shuffles, reductions of blocks, limits, mathematics by one
// name, and the state of random numbers.
#include <ATen/NumericLimits.cuh>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/cuda/PhiloxUtils.cuh>
#include <ATen/native/cuda/block_reduce.cuh>
#include <c10/cuda/CUDAMathCompat.h>
#include <torch/extension.h>

namespace reduce = at::native::cuda_utils;

template <class scalar_t>
__global__ void dropped_softmax(const scalar_t *x, scalar_t *y, scalar_t *most, int columns, at::PhiloxCudaState state) {
  __shared__ scalar_t shared[C10_WARP_SIZE], common[2];
  const auto [seed, offset] = at::cuda::philox::unpack(state);
  const scalar_t *row = x + blockIdx.x * columns;
  scalar_t largest = at::numeric_limits<scalar_t>::lower_bound();
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    largest = c10::cuda::compat::max(largest, row[c]);
  largest = reduce::BlockReduceMax(largest, shared);
  if (threadIdx.x == 0)
    common[0] = largest;
  __syncthreads();
  scalar_t sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += c10::cuda::compat::exp(row[c] - common[0]);
  sum = reduce::BlockReduceSum(sum, shared);
  if (threadIdx.x == 0)
    common[1] = sum;
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const bool kept = (seed + offset * c) % 3 != 0;
    y[blockIdx.x * columns + c] = kept ? c10::cuda::compat::exp(row[c] - common[0]) / common[1] : scalar_t(0);
  }
  scalar_t of_warp = threadIdx.x < columns ? row[threadIdx.x] : at::numeric_limits<scalar_t>::lowest();
  for (int lanes = C10_WARP_SIZE / 2; lanes > 0; lanes /= 2)
    of_warp = c10::cuda::compat::max(of_warp, WARP_SHFL_XOR(of_warp, lanes));
  if (threadIdx.x == 0)
    most[blockIdx.x] = of_warp;
}

template __global__ void dropped_softmax<float>(const float *, float *, float *, int, at::PhiloxCudaState);
