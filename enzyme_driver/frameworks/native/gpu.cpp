// Launches on an NVIDIA GPU through the driver's library, which is found at run time: nothing of CUDA is needed to
// compile this.
#include "program.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <map>
#include <unordered_map>

namespace adgen {
namespace {

using Status = int;
using Device = int;
using Handle = void *;
using Address = unsigned long long;

struct Driver {
  Status (*init)(unsigned);
  Status (*error_string)(Status, const char **);
  Status (*context_now)(Handle *);
  Status (*set_context)(Handle);
  Status (*device_now)(Device *);
  Status (*primary)(Handle *, Device);
  Status (*stream_context)(Handle, Handle *);
  Status (*set_limit)(int, size_t);
  Status (*load)(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
  Status (*kernel)(Handle *, Handle, const char *);
  Status (*global)(Address *, size_t *, Handle, const char *);
  Status (*kernel_attribute)(int *, int, Handle, Device);
  Status (*set_kernel_attribute)(int, int, Handle, Device);
  Status (*kernel_function)(Handle *, Handle);
  Status (*resident)(int *, Handle, int, size_t);
  Status (*device_attribute)(int *, int, Device);
  Status (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                   void **);
  Status (*copy)(Address, Address, size_t, Handle);
  Status (*to_host)(void *, Address, size_t, Handle);
  Status (*set8)(Address, unsigned char, size_t, Handle);
  Status (*synchronize)(Handle);
  Status (*capturing)(Handle, int *);
};

constexpr int SHARED_SIZE_BYTES = 1, MAX_DYNAMIC_SHARED = 8, MULTIPROCESSORS = 16, MALLOC_HEAP_SIZE = 2;
constexpr int STATIC_LIMIT = 48 * 1024, INVALID_VALUE = 1;
constexpr size_t COUNTER_BYTES = 8;
constexpr double SLACK = 1.25; // threads that race for work may keep more than they did when it was measured

const Driver &driver() {
  static const Driver made = [] {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr)
      throw Error(Failure::Device, "there is no usable NVIDIA GPU: libcuda.so.1 is missing");
    auto get = [library](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr)
        throw Error(Failure::Device, std::string("the NVIDIA driver is too old: it lacks ") + name);
    };
    Driver d;
    get(d.init, "cuInit");
    get(d.error_string, "cuGetErrorString");
    get(d.context_now, "cuCtxGetCurrent");
    get(d.set_context, "cuCtxSetCurrent");
    get(d.device_now, "cuCtxGetDevice");
    get(d.primary, "cuDevicePrimaryCtxRetain");
    get(d.stream_context, "cuStreamGetCtx");
    get(d.set_limit, "cuCtxSetLimit");
    get(d.load, "cuLibraryLoadData");
    get(d.kernel, "cuLibraryGetKernel");
    get(d.global, "cuLibraryGetGlobal");
    get(d.kernel_attribute, "cuKernelGetAttribute");
    get(d.set_kernel_attribute, "cuKernelSetAttribute");
    get(d.kernel_function, "cuKernelGetFunction");
    get(d.resident, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    get(d.device_attribute, "cuDeviceGetAttribute");
    get(d.launch, "cuLaunchKernel");
    get(d.copy, "cuMemcpyDtoDAsync_v2");
    get(d.to_host, "cuMemcpyDtoHAsync_v2");
    get(d.set8, "cuMemsetD8Async");
    get(d.synchronize, "cuStreamSynchronize");
    get(d.capturing, "cuStreamIsCapturing");
    d.init(0);
    return d;
  }();
  return made;
}

void done(Status status, const std::string &what) {
  if (status == 0)
    return;
  const char *text = nullptr;
  driver().error_string(status, &text);
  throw Error(Failure::Device, what + ": " + (text ? text : "unknown error") + " (" + std::to_string(status) + ")");
}

Address place(const char *address) { return reinterpret_cast<Address>(address); }

struct Kernel {
  Handle handle = nullptr;
  int static_shared = 0;
  std::map<Device, uint64_t> allowed;                  // bytes of dynamic shared memory
  std::map<std::pair<Device, uint64_t>, int> resident; // blocks on the GPU, by threads and dynamic bytes
};

struct Code {
  Handle library = nullptr;
  std::unordered_map<std::string, Kernel> kernels;
};

std::mutex guard; // of what is loaded

Code &code(const std::string &file) {
  static std::unordered_map<std::string, Code> known;
  auto found = known.find(file);
  if (found != known.end())
    return found->second;
  std::ifstream in(file, std::ios::binary);
  std::string image((std::istreambuf_iterator<char>(in)), {});
  if (image.empty())
    throw Error(Failure::Artifact, file + " cannot be read");
  Code made;
  done(driver().load(&made.library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
       file + " cannot be loaded");
  return known.emplace(file, std::move(made)).first->second;
}

Kernel &kernel(const std::string &file, const std::string &symbol, Device device) {
  Code &loaded = code(file);
  Kernel &found = loaded.kernels[symbol];
  if (found.handle == nullptr) {
    done(driver().kernel(&found.handle, loaded.library, symbol.c_str()), file + " lacks " + symbol);
    done(driver().kernel_attribute(&found.static_shared, SHARED_SIZE_BYTES, found.handle, device), symbol);
  }
  return found;
}

void allow_dynamic(Kernel &used, uint64_t bytes, Device device) {
  if (bytes + static_cast<uint64_t>(used.static_shared) <= STATIC_LIMIT || used.allowed[device] >= bytes)
    return;
  done(driver().set_kernel_attribute(MAX_DYNAMIC_SHARED, static_cast<int>(bytes), used.handle, device),
       "a block needs " + std::to_string(bytes) + " bytes of dynamic shared memory, twice the primal's in a gradient");
  used.allowed[device] = bytes;
}

Handle ready(const LaunchOp &op, const std::string &symbol, Device device) {
  bool remembered = &symbol == &op.symbol && device < LaunchOp::REMEMBERED;
  if (remembered)
    if (Handle found = op.ready[device].load(std::memory_order_acquire))
      return found;
  std::lock_guard<std::mutex> lock(guard);
  Kernel &used = kernel(op.file, symbol, device);
  allow_dynamic(used, op.shared_bytes, device);
  if (remembered)
    op.ready[device].store(used.handle, std::memory_order_release);
  return used.handle;
}

int resident_blocks(const LaunchOp &op, int threads, Device device) {
  std::lock_guard<std::mutex> lock(guard);
  Kernel &used = kernel(op.file, op.symbol, device);
  int &blocks = used.resident[{device, (static_cast<uint64_t>(threads) << 32) + op.shared_bytes}];
  if (blocks == 0) {
    Handle function;
    int each = 0, processors = 0;
    allow_dynamic(used, op.shared_bytes, device); // else none are said to run with more than without being asked
    done(driver().kernel_function(&function, used.handle), op.symbol);
    done(driver().resident(&each, function, threads, op.shared_bytes), op.symbol);
    done(driver().device_attribute(&processors, MULTIPROCESSORS, device), op.symbol);
    blocks = std::max(1, each) * processors;
  }
  return blocks;
}

void launched(const LaunchOp &op, const std::string &symbol, const unsigned *grid, Table &table, const Call &call) {
  Handle function = ready(op, symbol, call.device);
  Status status = driver().launch(function, grid[0], grid[1], grid[2], op.block[0], op.block[1], op.block[2],
                                  static_cast<unsigned>(op.shared_bytes), call.stream, table.data(), nullptr);
  done(status, symbol + " cannot be launched");
}

void refuse_capture(const Call &call, const std::string &symbol, const char *why) {
  int state = 0;
  done(driver().capturing(call.stream, &state), symbol);
  if (state != 0)
    throw Error(Failure::Use, symbol + " cannot be captured in a CUDA graph: " + why);
}

// Waits for the stream; whether a launch on it raised the flag, a variable of 32 bits, which is lowered again.
bool lowers_flag(const LaunchOp &op, const char *name, const Call &call) {
  Address address;
  size_t size;
  {
    std::lock_guard<std::mutex> lock(guard);
    done(driver().global(&address, &size, code(op.file).library, name), std::string("no ") + name);
  }
  uint32_t raised = 0;
  done(driver().to_host(&raised, address, sizeof raised, call.stream), name);
  done(driver().synchronize(call.stream), "the GPU reports a failed launch");
  if (raised != 0)
    done(driver().set8(address, 0, sizeof raised, call.stream), name);
  return raised != 0;
}

char *taken(const Call &call, size_t bytes) {
  auto *memory = static_cast<char *>(call.allocate(call.context, std::max<size_t>(bytes, 8)));
  if (memory == nullptr)
    throw Error(Failure::Device, "no " + std::to_string(bytes) + " bytes of GPU memory for the tape can be had");
  return memory;
}

// Runs the kernel that counts what a thread keeps; what it writes to is put back.
uint64_t measured(const LaunchOp &op, Table &table, Frame &frame) {
  const Call &call = frame.call;
  refuse_capture(call, op.symbol, "the size of its tape has to be measured first; call it once before the capture");
  std::vector<std::pair<char *, size_t>> copies;
  if (op.tape == TapeSize::RunInPlace)
    for (int64_t buffer : op.overwritten) {
      auto bytes = static_cast<size_t>(frame.program.sizes[static_cast<size_t>(buffer)]);
      copies.emplace_back(taken(call, bytes), bytes);
      gpu_copy(copies.back().first, frame.addresses[static_cast<size_t>(buffer)], bytes, call);
    }
  char *counter = taken(call, sizeof(uint64_t));
  gpu_zero(counter, sizeof(uint64_t), call);
  table.add(&counter, sizeof counter);
  launched(op, op.tape_symbol, op.grid, table, call);
  table.drop();
  for (size_t index = 0; index < copies.size(); ++index)
    gpu_copy(frame.addresses[static_cast<size_t>(op.overwritten[index])], copies[index].first, copies[index].second,
             call);
  uint64_t lane_bytes = 0;
  done(driver().to_host(&lane_bytes, place(counter), sizeof lane_bytes, call.stream), "the tape's size");
  done(driver().synchronize(call.stream), "the GPU reports a failed launch");
  if (op.tape != TapeSize::Run && op.tape != TapeSize::RunInPlace)
    return lane_bytes;
  return (static_cast<uint64_t>(static_cast<double>(lane_bytes) * SLACK) + 7) / 8 * 8;
}

uint64_t lane_bytes(const LaunchOp &op, Table &table, Frame &frame);

void launch_with_tape(const LaunchOp &op, Table &table, Frame &frame) {
  const Call &call = frame.call;
  uint64_t bytes = lane_bytes(op, table, frame);
  int threads = static_cast<int>(op.block[0] * op.block[1] * op.block[2]);
  uint64_t block_bytes = static_cast<uint64_t>((threads + 31) / 32 * 32) * bytes;
  if (block_bytes > op.tape_limit)
    throw Error(Failure::Device, "the gradient's tape needs " + std::to_string(block_bytes) +
                                     " bytes for one block; ADGEN_TAPE_LIMIT is " + std::to_string(op.tape_limit));
  uint64_t blocks = uint64_t(op.grid[0]) * op.grid[1] * op.grid[2];
  blocks = std::min<uint64_t>(blocks, static_cast<uint64_t>(resident_blocks(op, threads, call.device)));
  blocks = std::min<uint64_t>(blocks, op.tape_limit / std::max<uint64_t>(block_bytes, 1));
  char *memory = taken(call, blocks * block_bytes + COUNTER_BYTES);
  gpu_zero(memory + blocks * block_bytes, COUNTER_BYTES, call); // by which blocks take the next one
  table.add(&memory, sizeof memory);
  table.add(&bytes, sizeof bytes);
  for (const uint32_t &extent : op.grid)
    table.add(&extent, sizeof extent);
  unsigned grid[3] = {static_cast<unsigned>(blocks), 1, 1};
  launched(op, op.symbol, grid, table, call);
  if ((op.tape == TapeSize::Run || op.tape == TapeSize::RunInPlace) && lowers_flag(op, "adgen_tape_exceeded", call))
    throw Error(Failure::Device, "the gradient kept more than when it was measured: its loops depend on the order in "
                                 "which threads come to memory");
}

} // namespace

OnDevice::OnDevice(const Call &call) {
  if (call.device < 0)
    return;
  Handle wanted = nullptr;
  Device now = -1;
  const Driver &d = driver();
  done(d.context_now(&before), "the current context cannot be read");
  if (before != nullptr && d.device_now(&now) == 0 && now == call.device)
    return;
  if (call.stream == nullptr || d.stream_context(call.stream, &wanted) != 0 || wanted == nullptr)
    done(d.primary(&wanted, call.device), "GPU " + std::to_string(call.device) + " cannot be used");
  done(d.set_context(wanted), "GPU " + std::to_string(call.device) + " cannot be used");
  // A thread without a context, as those of autograd, is on the first device: it keeps the context from now on.
  changed = before != nullptr || call.device != 0;
}

OnDevice::~OnDevice() {
  if (changed)
    driver().set_context(before);
}

void gpu_zero(char *target, size_t bytes, const Call &call) {
  if (bytes != 0)
    done(driver().set8(place(target), 0, bytes, call.stream), "GPU memory cannot be set");
}

void gpu_copy(char *target, const char *source, size_t bytes, const Call &call) {
  if (bytes != 0)
    done(driver().copy(place(target), place(source), bytes, call.stream), "GPU memory cannot be copied");
}

namespace {

// What runs on a GPU here.

// Adds n numbers to others. Their type is f32 or f64, of 1 << `shift` bytes.
std::string adder(const std::string &type, int shift) {
  return ".visible .entry adgen_add_" + std::to_string(1 << shift) +
         R"((.param .u64 target, .param .u64 source, .param .u64 count) {
  .reg .pred %p;
  .reg .b32 %t<4>;
  .reg .b64 %a<6>;
  .reg .)" +
         type + R"( %f<3>;
  ld.param.u64 %a0, [target];
  ld.param.u64 %a1, [source];
  ld.param.u64 %a2, [count];
  mov.u32 %t0, %ctaid.x;
  mov.u32 %t1, %ntid.x;
  mov.u32 %t2, %tid.x;
  mul.wide.u32 %a3, %t0, %t1;
  cvt.u64.u32 %a4, %t2;
  add.u64 %a3, %a3, %a4;
  setp.ge.u64 %p, %a3, %a2;
  @%p ret;
  shl.b64 %a4, %a3, )" +
         std::to_string(shift) + ";\n  add.u64 %a0, %a0, %a4;\n  add.u64 %a1, %a1, %a4;\n  ld.global." + type +
         " %f0, [%a0];\n  ld.global." + type + " %f1, [%a1];\n  add." + type + " %f2, %f0, %f1;\n  st.global." + type +
         " [%a0], %f2;\n  ret;\n}\n";
}

// Sets segments of memory, a row of blocks for each, to zero or to what another one holds.
const char *const SETTER = R"(.visible .entry adgen_set(.param .align 8 .b8 segments[384]) {
  .reg .pred %zero, %end;
  .reg .b32 %t<6>;
  .reg .b64 %a<11>;
  mov.u32 %t0, %ctaid.y;
  mul.wide.u32 %a0, %t0, 24;
  mov.b64 %a1, segments;
  add.u64 %a1, %a1, %a0;
  ld.param.u64 %a2, [%a1];
  ld.param.u64 %a3, [%a1+8];
  ld.param.u64 %a4, [%a1+16];
  mov.u32 %t1, %ctaid.x;
  mov.u32 %t2, %ntid.x;
  mov.u32 %t3, %tid.x;
  mov.u32 %t4, %nctaid.x;
  mul.wide.u32 %a5, %t1, %t2;
  cvt.u64.u32 %a6, %t3;
  add.u64 %a5, %a5, %a6;
  mul.wide.u32 %a7, %t2, %t4;
  setp.eq.u64 %zero, %a3, 0;
next:
  setp.ge.u64 %end, %a5, %a4;
  @%end ret;
  shl.b64 %a8, %a5, 2;
  add.u64 %a9, %a2, %a8;
  add.u64 %a10, %a3, %a8;
  mov.u32 %t5, 0;
  @!%zero ld.global.u32 %t5, [%a10];
  st.global.u32 [%a9], %t5;
  add.u64 %a5, %a5, %a7;
  bra next;
}
)";

