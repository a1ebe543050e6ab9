// Programs as an op of PyTorch, for eager calls: what is known is run, and recorded for autograd, without Python; where
// a program is missing nothing is returned.
#include "program.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <shared_mutex>
#include <unordered_map>

namespace adgen {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The number of a call, the inputs whose derivatives are asked for and the outputs that have a cotangent (none for the
// primal), the device, and of each tensor its dtype and sizes.
using Key = std::vector<int64_t>;

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
  std::vector<std::pair<at::ScalarType, std::vector<int64_t>>> results;
  int64_t differentiable = 0; // a bit for each operand, of the primal
};

constexpr size_t MOST = 4096;
std::shared_mutex guard;
std::unordered_map<Key, std::shared_ptr<const Known>, Hash> known;
thread_local Key missing; // what the last call of this thread has not found

// Which call of an operator; of the primal, `wrt` and `given` are nothing.
struct Which {
  int64_t number, wrt = 0, given = 0, way = 0;
};

// Whether it is an array on the host or a GPU, and nothing else: no subclass, no transformation.
bool is_plain(const Tensor &tensor) {
  constexpr c10::DispatchKeySet others{c10::DispatchKey::Python,           c10::DispatchKey::FuncTorchBatched,
                                       c10::DispatchKey::Batched,          c10::DispatchKey::FuncTorchGradWrapper,
                                       c10::DispatchKey::Functionalize,    c10::DispatchKey::Conjugate,
                                       c10::DispatchKey::Negative,         c10::DispatchKey::ZeroTensor,
                                       c10::DispatchKey::FuncTorchVmapMode};
  return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_nested() &&
         (tensor.is_cpu() || tensor.is_cuda()) && !tensor.key_set().has_any(others);
}

std::shared_ptr<const Known> looked_up(const Which &which, at::TensorList operands) {
  missing.clear();
  for (const Tensor &tensor : operands)
    if (!is_plain(tensor) || tensor.device() != operands[0].device())
      return nullptr;
  Key key{which.number, which.wrt, which.given, -1};
  key.reserve(4 + 6 * operands.size());
  if (!operands.empty() && operands[0].is_cuda())
    key[3] = operands[0].get_device();
  for (const Tensor &tensor : operands) {
    key.push_back(static_cast<int64_t>(tensor.scalar_type()));
    key.push_back(tensor.dim());
    key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  {
    std::shared_lock<std::shared_mutex> lock(guard);
    auto found = known.find(key);
    if (found != known.end())
      return found->second;
  }
  missing = std::move(key);
  return nullptr;
}

struct Memory {
  at::Device device;
  std::vector<Tensor> kept;
};

void *taken(void *context, size_t bytes) {
  auto *memory = static_cast<Memory *>(context);
  auto options = at::TensorOptions(at::kByte).device(memory->device);
  memory->kept.push_back(at::empty({static_cast<int64_t>(bytes)}, options));
  return memory->kept.back().data_ptr();
}

// The results, new tensors; nothing where the program has failed: the error is raised with its class where Python runs
// it once more.
variable_list results_of(const Known &found, at::TensorList operands, int64_t way) {
  at::AutoDispatchBelowADInplaceOrView below;
  Memory memory{operands.empty() ? at::Device(at::kCPU) : operands[0].device(), {}};
  variable_list results;
  results.reserve(found.results.size());
  for (const auto &[dtype, sizes] : found.results)
    results.push_back(at::empty(sizes, at::TensorOptions(dtype).device(memory.device)));
  std::vector<void *> buffers;
  buffers.reserve(operands.size() + results.size());
  for (const Tensor &tensor : operands) {
    memory.kept.push_back(tensor.contiguous());
    buffers.push_back(memory.kept.back().data_ptr());
  }
  for (const Tensor &tensor : results)
    buffers.push_back(tensor.data_ptr());
  void *stream = nullptr;
  int32_t device = -1;
  if (memory.device.is_cuda()) {
    stream = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getStream(memory.device).native_handle();
    device = memory.device.index();
  }
  try {
    run(*found.program,
        {buffers.data(), nullptr, 1, stream, device, static_cast<uint32_t>(way), taken, &memory, nullptr});
  } catch (const Error &) {
    results.clear();
  }
  return results;
}

// By Python: what is not known yet, what is recorded for a further derivative, and what has to be looked at first.
variable_list by_python(const Which &which, const variable_list &operands, const variable_list &cotangents) {
  static auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("adgen_native::gradient", "")
          .typed<std::vector<Tensor>(int64_t, int64_t, at::TensorList, const c10::List<std::optional<Tensor>> &)>();
  c10::List<std::optional<Tensor>> given;
  for (const Tensor &each : cotangents)
    given.push_back(each.defined() ? std::optional<Tensor>(each) : std::nullopt);
  return op.call(which.number, which.wrt, operands, given);
}

struct OperatorBackward : torch::autograd::Function<OperatorBackward> {
  static variable_list forward(AutogradContext *context, at::TensorList operands, const Which &which,
                               const Known &found) {
    variable_list results = results_of(found, operands, which.way), constant;
    for (const Tensor &each : results)
      if (!each.is_floating_point() && !each.is_complex())
        constant.push_back(each);
    context->set_materialize_grads(false);
    context->mark_non_differentiable(constant);
    context->save_for_backward(operands.vec());
    context->saved_data["call"] = std::vector<int64_t>{which.number, which.way, found.differentiable};
    return results;
  }

  static variable_list backward(AutogradContext *context, variable_list cotangents) {
    variable_list operands = context->get_saved_variables(), everything = operands;
    std::vector<int64_t> call = context->saved_data["call"].toIntVector();
    Which which{call[0], 0, 0, call[1]};
    for (size_t index = 0; index < operands.size(); ++index) {
      bool real = operands[index].is_floating_point() || operands[index].is_complex();
      if (real && (call[2] >> index & 1) && context->needs_input_grad(index))
        which.wrt |= int64_t(1) << index;
    }
    for (size_t index = 0; index < cotangents.size(); ++index)
      if (cotangents[index].defined()) {
        which.given |= int64_t(1) << index;
        everything.push_back(cotangents[index]);
      }
    variable_list found, gradients(operands.size() + 2);
    if (which.wrt == 0 || which.given == 0)
      return gradients;
    if (!at::GradMode::is_enabled() && !at::globalContext().deterministicAlgorithms())
      if (auto program = looked_up(which, everything))
        found = results_of(*program, everything, which.way);
    if (found.empty())
      found = by_python(which, operands, cotangents);
    size_t next = 0;
    for (size_t index = 0; index < operands.size(); ++index)
      if (which.wrt >> index & 1)
        gradients[index] = std::move(found.at(next++));
    return gradients;
  }
};

std::vector<Tensor> run_known(int64_t number, int64_t wrt, int64_t given, int64_t way, at::TensorList operands) {
  Which which{number, wrt, given, way};
  auto found = looked_up(which, operands);
  return found ? results_of(*found, operands, way) : variable_list();
}

std::vector<Tensor> run_recorded(int64_t number, int64_t wrt, int64_t given, int64_t way, at::TensorList operands) {
  Which which{number, wrt, given, way};
  auto found = looked_up(which, operands);
  if (!found)
    return {};
  if (wrt != 0 || !at::GradMode::is_enabled() || !torch::autograd::any_variable_requires_grad(operands.vec()))
    return results_of(*found, operands, way);
  return OperatorBackward::apply(operands, which, *found);
}

std::vector<Tensor> run_nothing(int64_t, int64_t, int64_t, int64_t, at::TensorList) {
  missing.clear();
  return {};
}

} // namespace
} // namespace adgen

