// Memory of blocks: every thread of the operating system keeps what its largest block has needed.
#include "failure.h"
#include "launch.h"

#include <cstdlib>
#include <cstring>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

namespace {

constexpr uint64_t Alignment = 64;

uint64_t padded(uint64_t bytes) { return (bytes + Alignment - 1) & ~(Alignment - 1); }

class Memory {
public:
  ~Memory() { std::free(start); }

  char *reserve(uint64_t wanted, const char *what) {
    const uint64_t needed = padded(wanted) + Alignment; // never nothing
    if (bytes < needed) {
      std::free(start);
      start = static_cast<char *>(std::aligned_alloc(Alignment, needed));
      bytes = start ? needed : 0;
    }
    if (!start)
      adgen_fail("no memory for " + std::to_string(needed) + " bytes of " + what + " a block");
    return start;
  }

private:
  char *start = nullptr;
  uint64_t bytes = 0;
};

} // namespace

HIDDEN char *adgen_shared_memory(const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows) {
  static thread_local Memory memory;
  const uint64_t part = padded(static_bytes) + padded(launch->shared_bytes);
  char *start = memory.reserve(with_shadows ? 2 * part : part, "shared memory");
  if (start && with_shadows)
    std::memset(start + part, 0, part);
  return start;
}

HIDDEN char *adgen_scratch_memory(const adgen_launch *launch, uint64_t bytes) {
  static thread_local Memory memory;
  const uint32_t *extent = launch->block;
  return memory.reserve(bytes * padded(uint64_t(extent[0]) * extent[1] * extent[2]), "memory for its threads");
}
