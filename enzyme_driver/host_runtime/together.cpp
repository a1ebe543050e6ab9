// What compiled kernels call where their threads work together: llvm.nvvm.shfl.sync.down.i32 is adgen_warp_shfl_down,
// and so on (adgen-make-host-entries). Results of warps: the lower half is the value, the upper one a predicate.
#include "cooperation.h"

#include <algorithm>
#include <cstring>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

namespace {

enum class Mode { Up, Down, Butterfly, Index };

struct Source {
  uint32_t lane;
  bool inside; // its segment
};

// As the PTX manual defines it: `control` holds the clamp and, above it, the mask of segments.
Source sourceOf(Mode mode, const Warp &warp, uint32_t lane) {
  const uint32_t offset = warp.lanes[lane].offset & 31, control = warp.lanes[lane].control;
  const uint32_t segment = control >> 8 & 31, first = lane & segment, last = first | (control & 31 & ~segment);
  const int32_t from = mode == Mode::Up          ? int32_t(lane) - int32_t(offset)
                       : mode == Mode::Down      ? int32_t(lane + offset)
                       : mode == Mode::Butterfly ? int32_t(lane ^ offset)
                                                 : int32_t(first | (offset & ~segment));
  const bool inside = mode == Mode::Up ? from >= int32_t(last) : from <= int32_t(last);
  return {inside ? uint32_t(from) : lane, inside};
}

template <Mode mode> uint64_t shuffle(const Warp &warp, uint32_t lane, uint32_t participants) {
  const auto [source, inside] = sourceOf(mode, warp, lane);
  const bool present = source < WarpSize && participants >> source & 1; // an absent lane sends zero
  return (present ? uint32_t(warp.lanes[source].value) : 0) | uint64_t(inside) << 32;
}

// The derivative of a shuffle (rules/shuffle.cu): for each lane the sum of what the participants hold that received
// from it. The first participant that is asked does it for all.
template <class T, class Word> uint64_t gather(const Warp &warp, uint32_t lane, uint32_t participants) {
  if ((participants & (0u - participants)) == 1u << lane) {
    T sums[WarpSize] = {};
    for (uint32_t i = lane; i < WarpSize; ++i) {
      const uint32_t source =
          participants >> i & 1 ? sourceOf(Mode(warp.lanes[i].control >> 16 & 3), warp, i).lane : WarpSize;
      const Word word = Word(warp.lanes[i].value);
      T value;
      std::memcpy(&value, &word, sizeof(value));
      if (source < WarpSize)
        sums[source] += value;
    }
    for (uint32_t i = 0; i < WarpSize; ++i) {
      Word word;
      std::memcpy(&word, &sums[i], sizeof(word));
      warp.gathered[i] = word;
    }
  }
  return warp.gathered[lane];
}

// Each lane gets what all participants have: its value points to {what it has, where all of it goes}, `offset` bytes a
// lane. Of who takes no part, zeros.
uint64_t collect(const Warp &warp, uint32_t lane, uint32_t participants) {
  const size_t bytes = warp.lanes[lane].offset;
  char *all = reinterpret_cast<char **>(warp.lanes[lane].value)[1];
  for (uint32_t i = 0; i < WarpSize; ++i, all += bytes)
    if (participants >> i & 1)
      std::memcpy(all, reinterpret_cast<char **>(warp.lanes[i].value)[0], bytes);
    else
      std::memset(all, 0, bytes);
  return 0;
}

uint64_t barrier(const Warp &, uint32_t, uint32_t) { return 0; }

// The participants whose value is the same as this lane's.
uint32_t equal(const Warp &warp, uint32_t lane, uint32_t participants) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (participants >> i & 1 && warp.lanes[i].value == warp.lanes[lane].value)
      same |= 1u << i;
  return same;
}

// The participants whose value is not zero.
uint32_t ballot(const Warp &warp, uint32_t participants) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (participants >> i & 1 && warp.lanes[i].value)
      set |= 1u << i;
  return set;
}

uint64_t voteBallot(const Warp &warp, uint32_t, uint32_t participants) { return ballot(warp, participants); }
uint64_t voteAny(const Warp &warp, uint32_t, uint32_t participants) { return ballot(warp, participants) != 0; }
uint64_t voteAll(const Warp &warp, uint32_t, uint32_t participants) {
  return ballot(warp, participants) == participants;
}
uint64_t voteUniform(const Warp &warp, uint32_t lane, uint32_t participants) {
  return equal(warp, lane, participants) == participants;
}
uint64_t matchAny(const Warp &warp, uint32_t lane, uint32_t participants) { return equal(warp, lane, participants); }
uint64_t matchAll(const Warp &warp, uint32_t lane, uint32_t participants) {
  return equal(warp, lane, participants) == participants ? participants | uint64_t(1) << 32 : 0;
}

