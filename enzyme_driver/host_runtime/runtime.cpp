// The little that a host library needs beside the compiled code: blocks in parallel, exceptions as codes.
#include "accumulation.h"
#include "block_memory.h"
#include "blocks.h"
#include "cooperation.h"
#include "failure.h"
#include "kept.h"
#include "launch.h"
#include "overflow.h"
#include "overwritten.h"
#include "races.h"
#include "shares.h"
#include "vectors.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <omp.h>
#include <optional>
#include <string>
#include <utility>
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

std::string leftShared(const uint32_t *block, const adgen_launch *launch, uint64_t static_bytes) {
  return "a thread of block " + place(block) + " reads or writes behind its shared memory, which has " +
         std::to_string(launch->shared_bytes) + " dynamic bytes, as the launch says, and " +
         std::to_string(static_bytes) + " static ones";
}

static thread_local std::string last_error;

static int ended() {
  if (!failed)
    return 0;
  last_error = first_failure;
  return 1;
}

// Makes every team one of one thread, as long as it lives.
class OneThread {
public:
  explicit OneThread(bool wanted) { adgen_omp_limit(wanted ? 1 : 0); }
  ~OneThread() { adgen_omp_limit(0); }
};

using Shares = std::optional<std::vector<Share>>;

// Of a launch whose gradient is verified: only the first blocks, in the order of their numbers. Where it has an end,
// they run on one thread, one after the other, until then.
struct Limit {
  int64_t blocks = std::numeric_limits<int64_t>::max();
  double end = 0; // by the clock of OpenMP; 0: none
  bool is() const { return end != 0 || blocks != std::numeric_limits<int64_t>::max(); }
};

static thread_local Limit limit_of_next;
static thread_local int64_t blocks_run;

static Shares shares_of(const adgen_launch *launch, footprint_function footprint, uint64_t accumulated,
                        void *const *args) {
  return omp_get_max_threads() > 1 && Accumulation::isFree() ? sharesOf(launch, footprint, accumulated, args)
                                                             : std::nullopt;
}

// Blocks that are run at once: those of one row, up to so many.
template <class Run>
static void run_between(const adgen_launch *launch, BlockRange blocks, int64_t most, const Run &run) {
  for (int64_t first = blocks.first; first < blocks.end;) {
    const auto [x, y, z] = placeOf(launch, first);
    const int64_t count = std::min({most, int64_t(launch->grid[0]) - x, blocks.end - first});
    run(x, y, z, uint32_t(count));
    first += count;
  }
}

template <class Run> static void run_grouped(const adgen_launch *launch, BlockRange blocks, const Run &run) {
  for (int64_t block = blocks.first; block < blocks.end; ++block) {
    const auto [x, y, z] = groupedPlaceOf(launch, block);
    run(x, y, z, 1);
  }
}

template <class Run> static void run_until(const adgen_launch *launch, int64_t blocks, double end, const Run &run) {
  for (blocks_run = 0; blocks_run < blocks && omp_get_wtime() < end; ++blocks_run)
    run_between(launch, {blocks_run, blocks_run + 1}, 1, run);
}

// What the threads of a team do: all blocks in parallel, those that wait after the others. Up to `most` are run at
// once.
template <class Run>
static void run_all(const adgen_launch *launch, const Shares &shares, int64_t most, const Limit &limit,
                    const Run &run) {
  if (limit.is()) {
    const int64_t blocks = std::min(blocksOf(launch), limit.blocks);
    return limit.end ? run_until(launch, blocks, limit.end, run)
                     : run_between(launch, partOf(blocks, omp_get_thread_num(), omp_get_num_threads()), most, run);
  }
  if (!shares) {
    const BlockRange mine = partOf(blocksOf(launch), omp_get_thread_num(), omp_get_num_threads());
    most == 1 ? run_grouped(launch, mine, run) : run_between(launch, mine, most, run);
    return;
  }
  const int64_t count = int64_t(shares->size());
#pragma omp for schedule(static)
  for (int64_t share = 0; share < count; ++share)
    run_between(launch, {(*shares)[share].first, (*shares)[share].late}, most, run);
#pragma omp for schedule(static)
  for (int64_t share = 0; share < count; ++share)
    run_between(launch, {(*shares)[share].late, (*shares)[share].end}, most, run);
}

