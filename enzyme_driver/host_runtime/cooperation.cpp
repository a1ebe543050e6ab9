#include "cooperation.h"
#include "block_memory.h"
#include "failure.h"
#include "kept.h"
#include "races.h"

#include <algorithm>
#include <string>

uint64_t adgen_spare_stack = 64 << 10;

void Queue::push(adgen_thread *thread) {
  thread->next = nullptr;
  (last ? last->next : first) = thread;
  last = thread;
}

adgen_thread *Queue::pop() {
  adgen_thread *thread = first;
  first = thread->next;
  if (!first)
    last = nullptr;
  return thread;
}

void Queue::append(Queue &other) {
  if (other.empty())
    return;
  (last ? last->next : first) = other.first;
  last = other.last;
  other.first = other.last = nullptr;
}

std::vector<uint32_t> Queue::numbers() const {
  std::vector<uint32_t> found;
  for (const adgen_thread *thread = first; thread; thread = thread->next)
    found.push_back(thread->linear);
  return found;
}

static thread_local Block *running = nullptr;

Block &Block::ofThisThread() {
  static thread_local Block block;
  return block;
}

void Block::run(const adgen_launch *a_launch, const adgen_cooperative &a_kernel, thread_function a_code,
                void *const *a_args, uint32_t x, uint32_t y, uint32_t z) {
  char *memory = adgen_shared_memory(a_launch, a_kernel.static_bytes, a_kernel.with_shadows);
  if (!memory || !begin(a_launch, a_kernel, a_code, a_args, memory, {x, y, z}))
    return;
  if (Races *races = Races::watched()) {
    races->ofBlock(shared, shared + sharedBytes(launch, kernel->static_bytes, kernel->with_shadows));
    races->notOf(stacks.begin(), stacks.end());
  }
  const KeptScope scope;
  goOn();
}

bool Block::begin(const adgen_launch *a_launch, const adgen_cooperative &a_kernel, thread_function a_code,
                  void *const *a_args, char *a_shared, BlockPlace place) {
  launch = a_launch, kernel = &a_kernel, code = a_code, args = a_args, shared = a_shared;
  index[0] = place.x, index[1] = place.y, index[2] = place.z;
  return prepare();
}

void Block::goOn() {
  ready.append(grid.waiting);
  grid.arrived = 0;
  running = this;
  adgen_switch(&caller, pick()->stack_pointer);
  running = nullptr;
  if (overflowed)
    reportOverflow();
  overflowed = Nothing;
}

void Block::reportOverflow() const {
  if (overflowed == Shared)
    return adgen_fail(leftShared(index, launch, kernel->static_bytes));
  adgen_fail("a thread of block " + place(index) + " needs more than " + std::to_string(stacks.bytes()) +
             " bytes of stack (set ADGEN_STACK_BYTES)");
}

bool Block::prepare() {
  const uint32_t *extent = launch->block;
  const size_t count = size_t(extent[0]) * extent[1] * extent[2];
  const size_t bytes = kernel->stack_bytes + adgen_spare_stack;
  if (!stacks.reserve(count, bytes)) {
    adgen_fail("no memory for the stacks of " + std::to_string(count) + " threads, " + std::to_string(bytes) +
               " bytes each");
    return false;
  }
  threads.resize(count);
  warps.resize((count + WarpSize - 1) / WarpSize);
  for (Warp &warp : warps)
    warp.present = warp.waiting = warp.through = 0;
  std::fill(std::begin(barriers), std::end(barriers), Barrier());
  grid = Barrier();
  ready = Queue();
  left = uint32_t(count);
  for (uint32_t i = 0; i < count; ++i) {
    adgen_thread &thread = threads[i];
    thread.block = this;
    thread.linear = i;
    thread.index[0] = i % extent[0], thread.index[1] = i / extent[0] % extent[1],
    thread.index[2] = i / extent[0] / extent[1];
    thread.returned = false;
    thread.stack_pointer = adgen_prepare(stacks.top(i), enter, &thread);
    Warp &warp = warpOf(thread);
    warp.present |= 1u << i % WarpSize;
    warp.lanes[i % WarpSize].thread = &thread;
    ready.push(&thread);
  }
  return true;
}

