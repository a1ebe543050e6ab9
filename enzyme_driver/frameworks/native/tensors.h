// Programs on PyTorch's tensors, through its stable ABI.
#pragma once

#include "program.h"

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <dlfcn.h>

namespace adgen {

using torch::stable::Tensor;

struct TensorShape {
  int32_t dtype; // as PyTorch numbers them
  std::vector<int64_t> sizes;
};

constexpr int32_t BYTES = 0; // torch.uint8

inline void done(AOTITorchError status, const char *what) {
  if (status != 0)
    throw std::runtime_error(std::string("PyTorch cannot ") + what);
}

inline int32_t dtype_of(const Tensor &tensor) {
  int32_t found = 0;
  done(aoti_torch_get_dtype(tensor.get(), &found), "say a tensor's dtype");
  return found;
}

using CurrentStream = AOTITorchError (*)(int32_t device, void **stream);

// Of libtorch_cuda, which a program without GPUs does not load.
inline CurrentStream current_stream() {
  static void *library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  auto found =
      reinterpret_cast<CurrentStream>(library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr);
  if (found == nullptr)
    throw std::runtime_error("libtorch_cuda is not loaded");
  return found;
}

struct Where {
  int32_t type = 0, index = 0;
  std::vector<Tensor> kept;
};

inline Tensor made(const Where &where, int32_t dtype, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t axis = sizes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * sizes[axis];
  AtenTensorHandle handle = nullptr;
  done(aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), dtype, where.type,
                                where.index, &handle),
       "make a tensor");
  return Tensor(handle);
}

inline void *taken(void *context, size_t bytes) {
  auto *where = static_cast<Where *>(context);
  where->kept.push_back(made(*where, BYTES, {static_cast<int64_t>(bytes)}));
  return where->kept.back().data_ptr();
}

// Whether all tensors are on one device, and on which.
inline bool on_one_device(const std::vector<Tensor> &tensors, Where &where) {
  for (const Tensor &tensor : tensors) {
    int32_t type = 0, index = 0;
    done(aoti_torch_get_device_type(tensor.get(), &type), "say a tensor's device");
    done(aoti_torch_get_device_index(tensor.get(), &index), "say a tensor's device");
    if (&tensor != tensors.data() && (type != where.type || index != where.index))
      return false;
    where.type = type;
    where.index = index;
  }
  return true;
}

// The results of a program, new tensors; operands are contiguous.
inline std::vector<Tensor> run_on(const Program &program, const std::vector<TensorShape> &shapes,
                                  const std::vector<Tensor> &operands, Where &where, uint32_t way = 0) {
  std::vector<Tensor> results;
  results.reserve(shapes.size());
  for (const TensorShape &each : shapes)
    results.push_back(made(where, each.dtype, each.sizes));
  std::vector<void *> buffers;
  buffers.reserve(operands.size() + results.size());
  for (const Tensor &tensor : operands)
    buffers.push_back(tensor.data_ptr());
  for (const Tensor &tensor : results)
    buffers.push_back(tensor.data_ptr());
  bool on_host = where.type == aoti_torch_device_type_cpu();
  void *stream = nullptr;
  if (!on_host)
    done(current_stream()(where.index, &stream), "say its current stream");
  run(program, {buffers.data(), nullptr, 1, stream, on_host ? -1 : where.index, way, taken, &where});
  return results;
}

} // namespace adgen