Handle own_kernel(const char *name) {
  static Handle library = nullptr;
  std::lock_guard<std::mutex> lock(guard);
  const Driver &d = driver();
  Handle found = nullptr;
  static const std::string code =
      ".version 6.0\n.target sm_52\n.address_size 64\n" + adder("f32", 2) + adder("f64", 3) + SETTER;
  if (library == nullptr)
    done(d.load(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
         "adgen's own kernels cannot be loaded");
  done(d.kernel(&found, library, name), name);
  return found;
}

} // namespace

void gpu_set(const std::vector<Segment> &segments, const Call &call) {
  constexpr size_t MOST = 16;
  constexpr uint64_t THREADS = 256, BLOCKS = 64;
  for (size_t first = 0; first < segments.size(); first += MOST) {
    Segment table[MOST] = {};
    size_t count = std::min(MOST, segments.size() - first);
    uint64_t words = 0;
    for (size_t index = 0; index < count; ++index) {
      table[index] = segments[first + index];
      words = std::max(words, table[index].words);
    }
    static Handle kernel = own_kernel("adgen_set");
    void *arguments[] = {table};
    auto blocks = static_cast<unsigned>(std::min(BLOCKS, (words + THREADS - 1) / THREADS));
    done(driver().launch(kernel, blocks, static_cast<unsigned>(count), 1, THREADS, 1, 1, 0, call.stream, arguments,
                         nullptr),
         "setting");
  }
}

