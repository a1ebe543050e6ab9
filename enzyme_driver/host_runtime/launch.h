// What the compiled code and the runtime tell each other.
#pragma once

#include <cstdint>

extern "C" {

struct adgen_launch {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;
};

struct adgen_thread; // one CUDA thread of a block whose threads work together

// (launch, arguments, index of the first block, how many beside each other)
using blocks_function = void (*)(const adgen_launch *, void *const *, uint32_t, uint32_t, uint32_t, uint32_t);
// (launch, arguments, shared memory, the thread, block index, thread index)
using thread_function = void (*)(const adgen_launch *, void *const *, char *, adgen_thread *, uint32_t, uint32_t,
                                 uint32_t, uint32_t, uint32_t, uint32_t);
using user_function = void (*)(void *const *, void *);

// (launch, arguments, shared memory, scratch memory, block index)
using split_function = void (*)(const adgen_launch *, void *const *, char *, char *, uint32_t, uint32_t, uint32_t);

// Bytes of a shadow, from where it begins; the last one belongs to it.
struct adgen_range {
  int64_t first, last;
};
// (launch, arguments, block index, a range for each shadow): between which bytes of them a block accumulates.
using footprint_function = void (*)(const adgen_launch *, void *const *, uint32_t, uint32_t, uint32_t, adgen_range *);

// A kernel whose threads work together. `alone` does the same as `thread` without atomics. Where `split` is set, it
// does the work of a whole block, and needs so many bytes of scratch memory for each thread.
struct adgen_cooperative {
  thread_function thread;
  thread_function alone;
  split_function split;
  split_function split_alone;
  uint64_t scratch_bytes;
  uint64_t static_bytes; // of shared arrays whose size is known; dynamic ones follow
  uint32_t with_shadows; // the same once more, zeroed for every block
  uint32_t stack_bytes;  // that a thread's own variables take
  uint64_t accumulated; // the arguments into which it accumulates by atomics, a bit each; NotApart where there is other
                        // memory
  footprint_function footprint; // of these, or null
  uint32_t grid;                // whether threads of all blocks wait for each other
};

// Shared memory of the block that this thread runs now; null where there is not enough.
char *adgen_shared_memory(const adgen_launch *launch, uint64_t static_bytes, uint32_t with_shadows);

// So many bytes for each thread of a block, for the number of threads rounded up to 64; null where there are not
// enough.
char *adgen_scratch_memory(const adgen_launch *launch, uint64_t bytes);
}
