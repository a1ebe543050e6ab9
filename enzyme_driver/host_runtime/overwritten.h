// Arrays that the reverse sweep of a C++ function puts back, step by step, to what they held before
// (passes/Checkpointing/UndoLog.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

// Of one gradient call: at its end, each array holds again what it held when the reverse sweep began.
class Overwritten {
public:
  Overwritten(void *const *args, uint64_t which); // the arguments, a bit each
  ~Overwritten();
  Overwritten(const Overwritten &) = delete;

  struct Array;

private:
  std::vector<std::unique_ptr<Array>> arrays;
};
