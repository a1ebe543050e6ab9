// Turns the fault of a stack that is too small for its thread, or of an access behind shared memory, into an error: the
// block ends, and the process goes on.
#pragma once

#include <csetjmp>
#include <csignal>
#include <memory>

// Handles faults while any object of the class exists; faults of other kinds go to who handled them before.
class OverflowHandler {
public:
  OverflowHandler();
  ~OverflowHandler();
};

// Where this thread of the operating system goes on after a fault behind the shared memory, which ends there, of the
// block that it runs as loops over its threads.
class BehindShared {
public:
  explicit BehindShared(const char *end);
  ~BehindShared();
  static void goOn(const void *address);

  sigjmp_buf back;

private:
  const char *end;
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
