// What teams of threads do with each other, and the derivatives of that (passes/OpenMP/RewriteOpenMP.cpp). Functions
// with a derivative take a lock; those of the forward and the reverse sweep take its shadow too, which they leave
// alone.
#include "failure.h"

#include <atomic>
#include <cstdint>
#include <omp.h>
#include <thread>

namespace {

// Lies in a global of 64 bytes that begin as zero.
struct Lock {
  std::atomic<uint64_t> owner; // 1 + a number of the thread; 0 where nobody holds it
  std::atomic<uint32_t> turn;  // the thread whose turn it is in a reduction
  uint32_t depth;              // how often its owner has entered it
  std::atomic<int64_t> left;   // how often it was left in forward sweeps, less what reverse sweeps have undone
  uint32_t undoing;            // as depth, in the reverse sweep
  bool in_turn;
};
static_assert(sizeof(Lock) <= 64);

uint64_t self() {
  static std::atomic<uint64_t> last;
  static thread_local const uint64_t number = ++last;
  return number;
}

template <class Condition> void wait_until(Condition holds) {
  for (int tries = 0; !holds(); ++tries)
    if (tries > 100)
      std::this_thread::yield();
}

void enter(Lock &lock) {
  if (lock.owner.load(std::memory_order_relaxed) == self()) {
    ++lock.depth;
    return;
  }
  wait_until([&] {
    uint64_t nobody = 0;
    return lock.owner.compare_exchange_weak(nobody, self(), std::memory_order_acquire, std::memory_order_relaxed);
  });
  lock.depth = 1;
}

void enter_in_turn(Lock &lock) {
  const bool shared = omp_get_num_threads() > 1;
  if (shared)
    wait_until([&] { return lock.turn.load(std::memory_order_acquire) == uint32_t(omp_get_thread_num()); });
  enter(lock);
  lock.in_turn = shared;
}

void leave(Lock &lock) {
  if (--lock.depth)
    return;
  if (lock.in_turn)
    lock.turn.store((omp_get_thread_num() + 1) % omp_get_num_threads(), std::memory_order_release);
  lock.in_turn = false;
  lock.owner.store(0, std::memory_order_release);
}

constexpr int64_t Inside = -1; // of what was left while its owner still held it

int64_t leave_and_count(Lock &lock) {
  const int64_t ticket = lock.depth > 1 ? Inside : lock.left.fetch_add(1, std::memory_order_relaxed);
  leave(lock);
  return ticket;
}

// The last that left comes first.
void enter_backwards(Lock &lock, int64_t ticket) {
  if (ticket == Inside) {
    ++lock.undoing;
    return;
  }
  wait_until([&] { return lock.left.load(std::memory_order_acquire) == ticket + 1; });
  lock.undoing = 1;
}

void leave_backwards(Lock &lock) {
  if (--lock.undoing == 0)
    lock.left.fetch_sub(1, std::memory_order_release);
}

std::atomic<int> largest_team{1};
thread_local int requested = 0;
thread_local int limit = 0; // of the teams that this thread makes; 0 is none

} // namespace

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN void adgen_rule_omp_enter(Lock *lock) { enter(*lock); }
HIDDEN void adgen_rule_omp_enter_augmented(Lock *lock, void *) { enter(*lock); }
HIDDEN void adgen_rule_omp_enter_reverse(Lock *lock, void *) { leave_backwards(*lock); }

HIDDEN void adgen_rule_omp_enter_in_turn(Lock *lock) { enter_in_turn(*lock); }
HIDDEN void adgen_rule_omp_enter_in_turn_augmented(Lock *lock, void *) { enter_in_turn(*lock); }
HIDDEN void adgen_rule_omp_enter_in_turn_reverse(Lock *lock, void *) { leave_backwards(*lock); }

HIDDEN void adgen_rule_omp_leave(Lock *lock) { leave(*lock); }
HIDDEN int64_t adgen_rule_omp_leave_augmented(Lock *lock, void *) { return leave_and_count(*lock); }
HIDDEN void adgen_rule_omp_leave_reverse(Lock *lock, void *, int64_t ticket) { enter_backwards(*lock, ticket); }

static void barrier() {
#pragma omp barrier
}
HIDDEN void adgen_rule_omp_barrier(Lock *) { barrier(); }
HIDDEN void adgen_rule_omp_barrier_augmented(Lock *, void *) { barrier(); }
HIDDEN void adgen_rule_omp_barrier_reverse(Lock *, void *) { barrier(); }

HIDDEN void adgen_omp_request(int threads) { requested = threads; }

HIDDEN void adgen_omp_limit(int threads) { limit = threads; }

// How many threads the next team gets: what num_threads asked for or the default; one inside a team.
// Of a thread with memory of its own, of which there is enough for so many.
HIDDEN int adgen_omp_number_within(int number, int most) {
  if (number < most)
    return number;
  adgen_fail("variables of threads (threadprivate, thread_local) have memory for " + std::to_string(most) +
             " threads of a team, and there are more: see OMP_NUM_THREADS and adgen.threads");
  return most;
}

HIDDEN int adgen_omp_team() {
  omp_set_dynamic(0);           // a reverse sweep needs the threads of its forward sweep
  omp_set_max_active_levels(1); // a region inside a region has one thread
  int threads = requested > 0 ? requested : omp_get_max_threads();
  requested = 0;
  if (omp_get_active_level() >= omp_get_max_active_levels())
    threads = 1;
  if (limit > 0 && threads > limit)
    threads = limit;
  int known = largest_team.load();
  while (known < threads && !largest_team.compare_exchange_weak(known, threads)) {
  }
  return threads;
}

// No team of this process has had more threads, nor will one without num_threads.
HIDDEN int adgen_omp_capacity() {
  const int largest = largest_team.load(), usual = omp_get_max_threads();
  return largest > usual ? largest : usual;
}
