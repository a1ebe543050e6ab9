// Runs the programs of an exported operator on PyTorch's tensors.
#include "stable.h"

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cstring>
#include <dlfcn.h>
#include <map>

namespace adgen {
namespace {

using torch::stable::Tensor;
namespace abi = torch::stable::detail;

constexpr int32_t BYTES = 0; // torch.uint8

void done(AOTITorchError status, const char *what) {
  if (status != 0)
    throw std::runtime_error(std::string("PyTorch cannot ") + what);
}

int32_t dtype_of(const Tensor &tensor) {
  int32_t found = 0;
  done(aoti_torch_get_dtype(tensor.get(), &found), "say a tensor's dtype");
  return found;
}

// The arguments, taken from the stack, which owns no tensor afterwards.
struct Arguments {
  std::vector<Tensor> tensors;
  std::vector<int64_t> key;

  Arguments(const char *kinds, const StableIValue *stack) {
    for (size_t index = 0; kinds[index] != 0; ++index) {
      if (kinds[index] == 't')
        add(abi::to<Tensor>(stack[index]));
      else if (kinds[index] == 'f')
        add(abi::to<double>(stack[index]));
      else
        key.push_back(kinds[index] == 'b' ? int64_t(abi::to<bool>(stack[index])) : abi::to<int64_t>(stack[index]));
    }
  }

private:
  void add(Tensor tensor) {
    key.push_back(dtype_of(tensor));
    key.push_back(tensor.dim());
    for (int64_t axis = 0; axis < tensor.dim(); ++axis)
      key.push_back(tensor.size(axis));
    tensors.push_back(tensor.is_contiguous() ? tensor : torch::stable::contiguous(tensor));
  }

  void add(double number) {
    int64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    key.push_back(bits);
  }
};

using CurrentStream = AOTITorchError (*)(int32_t device, void **stream);

// Of libtorch_cuda, which a program without GPUs does not load.
CurrentStream current_stream() {
  static void *library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  auto found = reinterpret_cast<CurrentStream>(library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr);
  if (found == nullptr)
    throw std::runtime_error("libtorch_cuda is not loaded");
  return found;
}

std::string folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&folder), &info) == 0)
    throw std::runtime_error("the folder of the exported operator is not known");
  std::string path = info.dli_fname;
  size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end);
}

const Program &program(const Variant &variant) {
  static std::mutex guard;
  static std::map<const Variant *, std::unique_ptr<Program>> known;
  std::lock_guard<std::mutex> lock(guard);
  std::unique_ptr<Program> &made = known[&variant];
  if (made == nullptr) {
    std::string text = variant.text;
    for (size_t at = text.find("@/"); at != std::string::npos; at = text.find("@/", at + 1))
      if (at == 0 || text[at - 1] == '\n')
        text.replace(at, 1, folder());
    made = Program::decoded(variant.words.data(), variant.words.size(), text);
  }
  return *made;
}

const Variant &chosen(const Exported &op, const std::vector<int64_t> &key) {
  for (const Variant &variant : op.variants)
    if (variant.key == key)
      return variant;
  throw std::runtime_error(std::string("adgen::") + op.name +
                           " was not exported for these shapes, dtypes and values: give an example with them");
}

struct Where {
  int32_t type = 0, index = 0;
  std::vector<Tensor> kept;
};

Tensor made(const Where &where, int32_t dtype, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t axis = sizes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * sizes[axis];
  AtenTensorHandle handle = nullptr;
  done(aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), dtype, where.type,
                                where.index, &handle),
       "make a tensor");
  return Tensor(handle);
}

void *taken(void *context, size_t bytes) {
  auto *where = static_cast<Where *>(context);
  where->kept.push_back(made(*where, BYTES, {static_cast<int64_t>(bytes)}));
  return where->kept.back().data_ptr();
}

Where place(const Exported &op, const std::vector<Tensor> &tensors) {
  Where found;
  for (const Tensor &tensor : tensors) {
    int32_t type = 0, index = 0;
    done(aoti_torch_get_device_type(tensor.get(), &type), "say a tensor's device");
    done(aoti_torch_get_device_index(tensor.get(), &index), "say a tensor's device");
    if (&tensor != tensors.data() && (type != found.type || index != found.index))
      throw std::runtime_error(std::string("adgen::") + op.name + ": the tensors are on several devices");
    found.type = type;
    found.index = index;
  }
  return found;
}

} // namespace

void run_exported(const Exported &op, StableIValue *stack, uint64_t count) {
  if (count != std::strlen(op.kinds))
    throw std::runtime_error(std::string("adgen::") + op.name + " was called with another number of arguments");
  Arguments arguments(op.kinds, stack);
  const Variant &variant = chosen(op, arguments.key);
  Where where = place(op, arguments.tensors);
  std::vector<Tensor> results;
  for (const ExportedResult &each : variant.results)
    results.push_back(made(where, each.dtype, each.sizes));
  std::vector<void *> buffers;
  for (const auto *tensors : {&arguments.tensors, &results})
    for (const Tensor &tensor : *tensors)
      buffers.push_back(tensor.data_ptr());
  void *stream = nullptr;
  if (op.on_gpu) {
    done(current_stream()(where.index, &stream), "say its current stream");
  }
  Call call{buffers.data(), nullptr, 1, stream, op.on_gpu ? where.index : -1, 0, taken, &where};
  adgen::run(program(variant), call);
  for (size_t index = 0; index < results.size(); ++index)
    stack[index] = abi::from(results[index]);
}

} // namespace adgen