void Block::enter(void *argument) {
  adgen_thread &thread = *static_cast<adgen_thread *>(argument);
  Block &block = *thread.block;
  block.code(block.launch, block.args, block.shared, &thread, block.index[0], block.index[1], block.index[2],
             thread.index[0], thread.index[1], thread.index[2]);
  block.leave(thread);
}

// A thread that has returned counts as arrived wherever others wait.
void Block::leave(adgen_thread &thread) {
  --left;
  thread.returned = true;
  if (Races *races = Races::watched())
    races->leave(thread.linear);
  Warp &warp = warpOf(thread);
  warp.present &= ~(1u << thread.linear % WarpSize);
  for (Barrier &barrier : barriers)
    if (barrier.arrived && !barrier.expected && barrier.arrived == left)
      release(barrier);
  completeWaiting(warp);
  void *unused;
  adgen_switch(&unused, left && !waitsForGrid() ? pick()->stack_pointer : caller);
}

void Block::completeWaiting(Warp &warp) {
  for (uint32_t lane = 0; lane < WarpSize; ++lane)
    if (warp.waiting >> lane & 1)
      complete(warp, lane);
}

uint64_t stillForward(const Warp &, uint32_t, uint32_t participants) { return participants; }

void Block::leaveForward(adgen_thread &thread) {
  Warp &warp = warpOf(thread);
  warp.through |= 1u << thread.linear % WarpSize;
  completeWaiting(warp);
}

void Block::handOver(adgen_thread &from, const char *where) {
  from.waits_at = where;
  if (waitsForGrid())
    adgen_switch(&from.stack_pointer, caller);
  else if (adgen_thread *to = pick(); to != &from)
    adgen_switch(&from.stack_pointer, to->stack_pointer);
  if (Races *races = Races::watched())
    races->goOn(from.linear);
}

// Whether no thread of the block can go on before other blocks come to where all of its own wait.
bool Block::waitsForGrid() { return grid.arrived && grid.arrived == left && ready.empty() && !completeActiveMasks(); }

// The next thread that can go on.
adgen_thread *Block::pick() {
  if (ready.empty() && !completeActiveMasks()) {
    reportDeadlock();
    abandon();
  }
  return ready.pop();
}

// Ends the block as it is: none of its threads goes on.
void Block::abandon() {
  left = 0;
  void *unused;
  adgen_switch(&unused, caller);
  __builtin_unreachable();
}

void Block::endIfOverflowed(const void *address) {
  if (!running)
    return;
  const adgen_cooperative &kernel = *running->kernel;
  const char *end = running->shared + sharedBytes(running->launch, kernel.static_bytes, kernel.with_shadows);
  if (running->stacks.isGuard(address))
    running->overflowed = Stack;
  else if (GuardedMemory::isBehind(end, address))
    running->overflowed = Shared;
  else
    return;
  running->abandon();
}

void Block::pause(adgen_thread &thread) {
  ready.push(&thread);
  handOver(thread, "a pause");
}

void Block::release(Barrier &barrier) {
  if (Races *races = Races::watched())
    races->release(uint32_t(&barrier - barriers), barrier.waiting.numbers());
  ready.append(barrier.waiting);
  barrier.count = barrier.arrived;
  barrier.counted = barrier.ones; // the first to go on may come to the next round before the last has read this
  barrier.arrived = barrier.ones = 0;
}

void Block::arrive(adgen_thread &thread, uint32_t number, uint32_t expected) {
  Barrier &barrier = barriers[number % Barriers];
  if (Races *races = Races::watched())
    races->arrive(number % Barriers, thread.linear);
  ++barrier.arrived;
  barrier.expected = expected;
  if (barrier.arrived >= (expected ? expected : left))
    release(barrier);
}

