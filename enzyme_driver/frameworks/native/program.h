// A program: what one call of an operator, or of its derivative, does to numbered buffers. Made in Python (encode.py),
// run here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace adgen {

// What went wrong, by the class that Python raises; 0 is for success.
enum class Failure : int { Primal = 1, Device = 2, Artifact = 3, Use = 4 };

struct Error : std::runtime_error {
  Error(Failure kind, const std::string &message) : std::runtime_error(message), kind(kind) {}
  Failure kind;
};

// Bytes of an argument that only the call knows: an address in a buffer, or what a buffer holds.
struct Patch {
  enum Kind : int64_t { Address, Value };
  int64_t offset, kind, buffer, count; // `count`: added to the address, or bytes of the value
};

struct Argument {
  std::vector<char> bytes;
  std::vector<Patch> patches;
};

// A shadow that threads of the host may have copies of (host_runtime/accumulation.h); `argument` is -1 for written
// ones.
struct Shadow {
  int64_t argument, element, bytes, buffer;
};

enum class TapeSize : int64_t { None, Scalars, Arrays, Run, RunInPlace };

struct LaunchOp {
  bool gpu = false;
  std::string file, symbol, tape_symbol;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint64_t shared_bytes = 0;
  int64_t result = -1; // the buffer that takes what a function returns
  std::vector<Argument> arguments;
  std::vector<Shadow> shadows;
  TapeSize tape = TapeSize::None;
  uint64_t tape_limit = 0, heap_bytes = 0;
  std::vector<int64_t> overwritten;                   // buffers that measuring the tape writes to
  bool reads_values = false;                          // whether an argument is the content of a buffer
  static constexpr int REMEMBERED = 16;               // GPUs
  mutable std::atomic<void *> ready[REMEMBERED] = {}; // the kernel on each, once it may be launched
  mutable std::mutex known;
  mutable uint64_t lane_bytes = UNKNOWN; // of the tape, once it was measured
  static constexpr uint64_t UNKNOWN = ~uint64_t(0);
};

struct Op {
  enum Kind : int64_t { Zero, Copy, Launch, Add };
  int64_t kind, target = 0, source = 0, element = 0; // `element`: bytes of the numbers that are added
  std::unique_ptr<LaunchOp> launch;
  size_t together = 0; // with so many ops, from this one on, a GPU does it in one launch
};

// Memory of a GPU that is set to what is at `source`, or to zero where that is null.
struct Segment {
  char *target;
  const char *source;
  uint64_t words;
};

struct Program {
  std::string name;           // of the operator
  std::vector<int64_t> sizes; // bytes of each buffer for one example of a batch
  int64_t externals = 0;      // the first buffers are given by the caller; the others are scratch memory
  std::vector<Op> ops;
  static std::unique_ptr<Program> decoded(const int64_t *words, size_t count, const std::string &text);
};

using Allocate = void *(*)(void *context, size_t bytes);

// One call. `batched` has a byte for each external buffer: whether it holds `batch` examples one behind the other.
struct Call {
  void *const *buffers;
  const uint8_t *batched;
  int64_t batch;
  void *stream;
  int32_t device; // -1: the host
  uint32_t way;   // in which threads of the host accumulate
  Allocate allocate;
  void *context;
  void *scratch = nullptr; // as much as the program needs, or nothing: then it is allocated
};

void run(const Program &program, const Call &call);

// The buffers of one example.
struct Frame {
  const Program &program;
  const Call &call;
  std::vector<char *> addresses;
};

// The values of a launch in memory, and a table of pointers to them.
class Table {
public:
  Table(const LaunchOp &op, size_t more);
  void add(const void *value, size_t size);
  void drop(); // the last one
  char *value(size_t index) { return static_cast<char *>(pointers[index]); }
  void **data() { return pointers.data(); }

private:
  std::unique_ptr<char[]> memory;
  std::vector<void *> pointers;
  char *next;
};

void host_launch(const LaunchOp &op, Frame &frame);
void gpu_launch(const LaunchOp &op, Frame &frame);
void gpu_zero(char *target, size_t bytes, const Call &call);
void gpu_copy(char *target, const char *source, size_t bytes, const Call &call);
void gpu_set(const std::vector<Segment> &segments, const Call &call);
void gpu_add(char *target, const char *source, size_t bytes, int64_t element, const Call &call);

// The context of the call's device is current while this object lives.
class OnDevice {
public:
  explicit OnDevice(const Call &call);
  ~OnDevice();

private:
  void *before = nullptr;
  bool changed = false;
};

} // namespace adgen
