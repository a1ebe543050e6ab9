// Memory of blocks.
#pragma once

#include "launch.h"

#include <cstdint>

// Memory behind whose end whatever reads or writes faults.
class GuardedMemory {
public:
  GuardedMemory() = default;
  GuardedMemory(const GuardedMemory &) = delete;
  ~GuardedMemory();

  // The last so many bytes of it, a multiple of 64; null where there are not enough. They may be moved.
  char *reserve(uint64_t wanted);
  // Whether the address lies behind memory that ends there.
  static bool isBehind(const char *end, const void *address);

private:
  void release();

  char *start = nullptr;
  uint64_t bytes = 0;
};

// Of a block: what its shared memory needs, with the shadows.
uint64_t sharedBytes(const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows);

// Shared memory of a block in `memory`, with shadows that are zero; null where there is not enough.
char *sharedMemory(GuardedMemory &memory, const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows);