// Of a call that is not looked up: what this thread has missed before is none of its business.
extern "C" __attribute__((visibility("default"))) void adgen_torch_forget() { adgen::missing.clear(); }

// The program of the call that this thread has missed last; `shapes`: of each result dtype, number of sizes, sizes.
extern "C" __attribute__((visibility("default"))) int adgen_torch_learn(const int64_t *words, size_t count,
                                                                        const char *text, const int64_t *shapes,
                                                                        size_t shape_words, int64_t differentiable) {
  using namespace adgen;
  if (missing.empty())
    return 0;
  try {
    auto made = std::make_shared<Known>();
    made->program = Program::decoded(words, count, text);
    made->differentiable = differentiable;
    for (const int64_t *at = shapes; at != shapes + shape_words; at += 2 + at[1])
      made->results.emplace_back(static_cast<at::ScalarType>(at[0]), std::vector<int64_t>(at + 2, at + 2 + at[1]));
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

TORCH_LIBRARY_FRAGMENT(adgen_native, m) {
  m.def("run(int number, int wrt, int given, int way, Tensor[] operands) -> Tensor[]");
  m.def("gradient(int number, int wrt, Tensor[] operands, Tensor?[] cotangents) -> Tensor[]");
}
TORCH_LIBRARY_IMPL(adgen_native, CPU, m) { m.impl("run", &adgen::run_known); }
TORCH_LIBRARY_IMPL(adgen_native, CUDA, m) { m.impl("run", &adgen::run_known); }
TORCH_LIBRARY_IMPL(adgen_native, Autograd, m) { m.impl("run", &adgen::run_recorded); }
TORCH_LIBRARY_IMPL(adgen_native, Batched, m) { m.impl("run", &adgen::run_nothing); } // is_grads_batched: Python refuses
