// What kernels of PyTorch take from its header of complex numbers: arithmetic, functions, and sums of all threads.
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/NumericLimits.cuh>
#include <c10/util/complex.h>
#include <torch/extension.h>

using complex_t = c10::complex<float>;

// Poles of a filter: what each gives to the response at a frequency, weighted, and in all.
__global__ void filter_response(const complex_t *pole, const complex_t *weight, float frequency, complex_t *response,
                                complex_t *sum, int poles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= poles)
    return;
  const complex_t s = std::exp(complex_t(0, frequency));
  complex_t of_pole = weight[i] / (s - pole[i]) + std::conj(weight[i]) / (2.0f * s - std::conj(pole[i]));
  of_pole *= std::abs(of_pole) < at::numeric_limits<float>::upper_bound() ? 1.0f : 0.0f;
  response[i] = of_pole - 0.5f * std::norm(pole[i]);
  gpuAtomicAdd(sum, of_pole * of_pole);
}
