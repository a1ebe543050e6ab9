// Blocks whose threads work together: every CUDA thread has a stack of its own and runs until it has to wait for
// others. One thread of the operating system runs all threads of a block, so nothing here is atomic; blocks run in
// parallel.
#pragma once

#include "blocks.h"
#include "contexts.h"
#include "launch.h"

#include <cstdint>
#include <vector>

constexpr uint32_t WarpSize = 32;
constexpr uint32_t MeetingPlace =
    1u << 31; // in the number of a place where lanes ask who is active only to wait for each other

constexpr uint32_t Barriers = 16; // of a block
constexpr uint32_t OfGrid = 32;   // the number of the barrier for all blocks

class Block;

struct adgen_thread {
  void *stack_pointer = nullptr;
  adgen_thread *next = nullptr; // in a queue
  Block *block = nullptr;
  uint32_t index[3] = {};
  uint32_t linear = 0;
  bool returned = false;
  const char *waits_at = nullptr; // for the message of a deadlock
};

// Threads in the order in which they came.
class Queue {
public:
  bool empty() const { return !first; }
  void push(adgen_thread *thread);
  adgen_thread *pop();
  void append(Queue &other); // and empties it
  std::vector<uint32_t> numbers() const;

private:
  adgen_thread *first = nullptr, *last = nullptr;
};

struct Barrier {
  Queue waiting;
  uint32_t arrived = 0, expected = 0; // none expected: all that have not returned
  uint32_t ones = 0;                  // threads whose predicate holds
  uint32_t count = 0, counted = 0;    // both of the last complete round
};

struct Warp;

// What the lane gets from an operation of its warp, once every participant has come to it.
using Operation = uint64_t (*)(const Warp &warp, uint32_t lane, uint32_t participants);

// Those of the mask that have not come to the end of the forward sweep.
uint64_t stillForward(const Warp &warp, uint32_t lane, uint32_t participants);

struct Lane {
  adgen_thread *thread;
  Operation operation; // none: the lane asks who is active, and `offset` is the place in the program
  uint32_t mask, offset, control;
  uint64_t value, result;
};

struct Warp {
  Lane lanes[WarpSize];
  mutable uint64_t gathered[WarpSize]; // what an operation has computed for all lanes at once
  uint32_t present, waiting;
  uint32_t through; // lanes of a gradient that have come to the end of the forward sweep
};

// A block that a thread of the operating system runs, with the memory that it keeps for the next one.
class Block {
public:
  // The one that this thread of the operating system runs blocks in, one after the other.
  static Block &ofThisThread();
  // For a signal handler: ends the block that runs now where the address is below the stack of one of its threads, or
  // behind its shared memory.
  static void endIfOverflowed(const void *address);

  void run(const adgen_launch *launch, const adgen_cooperative &kernel, thread_function code, void *const *args,
           uint32_t x, uint32_t y, uint32_t z);

  // The same in parts, of a block that others wait for: up to where all of its threads wait for the grid, or to its
  // end.
  bool begin(const adgen_launch *launch, const adgen_cooperative &kernel, thread_function code, void *const *args,
             char *shared, BlockPlace place);
  void goOn();
  bool isDone() const { return left == 0; }

  // `expected` threads (none: all) meet at one of the barriers.
  void wait(adgen_thread &thread, uint32_t number, uint32_t expected, const char *where);
  void arrive(adgen_thread &thread, uint32_t number, uint32_t expected);
  // Waits, and gives how many predicates held.
  uint32_t count(adgen_thread &thread, uint32_t number, uint32_t expected, bool predicate, const char *where);
  uint32_t threadsOf(uint32_t number) const { return barriers[number % Barriers].count; }
  // Waits for the lanes of operation.mask.
  uint64_t together(adgen_thread &thread, Lane operation, const char *where);
  // In a gradient, the lane does no more with others what the primal does.
  void leaveForward(adgen_thread &thread);
  // Lets the others go on.
  void pause(adgen_thread &thread);

  // Of dynamic shared memory, with its shadows.
  uint32_t dynamicBytes() const { return (kernel->with_shadows ? 2 : 1) * uint32_t(launch->shared_bytes); }

private:
  static void enter(void *thread);
  bool prepare();
  void leave(adgen_thread &thread);
  void handOver(adgen_thread &from, const char *where);
  adgen_thread *pick();
  bool waitsForGrid();
  [[noreturn]] void abandon();
  void reportOverflow() const;
  void release(Barrier &barrier);
  bool complete(Warp &warp, uint32_t lane);
  void completeWaiting(Warp &warp);
  bool completeActiveMasks();
  void answer(Warp &warp, uint32_t place);
  void reportDeadlock();
  Warp &warpOf(const adgen_thread &thread) { return warps[thread.linear / WarpSize]; }

  const adgen_launch *launch = nullptr;
  const adgen_cooperative *kernel = nullptr;
  thread_function code = nullptr;
  void *const *args = nullptr;
  char *shared = nullptr;
  uint32_t index[3] = {};

  Stacks stacks;
  std::vector<adgen_thread> threads;
  std::vector<Warp> warps;
  Barrier barriers[Barriers], grid;
  Queue ready;
  uint32_t left = 0; // threads that have not returned
  void *caller = nullptr;
  enum { Nothing, Stack, Shared } overflowed = Nothing;
};

// Bytes of stack that a thread has beside its kernel's own variables.
extern uint64_t adgen_spare_stack;
