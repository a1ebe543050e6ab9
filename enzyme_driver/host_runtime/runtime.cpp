// The little that a host library needs beside the compiled code: blocks in parallel, exceptions as codes.
#include "cooperation.h"
#include "failure.h"
#include "launch.h"
#include "overflow.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <omp.h>
#include <string>

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

static bool runs_alone(int64_t blocks) { return blocks == 1 || omp_get_max_threads() == 1; }

extern "C" {

__attribute__((visibility("default"))) const char *adgen_last_error() { return last_error.c_str(); }

// Bytes of stack that each CUDA thread of a block with barriers has for what it calls.
__attribute__((visibility("default"))) void adgen_set_stack_bytes(uint64_t bytes) { adgen_spare_stack = bytes; }

// Blocks are independent. `alone` does the same as `block` without atomics, for when nobody else runs.
__attribute__((visibility("hidden"))) int adgen_run_blocks(const adgen_launch *launch, block_function block,
                                                           block_function alone, void *const *args) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
  const bool single = runs_alone(blocks);
  const block_function run = single ? alone : block;
  failed = false;
#pragma omp parallel for schedule(static) if (!single)
  for (int64_t i = 0; i < blocks; ++i)
    run(launch, args, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
  return ended();
}

// Every block as loops over its threads.
static int run_split(const adgen_launch *launch, const adgen_cooperative *kernel, split_function code, void *const *args, bool single) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
#pragma omp parallel for schedule(static) if (!single)
  for (int64_t i = 0; i < blocks; ++i) {
    char *shared = adgen_shared_memory(launch, kernel->static_bytes, kernel->with_shadows);
    char *scratch = adgen_scratch_memory(launch, kernel->scratch_bytes);
    if (shared && scratch)
      code(launch, args, shared, scratch, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
  }
  return ended();
}

// The same for blocks whose threads wait for each other.
__attribute__((visibility("hidden"))) int adgen_run_cooperative(const adgen_launch *launch, const adgen_cooperative *kernel,
                                                                void *const *args) {
  const uint32_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t blocks = blocks_of(launch);
  const bool single = runs_alone(blocks);
  const thread_function code = single ? kernel->alone : kernel->thread;
  failed = false;
  if (kernel->split)
    return run_split(launch, kernel, single ? kernel->split_alone : kernel->split, args, single);
  const OverflowHandler handler;
#pragma omp parallel if (!single)
  {
    const SignalStack own;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < blocks; ++i)
      if (!failed)
        Block::ofThisThread().run(launch, *kernel, code, args, uint32_t(i % nx), uint32_t(i / nx % ny), uint32_t(i / nx / ny));
  }
  return ended();
}

__attribute__((visibility("hidden"))) int adgen_run_function(user_function call, void *const *args, void *result) {
  try {
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