void Block::wait(adgen_thread &thread, uint32_t number, uint32_t expected, const char *where) {
  if (number == OfGrid) {
    ++grid.arrived;
    grid.waiting.push(&thread);
    handOver(thread, "this_grid().sync()");
    return;
  }
  barriers[number % Barriers].waiting.push(&thread); // also the last to come: threads keep their order
  arrive(thread, number, expected);
  handOver(thread, where);
}

uint32_t Block::count(adgen_thread &thread, uint32_t number, uint32_t expected, bool predicate, const char *where) {
  Barrier &barrier = barriers[number % Barriers];
  barrier.ones += predicate;
  wait(thread, number, expected, where);
  return barrier.counted;
}

// Completes the operation that the lane waits in, if all have come.
bool Block::complete(Warp &warp, uint32_t lane) {
  const Lane &own = warp.lanes[lane];
  const uint32_t gone = own.operation == stillForward ? warp.through : 0;
  const uint32_t participants = own.mask & warp.present & ~gone;
  if (!own.operation || (warp.waiting & participants) != participants)
    return false;
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (participants >> i & 1 && (warp.lanes[i].mask != own.mask || warp.lanes[i].operation != own.operation))
      return false;
  std::vector<uint32_t> met;
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (participants >> i & 1 && Races::watched())
      met.push_back(warp.lanes[i].thread->linear);
  if (Races *races = Races::watched())
    races->meet(met);
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (participants >> i & 1) {
      warp.lanes[i].result = own.operation(warp, i, participants);
      ready.push(warp.lanes[i].thread);
    }
  warp.waiting &= ~participants;
  return true;
}

uint64_t Block::together(adgen_thread &thread, Lane operation, const char *where) {
  Warp &warp = warpOf(thread);
  const uint32_t lane = thread.linear % WarpSize;
  operation.thread = &thread;
  operation.mask |= 1u << lane;
  warp.lanes[lane] = operation;
  warp.waiting |= 1u << lane;
  complete(warp, lane);
  handOver(thread, where);
  return warp.lanes[lane].result;
}

// Threads that ask who is active beside them are answered when nobody can go on otherwise: as many as can be have come
// by then. Where lanes ask only to meet, the first place in a warp is answered alone, as lanes that are behind go on
// first on a GPU, and meet the others again.
bool Block::completeActiveMasks() {
  for (Warp &warp : warps) {
    uint32_t first = UINT32_MAX;
    auto asks = [&](uint32_t lane) { return (warp.waiting >> lane & 1) && !warp.lanes[lane].operation; };
    for (uint32_t lane = 0; lane < WarpSize; ++lane)
      if (asks(lane)) {
        const uint32_t place = warp.lanes[lane].offset;
        place &MeetingPlace ? void(first = std::min(first, place)) : answer(warp, place);
      }
    if (first != UINT32_MAX && ready.empty())
      answer(warp, first);
  }
  return !ready.empty();
}

// Tells the lanes that wait at a place who they are.
void Block::answer(Warp &warp, uint32_t place) {
  uint32_t active = 0;
  for (uint32_t lane = 0; lane < WarpSize; ++lane)
    if ((warp.waiting >> lane & 1) && !warp.lanes[lane].operation && warp.lanes[lane].offset == place)
      active |= 1u << lane;
  for (uint32_t lane = 0; lane < WarpSize; ++lane)
    if (active >> lane & 1) {
      warp.lanes[lane].result = active;
      ready.push(warp.lanes[lane].thread);
    }
  warp.waiting &= ~active;
}

// Where threads of the block wait, by one thread for each kind of place.
void Block::reportDeadlock() {
  std::string text = "threads of block " + place(index) + " wait for each other forever:";
  std::vector<const char *> told;
  for (const adgen_thread &thread : threads) {
    if (thread.returned || std::find(told.begin(), told.end(), thread.waits_at) != told.end())
      continue;
    text += (told.empty() ? " thread " : ", thread ") + place(thread.index) + " at " + thread.waits_at;
    told.push_back(thread.waits_at);
  }
  if (left < threads.size())
    text += "; " + std::to_string(threads.size() - left) + " have returned";
  adgen_fail(text);
}
