// Turns the fault of a stack that is too small for its thread into an error: the block ends, and the process goes on.
#pragma once

#include <csignal>
#include <memory>

// Handles faults while any object of the class exists; faults of other kinds go to who handled them before.
class OverflowHandler {
public:
  OverflowHandler();
  ~OverflowHandler();
};

// A stack for the handler, of this thread of the operating system, as long as the object exists.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();

private:
  std::unique_ptr<char[]> memory;
  stack_t before;
};
