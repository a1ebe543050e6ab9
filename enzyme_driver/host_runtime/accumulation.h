// Where the threads of a gradient accumulate: into the shadows themselves, or each into a copy of its own that is added
// at the end.
#pragma once

#include "launch.h"

#include <cstdint>
#include <memory>
#include <vector>

extern "C" {

enum adgen_ways : uint32_t { AccumulateByCost, AccumulateApart, AccumulateTogether, AccumulateInOrder };

struct adgen_shadow {
  uint32_t argument; // of the gradient
  uint32_t element;  // bytes of a number in it: 4 or 8
  uint64_t bytes;
};

// The shadow of an array that a C++ function writes, or of one in a struct.
struct adgen_memory {
  char *start;
  uint64_t bytes;
  uint32_t element;
};
}

class Copies;

inline constexpr uint64_t NotApart = ~uint64_t(0); // of code that accumulates into other memory too

// The accumulations of one gradient call.
class Accumulation {
public:
  // What was said of this call (adgen_accumulate). The code accumulates by atomics into these arguments, a bit each.
  // `launch` is that of a kernel. With `meets` false threads never meet in an element, and nothing is done.
  Accumulation(void *const *args, uint64_t accumulated, const adgen_launch *launch = nullptr, bool meets = true);
  ~Accumulation(); // adds the copies up
  Accumulation(const Accumulation &) = delete;

  // Of a gradient that makes no teams.
  static void forgetWhatWasSaid() {
    if (anything_said)
      forgetSaid();
  }
  static __attribute__((visibility("hidden"))) __thread bool anything_said; // of this thread's next gradient
  // Whether the next gradient that this thread calls may see to it that they do not: neither atomics nor copies were
  // asked for.
  static bool isFree();
  bool wantsOneThread() const { return one_thread; }
  // The arguments as this thread is to see them, with its own copies; `own` and `pointers` keep them.
  void *const *argumentsOf(std::vector<void *> &own, std::vector<void *> &pointers);
  // Whether all that the code accumulates into has copies.
  bool apart() const { return accumulated != NotApart && (accumulated & ~with_copies) == 0; }

  // The shadow of memory that the gradient has allocated, until it is given back.
  void describe(char *shadow, uint64_t bytes, uint32_t element);
  void forget(const char *shadow);
  void addUpAfterFork();

  // Of the gradient that this thread has called.
  static Accumulation *current();

private:
  void *const *args;
  uint64_t accumulated;
  uint32_t count = 0; // of arguments
  bool one_thread = false;
  uint64_t with_copies = 0;
  uint32_t way = AccumulateTogether;
  // Of a shadow that has copies where the cost decides: bytes and elements.
  uint64_t largest = 0, most_elements = ~uint64_t(0);
  std::vector<std::unique_ptr<Copies>> shadows;

  static void forgetSaid();
  bool add(const adgen_memory &shadow, bool after_forks);
  template <class Is> void forgetAll(const Is &is);
};
