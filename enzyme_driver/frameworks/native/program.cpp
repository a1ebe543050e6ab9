// Reads programs, and runs them.
#include "program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace adgen {
namespace {

constexpr int64_t VERSION = 2;
constexpr size_t ALIGNMENT = 256;

size_t aligned(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

class Reader {
public:
  Reader(const int64_t *words, size_t count, const std::string &text) : words(words), end(words + count) {
    for (size_t start = 0, stop; start <= text.size(); start = stop + 1) {
      stop = std::min(text.find('\n', start), text.size());
      names.push_back(text.substr(start, stop - start));
    }
  }

  int64_t word() {
    if (words == end)
      throw Error(Failure::Artifact, "the program of the operator ends too early");
    return *words++;
  }

  std::string name() {
    int64_t index = word();
    return index < 0 ? "" : names.at(static_cast<size_t>(index));
  }

  template <class Read> void each(Read read) {
    for (int64_t left = word(); left > 0; --left)
      read();
  }

private:
  const int64_t *words, *end;
  std::vector<std::string> names;
};

Argument argument(Reader &in) {
  Argument made;
  made.bytes.resize(static_cast<size_t>(in.word()));
  for (size_t at = 0; at < made.bytes.size(); at += sizeof(int64_t)) {
    int64_t word = in.word();
    std::memcpy(made.bytes.data() + at, &word, std::min(sizeof word, made.bytes.size() - at));
  }
  in.each([&] {
    int64_t offset = in.word(), kind = in.word(), buffer = in.word();
    made.patches.push_back({offset, kind, buffer, in.word()});
  });
  return made;
}

std::unique_ptr<LaunchOp> launch(Reader &in) {
  auto op = std::make_unique<LaunchOp>();
  op->gpu = in.word() != 0;
  op->file = in.name();
  op->symbol = in.name();
  for (uint32_t &extent : op->grid)
    extent = static_cast<uint32_t>(in.word());
  for (uint32_t &extent : op->block)
    extent = static_cast<uint32_t>(in.word());
  op->shared_bytes = static_cast<uint64_t>(in.word());
  op->result = in.word();
  in.each([&] { op->arguments.push_back(argument(in)); });
  in.each([&] {
    int64_t place = in.word(), element = in.word(), bytes = in.word();
    op->shadows.push_back({place, element, bytes, in.word()});
  });
  op->tape_symbol = in.name();
  op->tape = static_cast<TapeSize>(in.word());
  op->tape_limit = static_cast<uint64_t>(in.word());
  in.each([&] { op->overwritten.push_back(in.word()); });
  op->heap_bytes = static_cast<uint64_t>(in.word());
  for (const Argument &each : op->arguments)
    for (const Patch &patch : each.patches)
      op->reads_values |= patch.kind == Patch::Value;
  return op;
}

// Memory that the buffers of an example lie in which nobody outside sees.
class Scratch {
public:
  Scratch(const Program &program, const Call &call) : on_host(call.device < 0 && call.scratch == nullptr) {
    memory = static_cast<char *>(call.scratch);
    if (memory != nullptr)
      return;
    size_t bytes = 0;
    for (size_t index = static_cast<size_t>(program.externals); index < program.sizes.size(); ++index)
      bytes += aligned(static_cast<size_t>(program.sizes[index]), ALIGNMENT);
    if (bytes == 0)
      return;
    memory = static_cast<char *>(on_host ? std::aligned_alloc(ALIGNMENT, bytes) : call.allocate(call.context, bytes));
    if (memory == nullptr)
      throw Error(Failure::Device, "no " + std::to_string(bytes) + " bytes of scratch memory can be had");
  }
  ~Scratch() {
    if (on_host)
      std::free(memory);
  }
  Scratch(const Scratch &) = delete;

  char *memory = nullptr;

private:
  bool on_host;
};

void place(Frame &frame, char *scratch, int64_t example) {
  const Program &program = frame.program;
  const Call &call = frame.call;
  for (size_t index = 0; index < program.sizes.size(); ++index) {
    auto size = static_cast<size_t>(program.sizes[index]);
    if (index >= static_cast<size_t>(program.externals)) {
      frame.addresses[index] = scratch;
      scratch += aligned(size, ALIGNMENT);
    } else {
      size_t ahead = call.batched && call.batched[index] ? size * static_cast<size_t>(example) : 0;
      frame.addresses[index] = static_cast<char *>(call.buffers[index]) + ahead;
    }
  }
}

template <class T> void add_all(char *target, const char *source, size_t bytes) {
  auto *sums = reinterpret_cast<T *>(target);
  auto *summands = reinterpret_cast<const T *>(source);
  for (size_t index = 0; index < bytes / sizeof(T); ++index)
    sums[index] += summands[index];
}

void add(char *target, const char *source, size_t bytes, int64_t element) {
  if (element != 4 && element != 8)
    throw Error(Failure::Use, "cotangents of half precision cannot be added up: copy no such input, or make it float");
  element == 4 ? add_all<float>(target, source, bytes) : add_all<double>(target, source, bytes);
}

size_t step(const Op &op, Frame &frame) {
  const Call &call = frame.call;
  bool on_host = call.device < 0;
  if (op.kind == Op::Launch) {
    (op.launch->gpu ? gpu_launch : host_launch)(*op.launch, frame);
    return 1;
  }
  char *target = frame.addresses[static_cast<size_t>(op.target)];
  auto bytes = static_cast<size_t>(frame.program.sizes[static_cast<size_t>(op.target)]);
  if (bytes == 0)
    return 1;
  if (op.kind == Op::Zero) {
    on_host ? static_cast<void>(std::memset(target, 0, bytes)) : gpu_zero(target, bytes, call);
    return 1;
  }
  const char *source = frame.addresses[static_cast<size_t>(op.source)];
  if (op.kind == Op::Copy)
    on_host ? static_cast<void>(std::memcpy(target, source, bytes)) : gpu_copy(target, source, bytes, call);
  else
    on_host ? add(target, source, bytes, op.element) : gpu_add(target, source, bytes, op.element, call);
  return 1;
}

constexpr int64_t LARGEST_TOGETHER = 1 << 20; // more bytes are worth a call of the driver each
constexpr int64_t WORD = 4;

// Runs of zeroings and copies that do not touch each other's buffers: calls of the driver cost more than what they do.
void find_together(Program &program) {
  auto is_small = [&](const Op &op) {
    int64_t bytes = op.kind == Op::Zero || op.kind == Op::Copy ? program.sizes[static_cast<size_t>(op.target)] : -1;
    return bytes > 0 && bytes <= LARGEST_TOGETHER && bytes % WORD == 0;
  };
  auto same_size = [&](const Op &one, const Op &other) {
    return program.sizes[static_cast<size_t>(one.target)] == program.sizes[static_cast<size_t>(other.target)];
  };
  for (size_t first = 0; first < program.ops.size(); ++first) {
    std::vector<int64_t> written, read;
    for (size_t index = first; index < program.ops.size() && is_small(program.ops[index]); ++index) {
      Op &op = program.ops[index];
      auto in = [](const std::vector<int64_t> &buffers, int64_t buffer) {
        return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
      };
      for (size_t earlier = first; earlier < index && op.kind == Op::Copy; ++earlier)
        if (const Op &made = program.ops[earlier]; made.target == op.source && same_size(made, op)) {
          op.kind = made.kind; // a copy of a copy, or of zeros
          op.source = made.source;
        }
      bool copies = op.kind == Op::Copy;
      if (in(written, op.target) || in(read, op.target) || (copies && in(written, op.source)))
        break;
      written.push_back(op.target);
      if (copies)
        read.push_back(op.source);
      ++program.ops[first].together;
    }
  }
}

bool is_aligned(const void *address) { return reinterpret_cast<uintptr_t>(address) % WORD == 0; }

// Runs the op of this number and those that go with it; how many these are.
size_t steps_together(size_t first, Frame &frame) {
  const Op &begin = frame.program.ops[first];
  std::vector<Segment> segments;
  for (size_t index = first; index < first + begin.together; ++index) {
    const Op &op = frame.program.ops[index];
    char *target = frame.addresses[static_cast<size_t>(op.target)];
    const char *source = op.kind == Op::Copy ? frame.addresses[static_cast<size_t>(op.source)] : nullptr;
    if (!is_aligned(target) || !is_aligned(source))
      return step(begin, frame);
    segments.push_back(
        {target, source, static_cast<uint64_t>(frame.program.sizes[static_cast<size_t>(op.target)] / WORD)});
  }
  gpu_set(segments, frame.call);
  return begin.together;
}

} // namespace

std::unique_ptr<Program> Program::decoded(const int64_t *words, size_t count, const std::string &text) {
  Reader in(words, count, text);
  if (in.word() != VERSION)
    throw Error(Failure::Artifact, "the program of the operator was made by another version of adgen");
  auto made = std::make_unique<Program>();
  made->name = in.name();
  made->externals = in.word();
  in.each([&] { made->sizes.push_back(in.word()); });
  in.each([&] {
    Op op{in.word(), 0, 0, 0, nullptr};
    if (op.kind == Op::Launch) {
      op.launch = launch(in);
    } else {
      op.target = in.word();
      op.source = op.kind == Op::Zero ? 0 : in.word();
      op.element = op.kind == Op::Add ? in.word() : 0;
    }
    made->ops.push_back(std::move(op));
  });
  find_together(*made);
  return made;
}

void run(const Program &program, const Call &call) try {
  OnDevice current(call);
  Scratch scratch(program, call);
  Frame frame{program, call, std::vector<char *>(program.sizes.size())};
  for (int64_t example = 0; example < call.batch; ++example) {
    place(frame, scratch.memory, example);
    for (size_t index = 0; index < program.ops.size();)
      index += call.device >= 0 && program.ops[index].together > 1 ? steps_together(index, frame)
                                                                   : step(program.ops[index], frame);
  }
} catch (const Error &error) {
  throw Error(error.kind, "the operator " + program.name + ": " + error.what());
}

Table::Table(const LaunchOp &op, size_t more) {
  size_t bytes = 0;
  for (const Argument &each : op.arguments)
    bytes += aligned(each.bytes.size(), 64);
  memory = std::make_unique<char[]>(bytes + more * 64 + 63);
  next = memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64) % 64;
  pointers.reserve(op.arguments.size() + more);
  for (const Argument &each : op.arguments)
    add(each.bytes.data(), each.bytes.size());
}

