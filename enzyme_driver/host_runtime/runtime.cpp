// The little that a host library needs beside the compiled code: blocks in parallel, exceptions as codes.
#include "accumulation.h"
#include "cooperation.h"
#include "failure.h"
#include "kept.h"
#include "launch.h"
#include "overflow.h"
#include "overwritten.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <omp.h>
#include <string>
#include <vector>

extern "C" void adgen_omp_limit(int threads); // teams.cpp

static std::atomic<bool> failed;
static std::string first_failure;

void adgen_fail(const std::string &message) {
  if (!failed.exchange(true))
    first_failure = message;
}

std::string place(const uint32_t *index) {
  return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " + std::to_string(index[2]) + ")";
}

static thread_local std::string last_error;

static int ended() {
  if (!failed)
    return 0;
  last_error = first_failure;
  return 1;
}

static int64_t blocks_of(const adgen_launch *launch) {
  return int64_t(launch->grid[0]) * launch->grid[1] * launch->grid[2];
}

// Makes every team one of one thread, as long as it lives.
class OneThread {
public:
  explicit OneThread(bool wanted) { adgen_omp_limit(wanted ? 1 : 0); }
  ~OneThread() { adgen_omp_limit(0); }
};

static bool runs_alone(int64_t blocks) { return blocks == 1 || omp_get_max_threads() == 1; }

extern "C" {

__attribute__((visibility("default"))) const char *adgen_last_error() { return last_error.c_str(); }

// Bytes of stack that each CUDA thread of a block with barriers has for what it calls.
__attribute__((visibility("default"))) void adgen_set_stack_bytes(uint64_t bytes) { adgen_spare_stack = bytes; }

// Blocks are independent. `alone` does the same as `block` without atomics, for when nobody else runs, or when each of the arguments
// `accumulated`, a bit each, is a copy of the thread's own.
__attribute__((visibility("hidden"))) int adgen_run_blocks(const adgen_launch *launch, block_function block,
                                                           block_function alone, uint64_t accumulated, void *const *args) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
  Accumulation accumulation(args, accumulated, launch);
  const bool single = runs_alone(blocks) || accumulation.wantsOneThread();
  const block_function run = single || accumulation.apart() ? alone : block;
  failed = false;
#pragma omp parallel if (!single)
  {
    std::vector<void *> own, pointers;
    void *const *mine = single ? args : accumulation.argumentsOf(own, pointers);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < blocks; ++i)
      run(launch, mine, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
  }
  return ended();
}

// Every block as loops over its threads.
static void run_split(const adgen_launch *launch, const adgen_cooperative *kernel, split_function code, void *const *args) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < blocks; ++i) {
    char *shared = adgen_shared_memory(launch, kernel->static_bytes, kernel->with_shadows);
    char *scratch = adgen_scratch_memory(launch, kernel->scratch_bytes);
    const KeptScope scope;
    if (shared && scratch)
      code(launch, args, shared, scratch, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
  }
}

// The threads of every block on stacks of their own.
static void run_stacks(const adgen_launch *launch, const adgen_cooperative *kernel, thread_function code, void *const *args) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
  const SignalStack own;
#pragma omp for schedule(static)
  for (int64_t i = 0; i < blocks; ++i)
    if (!failed)
      Block::ofThisThread().run(launch, *kernel, code, args, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
}

// The same for blocks whose threads wait for each other.
__attribute__((visibility("hidden"))) int adgen_run_cooperative(const adgen_launch *launch, const adgen_cooperative *kernel,
                                                                void *const *args) {
  Accumulation accumulation(args, kernel->accumulated, launch);
  const bool single = runs_alone(blocks_of(launch)) || accumulation.wantsOneThread();
  const bool alone = single || accumulation.apart();
  failed = false;
  const std::unique_ptr<OverflowHandler> handler(kernel->split ? nullptr : new OverflowHandler);
#pragma omp parallel if (!single)
  {
    std::vector<void *> own, pointers;
    void *const *mine = single ? args : accumulation.argumentsOf(own, pointers);
    if (kernel->split)
      run_split(launch, kernel, alone ? kernel->split_alone : kernel->split, mine);
    else
      run_stacks(launch, kernel, alone ? kernel->alone : kernel->thread, mine);
  }
  return ended();
}

__attribute__((visibility("hidden"))) int adgen_run_function(user_function call, uint64_t accumulated, uint64_t overwritten,
                                                             void *const *args, void *result) {
  const KeptScope scope; // also of what an exception leaves behind
  try {
    const Overwritten arrays(args, overwritten);
    Accumulation accumulation(args, accumulated);
    const OneThread only(accumulation.wantsOneThread());
    call(args, result);
    return 0;
  } catch (const std::exception &error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an exception that is not a std::exception";
  }
  return 1;
}
}
