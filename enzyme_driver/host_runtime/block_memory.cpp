// Memory of blocks: every thread of the operating system keeps what its largest block has needed.
#include "block_memory.h"
#include "failure.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

namespace {

constexpr uint64_t Alignment = 64;
constexpr uint64_t GuardBytes = 256 << 10; // no GPU has more shared memory for a block

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void failForWantOf(uint64_t bytes, const char *what) {
  adgen_fail("no memory for " + std::to_string(bytes) + " bytes of " + what + " a block");
}

class Memory {
public:
  ~Memory() { std::free(start); }

  char *reserve(uint64_t wanted, const char *what) {
    const uint64_t needed = rounded(wanted, Alignment) + Alignment; // never nothing
    if (bytes < needed) {
      std::free(start);
      start = static_cast<char *>(std::aligned_alloc(Alignment, needed));
      bytes = start ? needed : 0;
    }
    if (!start)
      failForWantOf(needed, what);
    return start;
  }

private:
  char *start = nullptr;
  uint64_t bytes = 0;
};

} // namespace

GuardedMemory::~GuardedMemory() { release(); }

void GuardedMemory::release() {
  if (start)
    munmap(start, bytes + GuardBytes);
  start = nullptr;
  bytes = 0;
}

char *GuardedMemory::reserve(uint64_t wanted) {
  if (!start || bytes < wanted) {
    release();
    const uint64_t needed = rounded(wanted, uint64_t(sysconf(_SC_PAGESIZE)));
    void *made = mmap(nullptr, needed + GuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
      return nullptr;
    start = static_cast<char *>(made);
    bytes = needed;
    if (needed && mprotect(start, needed, PROT_READ | PROT_WRITE) != 0) {
      release();
      return nullptr;
    }
  }
  return start + (bytes - wanted);
}

bool GuardedMemory::isBehind(const char *end, const void *address) {
  return end && uintptr_t(address) - uintptr_t(end) < GuardBytes;
}

static uint64_t partBytes(const adgen_launch *launch, uint64_t static_bytes) {
  return rounded(static_bytes, Alignment) + rounded(launch->shared_bytes, Alignment);
}

uint64_t sharedBytes(const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows) {
  return (with_shadows ? 2 : 1) * partBytes(launch, static_bytes);
}

char *sharedMemory(GuardedMemory &memory, const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows) {
  const uint64_t part = partBytes(launch, static_bytes), bytes = sharedBytes(launch, static_bytes, with_shadows);
  char *start = memory.reserve(bytes);
  if (!start)
    failForWantOf(bytes, "shared memory");
  else if (with_shadows)
    std::memset(start + part, 0, part);
  return start;
}

HIDDEN char *adgen_shared_memory(const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows) {
  static thread_local GuardedMemory memory;
  return sharedMemory(memory, launch, static_bytes, with_shadows);
}

HIDDEN char *adgen_scratch_memory(const adgen_launch *launch, uint64_t bytes) {
  static thread_local Memory memory;
  const uint32_t *extent = launch->block;
  return memory.reserve(bytes * rounded(uint64_t(extent[0]) * extent[1] * extent[2], Alignment),
                        "memory for its threads");
}
