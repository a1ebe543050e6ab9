// Host code of an extension of PyTorch calls operators of tensors before it launches its kernels, whose instances are
// known from these launches alone.
#include <ATen/Context.h>
#include <ATen/cuda/detail/IndexUtils.cuh>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#define DISPATCH_FLOATS(TYPE, NAME, ...)                                                                               \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                                       \
                     AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)                                              \
                         AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__))

template <class scalar_t>
__global__ void weighted(const scalar_t *__restrict__ x, const int64_t *__restrict__ order, scalar_t *y, float scale,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scalar_t v = i < n ? __ldg(x + order[i]) : scalar_t(0.0f);
  v += __shfl_xor_sync(0xffffffff, v, 1);
  if (i < n)
    y[i] = v * v * scalar_t(scale);
}

template <class scalar_t, int Kind> __global__ void powers(scalar_t *y, const scalar_t *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = Kind == 2 ? x[i] * x[i] : x[i] * x[i] * x[i];
}

std::tuple<torch::Tensor, torch::Tensor> weigh(const torch::Tensor &x, torch::Tensor mask,
                                               torch::optional<double> scale) {
  at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  at::globalContext().alertNotDeterministic("weigh");
  TORCH_CHECK(x.dtype() == torch::kFloat32 && x.type().is_cuda(), "x must be ", x.sizes(), " numbers of ", x.device());
  const auto order = std::get<1>(x.abs().sort(0, true));
  auto [largest, where] = x.max(0, /*keepdim=*/true);
  auto chosen = x.masked_select(mask).view({-1, x.size(1)}).index_select(0, order.narrow(0, 0, 3)).contiguous();
  chosen.masked_fill_(chosen < 0.5, 0).mul_(2.0f) += largest;
  chosen =
      torch::cat({chosen, torch::stack({largest, -largest}, 1).flatten()}, 0) / (1.0 + chosen.norm().item<double>());
  chosen.index_put_({torch::indexing::Slice(0, 3), where}, 1.0);
  const auto options = chosen.options().dtype(torch::kInt64).device(torch::kCUDA, x.get_device());
  auto places = torch::arange(0, chosen.numel(), options).to(torch::kCUDA, /*non_blocking=*/true);
  auto sizes = chosen.sizes().vec();
  sizes.back() /= 2;
  auto y = torch::empty(sizes, chosen.options().requires_grad(false));
  const int n = y.numel(), small = at::cuda::detail::canUse32BitIndexMath(y) ? n : 0;
  const float factor = scale.has_value() ? scale.value() : torch::sum(chosen, {0, 1}).item().toFloat();
  DISPATCH_FLOATS(chosen.scalar_type(), "weighted", [&] {
    weighted<scalar_t><<<at::cuda::ATenCeilDiv(n, 128), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        chosen.data_ptr<scalar_t>(), places.data_ptr<int64_t>(), y.data_ptr<scalar_t>(), factor, small);
  });
  AT_DISPATCH_FLOATING_TYPES_AND3(at::kHalf, at::kBFloat16, at::kInt, y.scalar_type(), "powers", [&] {
    powers<scalar_t, 2><<<1, n>>>(y.data_ptr<scalar_t>(), chosen.const_data_ptr<scalar_t>(), n);
  });
  return std::make_tuple(y, y.transpose(0, 1).t().permute({1, 0}).clone());
}