struct Add {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct And {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Xor {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
struct UMin {
  uint32_t operator()(uint32_t a, uint32_t b) const { return std::min(a, b); }
};
struct UMax {
  uint32_t operator()(uint32_t a, uint32_t b) const { return std::max(a, b); }
};
struct Min {
  uint32_t operator()(uint32_t a, uint32_t b) const { return uint32_t(std::min(int32_t(a), int32_t(b))); }
};
struct Max {
  uint32_t operator()(uint32_t a, uint32_t b) const { return uint32_t(std::max(int32_t(a), int32_t(b))); }
};

template <class Combine> uint64_t reduce(const Warp &warp, uint32_t lane, uint32_t participants) {
  uint32_t result = uint32_t(warp.lanes[lane].value);
  for (uint32_t i = 0; i < WarpSize; ++i)
    if (i != lane && participants >> i & 1)
      result = Combine()(result, uint32_t(warp.lanes[i].value));
  return result;
}

} // namespace

#define WARP(NAME, OPERATION, WORDS)                                                                                   \
  HIDDEN uint64_t adgen_warp_##NAME(adgen_thread *thread, uint32_t mask, uint64_t value, uint32_t offset,              \
                                    uint32_t control) {                                                                \
    return thread->block->together(*thread, {nullptr, OPERATION, mask, offset, control, value, 0}, WORDS);             \
  }

WARP(shfl_up, shuffle<Mode::Up>, "a warp shuffle (up)")
WARP(shfl_down, shuffle<Mode::Down>, "a warp shuffle (down)")
WARP(shfl_bfly, shuffle<Mode::Butterfly>, "a warp shuffle (xor)")
WARP(shfl_idx, shuffle<Mode::Index>, "a warp shuffle")
WARP(gather_f32, (gather<float, uint32_t>), "the derivative of a warp shuffle")
WARP(gather_f64, (gather<double, uint64_t>), "the derivative of a warp shuffle")
WARP(collect, collect, "a product of matrices by a warp (wmma, mma.sync)")
WARP(vote_all, voteAll, "a warp vote (all)")
WARP(vote_any, voteAny, "a warp vote (any)")
WARP(vote_uni, voteUniform, "a warp vote (uniform)")
WARP(vote_ballot, voteBallot, "a warp vote (ballot)")
WARP(match_any, matchAny, "a warp match (any)")
WARP(match_all, matchAll, "a warp match (all)")
WARP(redux_add, reduce<Add>, "a warp reduction (add)")
WARP(redux_and, reduce<And>, "a warp reduction (and)")
WARP(redux_or, reduce<Or>, "a warp reduction (or)")
WARP(redux_xor, reduce<Xor>, "a warp reduction (xor)")
WARP(redux_umin, reduce<UMin>, "a warp reduction (min)")
WARP(redux_umax, reduce<UMax>, "a warp reduction (max)")
WARP(redux_min, reduce<Min>, "a warp reduction (min)")
WARP(redux_max, reduce<Max>, "a warp reduction (max)")
WARP(barrier, barrier, "__syncwarp()")
WARP(activemask, nullptr, "__activemask()")
WARP(participants, stillForward, "a warp shuffle, vote or __syncwarp()")

HIDDEN void adgen_leave_forward(adgen_thread *thread) { thread->block->leaveForward(*thread); }

HIDDEN void adgen_barrier(adgen_thread *thread, uint32_t number, uint32_t expected) {
  thread->block->wait(*thread, number, expected, "__syncthreads()");
}

HIDDEN void adgen_barrier_arrive(adgen_thread *thread, uint32_t number, uint32_t expected) {
  thread->block->arrive(*thread, number, expected);
}

HIDDEN uint32_t adgen_barrier_popc(adgen_thread *thread, uint32_t number, uint32_t expected, uint32_t predicate) {
  return thread->block->count(*thread, number, expected, predicate, "__syncthreads_count()");
}

HIDDEN uint32_t adgen_barrier_and(adgen_thread *thread, uint32_t number, uint32_t expected, uint32_t predicate) {
  const uint32_t ones = thread->block->count(*thread, number, expected, predicate, "__syncthreads_and()");
  return ones == thread->block->threadsOf(number);
}

HIDDEN uint32_t adgen_barrier_or(adgen_thread *thread, uint32_t number, uint32_t expected, uint32_t predicate) {
  return thread->block->count(*thread, number, expected, predicate, "__syncthreads_or()") != 0;
}

HIDDEN void adgen_pause(adgen_thread *thread) { thread->block->pause(*thread); }
HIDDEN uint32_t adgen_dynamic_bytes(adgen_thread *thread) { return thread->block->dynamicBytes(); }
