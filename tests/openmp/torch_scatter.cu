// Rows that are added up by an index as PyTorch's own kernels do it, without PyTorch's headers.
#include <ATen/NumericUtils.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/native/cuda/KernelUtils.cuh>
#include <torch/extension.h>

template <class scalar_t>
__global__ void index_add(const scalar_t *x, const int64_t *index, scalar_t *y, int64_t n, int64_t rows) {
  CUDA_KERNEL_LOOP_TYPE(i, n, int64_t) {
    const scalar_t value = at::_isnan(x[i]) || at::_isinf(x[i]) ? scalar_t(0) : x[i];
    at::native::fastAtomicAdd(y, index[i], rows, value * value, true);
  }
}

torch::Tensor add(torch::Tensor x, torch::Tensor index, int64_t rows) {
  auto y = torch::zeros({rows}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "index_add", [&] {
    index_add<scalar_t><<<1, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), index.data_ptr<int64_t>(), y.data_ptr<scalar_t>(), x.numel(), rows);
  });
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", &add); }
