// Programs as an op of PyTorch, for eager calls: what is known is run without Python, what is not is said to be
// missing.
#include "tensors.h"

#include <torch/csrc/stable/library.h>

#include <shared_mutex>
#include <unordered_map>

namespace adgen {
namespace {

namespace abi = torch::stable::detail;

using Key = std::vector<int64_t>; // the number of a call, the device, and of each tensor its dtype and sizes

struct Hash {
  size_t operator()(const Key &key) const {
    uint64_t found = 0xcbf29ce484222325;
    for (int64_t word : key)
      found = (found ^ static_cast<uint64_t>(word)) * 0x100000001b3 ^ found >> 29;
    return found;
  }
};

struct Known {
  std::unique_ptr<Program> program;
  std::vector<TensorShape> results;
};

constexpr size_t MOST = 4096;
std::shared_mutex guard;
std::unordered_map<Key, std::shared_ptr<const Known>, Hash> known;
thread_local Key missing; // what the last call of this thread has not found

std::vector<Tensor> taken_from(StableIValue value) {
  auto list = abi::to<StableListHandle>(value);
  size_t count = 0;
  done(torch_list_size(list, &count), "say a list's length");
  std::vector<Tensor> found;
  found.reserve(count);
  for (size_t index = 0; index < count; ++index) {
    StableIValue item;
    done(torch_list_get_item(list, index, &item), "give an element of a list");
    found.push_back(abi::to<Tensor>(item));
  }
  done(torch_delete_list(list), "delete a list");
  return found;
}

StableIValue listed(const std::vector<Tensor> &tensors) {
  StableListHandle list = nullptr;
  done(torch_new_list_reserve_size(tensors.size(), &list), "make a list");
  for (const Tensor &tensor : tensors)
    done(torch_list_push_back(list, abi::from(tensor)), "add to a list");
  return abi::from(list);
}

std::shared_ptr<const Known> looked_up(const Key &key) {
  std::shared_lock<std::shared_mutex> lock(guard);
  auto found = known.find(key);
  return found == known.end() ? nullptr : found->second;
}

// run(int number, int way, Tensor[] operands) -> Tensor[]: nothing where no program is known.
void run_known(StableIValue *stack, uint64_t, uint64_t) {
  Key key{abi::to<int64_t>(stack[0])};
  auto way = static_cast<uint32_t>(abi::to<int64_t>(stack[1]));
  std::vector<Tensor> operands = taken_from(stack[2]), results;
  Where where;
  missing.clear();
  if (on_one_device(operands, where)) {
    key.push_back(where.type);
    key.push_back(where.index);
    for (Tensor &tensor : operands) {
      key.push_back(dtype_of(tensor));
      key.push_back(tensor.dim());
      for (int64_t axis = 0; axis < tensor.dim(); ++axis)
        key.push_back(tensor.size(axis));
    }
    if (auto found = looked_up(key)) {
      for (Tensor &tensor : operands)
        if (!tensor.is_contiguous())
          tensor = torch::stable::contiguous(tensor);
      try {
        results = run_on(*found->program, found->results, operands, where, way);
      } catch (const Error &) { // which is raised with its class where Python runs the program once more
        results.clear();
      }
    } else {
      missing = std::move(key);
    }
  }
  stack[0] = listed(results);
}

} // namespace
} // namespace adgen

// The program of the call that this thread has missed last; `shapes`: of each result dtype, number of sizes, sizes.
extern "C" __attribute__((visibility("default"))) int
adgen_torch_learn(const int64_t *words, size_t count, const char *text, const int64_t *shapes, size_t shape_words) {
  using namespace adgen;
  if (missing.empty())
    return 0;
  try {
    auto made = std::make_shared<Known>();
    made->program = Program::decoded(words, count, text);
    for (const int64_t *at = shapes; at != shapes + shape_words; at += 2 + at[1])
      made->results.push_back({static_cast<int32_t>(at[0]), {at + 2, at + 2 + at[1]}});
    std::unique_lock<std::shared_mutex> lock(guard);
    if (known.size() >= MOST)
      known.clear();
    known[missing] = std::move(made);
    missing.clear();
    return 0;
  } catch (const std::exception &) {
    return 1;
  }
}

STABLE_TORCH_LIBRARY_FRAGMENT(adgen_native, m) { m.def("run(int number, int way, Tensor[] operands) -> Tensor[]"); }
STABLE_TORCH_LIBRARY_IMPL(adgen_native, CPU, m) { m.impl("run", &adgen::run_known); }
STABLE_TORCH_LIBRARY_IMPL(adgen_native, CUDA, m) { m.impl("run", &adgen::run_known); }
