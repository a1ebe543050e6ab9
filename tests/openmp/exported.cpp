// A program of C++ that loads an exported operator, and calls it and its gradient: no Python takes part.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using torch::stable::Tensor;
namespace abi = torch::stable::detail;

static bool on_gpu = false;

static Tensor copied(const Tensor &from, int32_t device, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t axis = sizes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * sizes[axis];
  AtenTensorHandle handle = nullptr;
  aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), aoti_torch_dtype_float32(),
                           device, 0, &handle);
  aoti_torch_copy_(handle, from.get(), 0);
  return Tensor(handle);
}

static Tensor tensor(std::vector<float> &values, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t axis = sizes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * sizes[axis];
  AtenTensorHandle handle = nullptr;
  aoti_torch_create_tensor_from_blob(values.data(), static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), 0,
                                     aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &handle);
  Tensor made(handle);
  return on_gpu ? copied(made, aoti_torch_device_type_cuda(), sizes) : made;
}

static void print(StableIValue value) {
  Tensor found = abi::to<Tensor>(value);
  if (on_gpu) {
    std::vector<int64_t> sizes;
    for (int64_t axis = 0; axis < found.dim(); ++axis)
      sizes.push_back(found.size(axis));
    found = copied(found, aoti_torch_device_type_cpu(), sizes);
  }
  const float *numbers = static_cast<const float *>(found.data_ptr());
  for (int64_t index = 0; index < found.numel(); ++index)
    std::printf("%.9g ", double(numbers[index]));
  std::printf("\n");
}

// exported LIBRARY ROWS COLUMNS [cuda]: x[i] = 0.1 * i * i, gamma[i] = 1 + i, beta[i] = i, cotangents i
int main(int count, char **arguments) {
  on_gpu = count > 4;
  if (on_gpu && dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  if (dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  int64_t rows = std::atoi(arguments[2]), columns = std::atoi(arguments[3]);
  std::vector<float> x, gamma, beta, seed;
  for (int64_t i = 0; i < rows * columns; ++i) {
    x.push_back(0.1f * float(i * i));
    seed.push_back(float(i));
  }
  for (int64_t i = 0; i < columns; ++i) {
    gamma.push_back(1.0f + float(i));
    beta.push_back(float(i));
  }
  auto call = [&](const char *name, bool gradient) {
    std::vector<StableIValue> stack{abi::from(tensor(x, {rows, columns})), abi::from(tensor(gamma, {columns})),
                                    abi::from(tensor(beta, {columns})), abi::from(1e-5)};
    if (gradient)
      stack.push_back(abi::from(tensor(seed, {rows, columns})));
    STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(name, "", stack.data(), TORCH_ABI_VERSION));
    for (int result = 0; result < (gradient ? 3 : 1); ++result)
      print(stack[result]);
  };
  try {
    call("adgen::layer_norm", false);
    call("adgen::layer_norm_gradient", true);
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