// So many that a row of their threads is long enough to be vectorised. Where a block has several rows they are not
// longer than that, for the next row reads what this one has read.
static int64_t blocks_at_once(const adgen_launch *launch) {
  constexpr uint32_t Row = 256, Most = 1 << 16; // threads
  const bool is_row = launch->block[1] == 1 && launch->block[2] == 1;
  return std::max(1u, (is_row ? Most : Row) / launch->block[0]);
}

// Of the next launch of this thread: blocks may store to one element, and come to its cotangent one after the other.
static thread_local bool blocks_meet = false;

static bool runs_alone(int64_t blocks) { return blocks == 1 || omp_get_max_threads() == 1; }

extern "C" {

__attribute__((visibility("default"))) const char *adgen_last_error() { return last_error.c_str(); }

// Bytes of stack that each CUDA thread of a block with barriers has for what it calls.
__attribute__((visibility("default"))) void adgen_set_stack_bytes(uint64_t bytes) { adgen_spare_stack = bytes; }

// Of the next launch of this thread: it runs so many blocks at most, and where seconds are given (not zero), on one
// thread until they are over.
__attribute__((visibility("default"))) void adgen_limit(uint64_t blocks, double seconds) {
  limit_of_next.blocks = int64_t(std::min(blocks, uint64_t(std::numeric_limits<int64_t>::max())));
  limit_of_next.end = seconds ? omp_get_wtime() + seconds : 0;
}

// How many blocks the last launch with seconds has run.
__attribute__((visibility("default"))) uint64_t adgen_blocks_run() { return uint64_t(blocks_run); }

// Said before a gradient runs, which is compiled for blocks with elements of their own where the grid has one block
// along the axes `one`, a bit each, and blocks are no wider than x, y and z.
__attribute__((visibility("hidden"))) void adgen_blocks_differ(const adgen_launch *launch, uint32_t one, uint32_t x,
                                                               uint32_t y, uint32_t z) {
  const uint32_t widest[] = {x, y, z};
  blocks_meet = false;
  for (unsigned axis = 0; axis < 3; ++axis)
    blocks_meet |= (one >> axis & 1 && launch->grid[axis] != 1) || launch->block[axis] > widest[axis];
}

// Blocks are independent. `alone` does the same as `blocks` without atomics, for when nobody else runs, or when each of
// the arguments `accumulated`, a bit each, is a copy of the thread's own, or when threads do not meet, as `footprint`
// may show.
__attribute__((visibility("hidden"))) int adgen_run_blocks(const adgen_launch *launch, blocks_function blocks,
                                                           blocks_function alone, uint64_t accumulated,
                                                           footprint_function footprint, void *const *args) {
  const Limit limit = std::exchange(limit_of_next, Limit());
  const Shares shares = limit.is() ? std::nullopt : shares_of(launch, footprint, accumulated, args);
  Accumulation accumulation(args, accumulated, launch, !shares);
  const bool single =
      std::exchange(blocks_meet, false) || limit.end || runs_alone(blocksOf(launch)) || accumulation.wantsOneThread();
  const blocks_function run = single || shares || accumulation.apart() ? alone : blocks;
  failed = false;
#pragma omp parallel if (!single)
  {
    std::vector<void *> own, pointers;
    void *const *mine = single ? args : accumulation.argumentsOf(own, pointers);
    run_all(launch, shares, blocks_at_once(launch), limit,
            [&](uint32_t x, uint32_t y, uint32_t z, uint32_t count) { run(launch, mine, x, y, z, count); });
  }
  return ended();
}

// Every block as loops over its threads.
static void run_split(const adgen_launch *launch, const adgen_cooperative *kernel, split_function code,
                      const Shares &shares, const Limit &limit, void *const *args) {
  run_all(launch, shares, 1, limit, [&](uint32_t x, uint32_t y, uint32_t z, uint32_t) {
    char *shared = adgen_shared_memory(launch, kernel->static_bytes, kernel->with_shadows);
    char *scratch = adgen_scratch_memory(launch, kernel->scratch_bytes);
    const KeptScope scope;
    const uint32_t index[] = {x, y, z};
    if (!shared || !scratch)
      return;
    BehindShared behind(shared + sharedBytes(launch, kernel->static_bytes, kernel->with_shadows));
    if (sigsetjmp(behind.back, 0))
      adgen_fail(leftShared(index, launch, kernel->static_bytes));
    else
      code(launch, args, shared, scratch, x, y, z);
  });
}

// The threads of every block on stacks of their own.
static void run_stacks(const adgen_launch *launch, const adgen_cooperative *kernel, thread_function code,
                       const Shares &shares, const Limit &limit, void *const *args) {
  const SignalStack own;
  run_all(launch, shares, 1, limit, [&](uint32_t x, uint32_t y, uint32_t z, uint32_t) {
    if (!failed)
      Block::ofThisThread().run(launch, *kernel, code, args, x, y, z);
  });
}

// All blocks in turns, each up to where it waits for the others: on one thread of the operating system.
static void run_grid(const adgen_launch *launch, const adgen_cooperative *kernel, int64_t count, void *const *args) {
  const SignalStack own;
  const KeptScope scope;
  std::deque<Block> blocks;
  std::deque<GuardedMemory> memory;
  for (int64_t number = 0; number < count && !failed; ++number) {
    char *shared = sharedMemory(memory.emplace_back(), launch, kernel->static_bytes, kernel->with_shadows);
    if (!shared)
      return;
    blocks.emplace_back().begin(launch, *kernel, kernel->alone, args, shared, placeOf(launch, number));
  }
  for (bool any = true; any && !failed;) {
    any = false;
    for (Block &block : blocks)
      if (!block.isDone() && !failed) {
        block.goOn();
        any |= !block.isDone();
      }
  }
}

// The same for blocks whose threads wait for each other.
__attribute__((visibility("hidden"))) int adgen_run_cooperative(const adgen_launch *launch,
                                                                const adgen_cooperative *kernel, void *const *args) {
  const Limit limit = std::exchange(limit_of_next, Limit());
  if (kernel->grid) {
    const OverflowHandler handler;
    const Unwatched nobody;
    blocks_meet = failed = false;
    blocks_run = std::min(blocksOf(launch), limit.blocks);
    run_grid(launch, kernel, blocks_run, args);
    return ended();
  }
  const Shares shares = limit.is() ? std::nullopt : shares_of(launch, kernel->footprint, kernel->accumulated, args);
  Accumulation accumulation(args, kernel->accumulated, launch, !shares);
  const bool single =
      std::exchange(blocks_meet, false) || limit.end || runs_alone(blocksOf(launch)) || accumulation.wantsOneThread();
  const bool alone = single || shares || accumulation.apart();
  failed = false;
  const OverflowHandler handler;
#pragma omp parallel if (!single)
  {
    std::vector<void *> own, pointers;
    void *const *mine = single ? args : accumulation.argumentsOf(own, pointers);
    if (kernel->split)
      run_split(launch, kernel, alone ? kernel->split_alone : kernel->split, shares, limit, mine);
    else
      run_stacks(launch, kernel, alone ? kernel->alone : kernel->thread, shares, limit, mine);
  }
  return ended();
}

static int call_function(user_function call, void *const *args, void *result) {
  adgen_misfits = false;
  if (failed.load(std::memory_order_relaxed))
    failed = false;
  call(args, result);
  if (ended())
    return 1;
  if (!adgen_misfits)
    return 0;
  last_error = adgen_misfit();
  return 2;
}

// A call of code that makes no teams costs some nanoseconds beside what it calls: such gradients are taken of one
// observation after another.
__attribute__((visibility("hidden"))) int adgen_run_function(user_function call, uint32_t forks, uint64_t accumulated,
                                                             uint64_t overwritten, void *const *args, void *result) {
  const KeptScope scope; // also of what an exception leaves behind
  try {
    const Overwritten arrays(args, overwritten);
    if (!forks) {
      Accumulation::forgetWhatWasSaid();
      return call_function(call, args, result);
    }
    Accumulation accumulation(args, accumulated);
    const OneThread only(accumulation.wantsOneThread());
    return call_function(call, args, result);
  } catch (const std::exception &error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an exception that is not a std::exception";
  }
  return 1;
}
}
