// Launches in the host library of an artifact.
#include "program.h"

#include <cstring>
#include <dlfcn.h>
#include <unordered_map>

namespace adgen {
namespace {

struct Launch { // adgen_launch of the library's header
  uint32_t grid[3], block[3];
  uint64_t shared_bytes;
};

struct ToldShadow { // adgen_shadow of host_runtime/accumulation.h
  uint32_t argument, element;
  uint64_t bytes;
};

struct ToldMemory { // adgen_memory of the same
  char *start;
  uint64_t bytes;
  uint32_t element;
};

struct Library {
  void *handle;
  void (*accumulate)(uint32_t, uint32_t, uint32_t, const ToldShadow *);
  void (*accumulate_memory)(uint32_t, const ToldMemory *);
  const char *(*last_error)();
};

using Function = int (*)(const Launch *, void *const *, void *);

template <class F> F symbol(void *handle, const char *name) { return reinterpret_cast<F>(dlsym(handle, name)); }

const Library &opened(const std::string &file) {
  static std::mutex guard;
  static std::unordered_map<std::string, Library> known;
  std::lock_guard<std::mutex> lock(guard);
  auto found = known.find(file);
  if (found != known.end())
    return found->second;
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(Failure::Artifact, file + " cannot be loaded: " + dlerror());
  Library made{handle, nullptr, nullptr, symbol<const char *(*)()>(handle, "adgen_last_error")};
  made.accumulate = symbol<decltype(made.accumulate)>(handle, "adgen_accumulate");
  made.accumulate_memory = symbol<decltype(made.accumulate_memory)>(handle, "adgen_accumulate_memory");
  return known.emplace(file, made).first->second;
}

// Of the next gradient that this thread calls.
void say_accumulation(const LaunchOp &op, const Library &library, const Frame &frame) {
  std::vector<ToldShadow> read;
  std::vector<ToldMemory> written;
  for (const Shadow &each : op.shadows) {
    auto bytes = static_cast<uint64_t>(each.bytes);
    auto element = static_cast<uint32_t>(each.element);
    if (each.argument >= 0)
      read.push_back({static_cast<uint32_t>(each.argument), element, bytes});
    else
      written.push_back({frame.addresses[static_cast<size_t>(each.buffer)], bytes, element});
  }
  if (library.accumulate)
    library.accumulate(static_cast<uint32_t>(op.arguments.size()), frame.call.way, static_cast<uint32_t>(read.size()),
                       read.data());
  bool function = op.grid[0] == 0;
  if (function && !written.empty() && library.accumulate_memory)
    library.accumulate_memory(static_cast<uint32_t>(written.size()), written.data());
}

} // namespace

void host_launch(const LaunchOp &op, Frame &frame) {
  const Library &library = opened(op.file);
  auto function = symbol<Function>(library.handle, op.symbol.c_str());
  if (function == nullptr)
    throw Error(Failure::Artifact, op.file + " lacks " + op.symbol);
  Table table(op, 0);
  for (size_t index = 0; index < op.arguments.size(); ++index)
    for (const Patch &patch : op.arguments[index].patches) {
      char *address = frame.addresses[static_cast<size_t>(patch.buffer)];
      char *target = table.value(index) + patch.offset;
      if (patch.kind == Patch::Value) {
        std::memcpy(target, address, static_cast<size_t>(patch.count));
      } else {
        address += patch.count;
        std::memcpy(target, &address, sizeof address);
      }
    }
  if (!op.shadows.empty())
    say_accumulation(op, library, frame);
  Launch launch{{op.grid[0], op.grid[1], op.grid[2]}, {op.block[0], op.block[1], op.block[2]}, op.shared_bytes};
  bool is_function = op.grid[0] == 0;
  alignas(16) char result[16];
  if (function(is_function ? nullptr : &launch, table.data(), op.result < 0 ? nullptr : result) != 0) {
    const char *message = library.last_error ? library.last_error() : nullptr;
    throw Error(Failure::Primal, std::string(op.symbol) + " failed: " + (message ? message : "no message"));
  }
  if (op.result >= 0)
    std::memcpy(frame.addresses[static_cast<size_t>(op.result)], result,
                static_cast<size_t>(frame.program.sizes[static_cast<size_t>(op.result)]));
}

} // namespace adgen