void gpu_add(char *target, const char *source, size_t bytes, int64_t element, const Call &call) {
  if (element != 4 && element != 8)
    throw Error(Failure::Use, "cotangents of half precision cannot be added up: copy no such input, or make it float");
  constexpr uint64_t THREADS = 256;
  uint64_t count = bytes / static_cast<uint64_t>(element);
  void *arguments[] = {&target, &source, &count};
  auto blocks = static_cast<unsigned>((count + THREADS - 1) / THREADS);
  done(driver().launch(own_kernel(element == 4 ? "adgen_add_4" : "adgen_add_8"), blocks, 1, 1, THREADS, 1, 1, 0,
                       call.stream, arguments, nullptr),
       "adding");
}

namespace {

void size_heap(const LaunchOp &op) {
  static std::map<Handle, bool> sized;
  std::lock_guard<std::mutex> lock(guard);
  Handle context = nullptr;
  done(driver().context_now(&context), "the current context cannot be read");
  if (sized[context])
    return;
  Status status = driver().set_limit(MALLOC_HEAP_SIZE, op.heap_bytes);
  if (status != INVALID_VALUE) // which says that a kernel has used the heap
    done(status, "no device heap of " + std::to_string(op.heap_bytes) + " bytes can be had");
  sized[context] = true;
}

uint64_t lane_bytes(const LaunchOp &op, Table &table, Frame &frame) {
  if (op.tape != TapeSize::Scalars || op.reads_values)
    return measured(op, table, frame);
  std::lock_guard<std::mutex> lock(op.known);
  if (op.lane_bytes == LaunchOp::UNKNOWN)
    op.lane_bytes = measured(op, table, frame);
  return op.lane_bytes;
}

void fill_values(const LaunchOp &op, Table &table, const Frame &frame) {
  const Call &call = frame.call;
  if (op.reads_values)
    refuse_capture(call, op.symbol, "it takes a number whose value lies on the GPU");
  for (size_t index = 0; index < op.arguments.size(); ++index)
    for (const Patch &patch : op.arguments[index].patches) {
      char *address = frame.addresses[static_cast<size_t>(patch.buffer)];
      char *target = table.value(index) + patch.offset;
      if (patch.kind == Patch::Value) {
        done(driver().to_host(target, place(address), static_cast<size_t>(patch.count), call.stream), "a number");
      } else {
        address += patch.count;
        std::memcpy(target, &address, sizeof address);
      }
    }
  if (op.reads_values)
    done(driver().synchronize(call.stream), "the GPU reports a failed launch");
}

} // namespace

void gpu_launch(const LaunchOp &op, Frame &frame) {
  if (op.heap_bytes != 0) {
    size_heap(op);
    refuse_capture(frame.call, op.symbol, "it draws from the device's heap, which has to be looked at afterwards");
  }
  Table table(op, 8);
  fill_values(op, table, frame);
  if (op.tape != TapeSize::None)
    launch_with_tape(op, table, frame);
  else
    launched(op, op.symbol, op.grid, table, frame.call);
  if (op.heap_bytes != 0 && lowers_flag(op, "adgen_heap_exhausted", frame.call))
    throw Error(Failure::Device, "the gradient needs more device heap than " + std::to_string(op.heap_bytes) +
                                     " bytes: set ADGEN_DEVICE_HEAP, and start a new process");
}

} // namespace adgen
