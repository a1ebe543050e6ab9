// A warp on the host: 32 contexts of one thread are its lanes. Where lanes do something together, each gives way to the
// next one, so that all have come there before the first goes on.
#pragma once

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ucontext.h>
#include <vector>

// The lanes that take part, and the one that runs.
static unsigned here, lane;
static long long slots[32];

// The lanes that have not ended, the test's own context, what every lane runs, and how often each has met the others.
static unsigned running;
static std::array<ucontext_t, 32> contexts;
static ucontext_t outside;
static std::function<void()> lanesBody;
static std::array<int, 32> meetings;

// The next lane that has not ended, after this one and then from the first.
static unsigned nextLane() {
  unsigned later = running & ~((2ull << lane) - 1);
  return std::countr_zero(later ? later : running);
}

static void meet() {
  ++meetings[lane];
  ucontext_t &own = contexts[lane];
  lane = nextLane();
  swapcontext(&own, &contexts[lane]);
}

static void runLane() {
  lanesBody();
  running &= ~(1u << lane);
  if (!running)
    setcontext(&outside);
  lane = nextLane();
  setcontext(&contexts[lane]);
}

static long long exchange(unsigned active, long long value, unsigned from) {
  if (active != here || !(active >> from & 1))
    std::printf("lane %u asks lane %u of %x, but %x are here\n", lane, from, active, here), std::exit(1);
  slots[lane] = value;
  meet();
  long long received = slots[from];
  meet();
  return received;
}

static void warp(std::function<void()> body) {
  static std::vector<std::array<char, 1 << 16>> stacks(32);
  lanesBody = body, running = here, meetings = {};
  for (unsigned i = 0; i < 32; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i].data(), contexts[i].uc_stack.ss_size = stacks[i].size();
    makecontext(&contexts[i], runLane, 0);
  }
  lane = std::countr_zero(here);
  int first = lane;
  swapcontext(&outside, &contexts[lane]);
  for (unsigned i = 0; i < 32; ++i)
    if (here >> i & 1 && meetings[i] != meetings[first])
      std::printf("lane %u met the others %d times, lane %d %d times\n", i, meetings[i], first, meetings[first]), std::exit(1);
}
