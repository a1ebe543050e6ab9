// A file of an extension of PyTorch whose build says C++14: OpenMP, Thrust, and a function of the device that clang
// does not read, with conditions of the preprocessor in it.
#include <ATen/cuda/DeviceUtils.cuh>
#include <omp.h>
#include <thrust/device_vector.h>
#include <torch/library.h>

using Faces = at::PackedTensorAccessor<int64_t, 2, at::RestrictPtrTraits>;

inline bool is_on(const at::Device &device) { return device.type() == at::DeviceType::CUDA && device.has_index(); }

inline int blocks(int n) { return std::min(n, at::cuda::getCurrentDeviceProperties()->maxGridSize[0]); }

template <class T> __device__ T total(T value) {
  for (int lanes = 16; lanes; lanes /= 2)
    value += WARP_SHFL_DOWN(value, lanes);
  return value;
}

template <> __device__ at::Half total(at::Half value) {
#ifdef ELSEWHERE
  value += 1;
#else
  value += WARP_SHFL_DOWN(value.operator __half(), 1);
#endif
  return value;
}

__global__ void squared_sum(const float *x, float *y) {
  const float sum = total(x[threadIdx.x]);
  if (threadIdx.x == 0)
    y[0] = sum * sum;
}

void launch(Faces faces);

TORCH_LIBRARY(older, m) { m.def("squared_sum", &squared_sum); }

int main() {
  thrust::device_vector<float> x(32), y(1);
#pragma omp parallel
  squared_sum<<<omp_get_num_threads(), 32>>>(x.data().get(), y.data().get());
}
