// Runs the programs of an exported operator on PyTorch's tensors.
#include "stable.h"

#include "tensors.h"

#include <cstring>
#include <dlfcn.h>
#include <map>

namespace adgen {
namespace {

namespace abi = torch::stable::detail;

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

} // namespace

void run_exported(const Exported &op, StableIValue *stack, uint64_t count) {
  if (count != std::strlen(op.kinds))
    throw std::runtime_error(std::string("adgen::") + op.name + " was called with another number of arguments");
  Arguments arguments(op.kinds, stack);
  const Variant &variant = chosen(op, arguments.key);
  Where where;
  if (!on_one_device(arguments.tensors, where))
    throw std::runtime_error(std::string("adgen::") + op.name + ": the tensors are on several devices");
  std::vector<Tensor> results = run_on(program(variant), variant.results, arguments.tensors, where);
  for (size_t index = 0; index < results.size(); ++index)
    stack[index] = abi::from(results[index]);
}

} // namespace adgen
