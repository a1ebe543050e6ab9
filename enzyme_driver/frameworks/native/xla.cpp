// Programs as custom calls of XLA, for JAX: one handler for the host, and two for GPUs, of which one may go into a CUDA
// graph.
#include "program.h"

#include "xla/ffi/api/ffi.h"

#include <shared_mutex>
#include <unordered_map>

namespace ffi = xla::ffi;

namespace {

using Words = ffi::Span<const int64_t>;

// The program of this name, read when it is first run.
const adgen::Program &program(int64_t name, Words words, std::string_view text) {
  static std::shared_mutex guard;
  static std::unordered_map<int64_t, std::unique_ptr<adgen::Program>> known;
  {
    std::shared_lock<std::shared_mutex> lock(guard);
    auto found = known.find(name);
    if (found != known.end())
      return *found->second;
  }
  std::unique_lock<std::shared_mutex> lock(guard);
  auto &made = known[name];
  if (made == nullptr)
    made = adgen::Program::decoded(words.begin(), words.size(), std::string(text));
  return *made;
}

// The buffers as XLA gives them: operands, then results. vmap puts further axes first, of length one where an operand
// has no example of its own; results have them all.
class Buffers {
public:
  Buffers(const adgen::Program &program, const ffi::RemainingArgs &operands, const ffi::RemainingRets &results,
          Words ranks)
      : program(program), ranks(ranks) {
    if (static_cast<int64_t>(operands.size() + results.size()) != program.externals)
      throw adgen::Error(adgen::Failure::Artifact, "the operator was called with another number of arrays");
    for (size_t index = 0; index < operands.size(); ++index)
      add(*operands.get<ffi::AnyBuffer>(index));
    for (size_t index = 0; index < results.size(); ++index)
      add(**results.get<ffi::AnyBuffer>(index));
    for (const auto &axes : leading)
      for (size_t axis = 0; axis < axes.size(); ++axis) {
        extents.resize(std::max(extents.size(), axes.size()), 1);
        if (axes[axis] != 1)
          extents[axis] = axes[axis];
      }
  }

  // Runs the program for all examples: at once where each operand has all of them or one.
  void run(adgen::Call call) {
    int64_t batch = 1;
    for (int64_t extent : extents)
      batch *= extent;
    std::vector<uint8_t> batched;
    bool mixed = false;
    for (const auto &axes : leading) {
      int64_t own = 1;
      for (int64_t extent : axes)
        own *= extent;
      batched.push_back(own == batch && batch > 1);
      mixed |= own != 1 && own != batch;
    }
    call.buffers = addresses.data();
    call.batched = batched.data();
    call.batch = mixed ? 1 : batch;
    if (!mixed)
      return adgen::run(program, call);
    call.batched = nullptr;
    for (int64_t example = 0; example < batch; ++example) {
      std::vector<void *> now = of_example(example);
      call.buffers = now.data();
      adgen::run(program, call);
    }
  }

private:
  void add(const ffi::AnyBuffer &buffer) {
    auto dims = buffer.dimensions();
    auto own = static_cast<size_t>(ranks[addresses.size()]);
    if (dims.size() < own)
      throw adgen::Error(adgen::Failure::Artifact, "the operator was called with arrays of other shapes");
    addresses.push_back(static_cast<char *>(buffer.untyped_data()));
    leading.emplace_back(dims.begin(), dims.begin() + (dims.size() - own));
  }

  std::vector<void *> of_example(int64_t example) const {
    std::vector<void *> found;
    for (size_t index = 0; index < addresses.size(); ++index) {
      int64_t left = example, place = 0, stride = 1;
      for (size_t axis = extents.size(); axis-- > 0;) {
        int64_t own = leading[index].empty() ? 1 : leading[index][axis];
        place += own == 1 ? 0 : left % extents[axis] * stride;
        stride *= own;
        left /= extents[axis];
      }
      found.push_back(static_cast<char *>(addresses[index]) + place * program.sizes[index]);
    }
    return found;
  }

  const adgen::Program &program;
  Words ranks;
  std::vector<void *> addresses;
  std::vector<std::vector<int64_t>> leading;
  std::vector<int64_t> extents;
};

ffi::Error failed(const std::exception &error) { return ffi::Error(ffi::ErrorCode::kInternal, error.what()); }

ffi::Error run_on_host(ffi::RemainingArgs operands, ffi::RemainingRets results, int64_t name, Words words,
                       std::string_view text, Words ranks) {
  try {
    Buffers(program(name, words, text), operands, results, ranks)
        .run({nullptr, nullptr, 1, nullptr, -1, 0, nullptr, nullptr});
    return ffi::Error::Success();
  } catch (const std::exception &error) {
    return failed(error);
  }
}

void *taken(void *allocator, size_t bytes) {
  return static_cast<ffi::ScratchAllocator *>(allocator)->Allocate(bytes, 16).value_or(nullptr);
}

ffi::Error run_on_gpu(void *stream, int32_t device, ffi::ScratchAllocator scratch, ffi::RemainingArgs operands,
                      ffi::RemainingRets results, int64_t name, Words words, std::string_view text, Words ranks) {
  try {
    Buffers(program(name, words, text), operands, results, ranks)
        .run({nullptr, nullptr, 1, stream, device, 0, taken, &scratch});
    return ffi::Error::Success();
  } catch (const std::exception &error) {
    return failed(error);
  }
}

auto on_host() {
  return ffi::Ffi::Bind()
      .RemainingArgs()
      .RemainingRets()
      .Attr<int64_t>("name")
      .Attr<Words>("words")
      .Attr<std::string_view>("text")
      .Attr<Words>("ranks");
}

auto on_gpu() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::PlatformStream<void *>>()
      .Ctx<ffi::DeviceOrdinal>()
      .Ctx<ffi::ScratchAllocator>()
      .RemainingArgs()
      .RemainingRets()
      .Attr<int64_t>("name")
      .Attr<Words>("words")
      .Attr<std::string_view>("text")
      .Attr<Words>("ranks");
}

} // namespace

#pragma GCC visibility push(default)
XLA_FFI_DEFINE_HANDLER_SYMBOL(adgen_xla_host, run_on_host, on_host());
XLA_FFI_DEFINE_HANDLER_SYMBOL(adgen_xla_gpu_waits, run_on_gpu, on_gpu());
XLA_FFI_DEFINE_HANDLER_SYMBOL(adgen_xla_gpu, run_on_gpu, on_gpu(), {ffi::Traits::kCmdBufferCompatible});
#pragma GCC visibility pop
