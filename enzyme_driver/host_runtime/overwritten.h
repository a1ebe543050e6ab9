// Arrays that the reverse sweep of a C++ function puts back, step by step, to what they held before
// (passes/Checkpointing/UndoLog.cpp).
#pragma once

#include "large.h"

#include <cstdint>
#include <memory>
#include <vector>

// Of one gradient call: at its end, each array holds again what it held when the reverse sweep began.
class Overwritten {
public:
  Overwritten(void *const *args, uint64_t which) { // the arguments, a bit each
    if (which)
      watch(args, which);
  }
  ~Overwritten() {
    if (!arrays.empty())
      putBack();
  }
  Overwritten(const Overwritten &) = delete;

  // What lies between the first and the last number that was overwritten.
  struct Array {
    char *base;
    int64_t first = INT64_MAX, end = INT64_MIN; // in bytes from the base
    bool saved = false;
    LargeBlock left; // what the forward sweep has left there
  };

private:
  void watch(void *const *args, uint64_t which);
  void putBack();
  std::vector<std::unique_ptr<Array>> arrays;
};