void Table::add(const void *value, size_t size) {
  std::memcpy(next, value, size);
  pointers.push_back(next);
  next += aligned(size, 64);
}

void Table::drop() {
  next = static_cast<char *>(pointers.back());
  pointers.pop_back();
}

} // namespace adgen

static thread_local std::string said;

// For ctypes.
extern "C" {

__attribute__((visibility("default"))) void *adgen_program_new(const int64_t *words, size_t count, const char *text,
                                                               char *message, size_t room) {
  try {
    return adgen::Program::decoded(words, count, text).release();
  } catch (const std::exception &error) {
    std::strncpy(message, error.what(), room - 1);
    return nullptr;
  }
}

__attribute__((visibility("default"))) void adgen_program_free(void *program) {
  delete static_cast<adgen::Program *>(program);
}

__attribute__((visibility("default"))) int adgen_program_run(const void *program, void *const *buffers,
                                                             const uint8_t *batched, int64_t batch, void *stream,
                                                             int32_t device, uint32_t way, adgen::Allocate allocate,
                                                             void *scratch) {
  try {
    adgen::run(*static_cast<const adgen::Program *>(program),
               {buffers, batched, batch, stream, device, way, allocate, nullptr, scratch});
    return 0;
  } catch (const adgen::Error &error) {
    said = error.what();
    return static_cast<int>(error.kind);
  } catch (const std::exception &error) {
    said = error.what();
    return static_cast<int>(adgen::Failure::Device);
  }
}

// What went wrong in this thread's last run that failed.
__attribute__((visibility("default"))) const char *adgen_program_message() { return said.c_str(); }
}
