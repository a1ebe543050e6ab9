#include "overflow.h"
#include "block_memory.h"
#include "cooperation.h"

#include <mutex>

namespace {

constexpr size_t Bytes = 64 << 10;

thread_local BehindShared *behind = nullptr;

std::mutex lock;
int users = 0;
struct sigaction before;

void handle(int signal, siginfo_t *info, void *) {
  Block::endIfOverflowed(info->si_addr);
  BehindShared::goOn(info->si_addr);
  sigaction(signal, &before, nullptr); // the instruction runs again, and faults again
}

} // namespace

OverflowHandler::OverflowHandler() {
  std::lock_guard<std::mutex> guard(lock);
  if (users++)
    return;
  struct sigaction own = {};
  own.sa_sigaction = handle;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; // the handler does not return from an overflow
  sigaction(SIGSEGV, &own, &before);
}

OverflowHandler::~OverflowHandler() {
  std::lock_guard<std::mutex> guard(lock);
  if (!--users)
    sigaction(SIGSEGV, &before, nullptr);
}

BehindShared::BehindShared(const char *end) : end(end) { behind = this; }

BehindShared::~BehindShared() { behind = nullptr; }

void BehindShared::goOn(const void *address) {
  if (behind && GuardedMemory::isBehind(behind->end, address))
    siglongjmp(behind->back, 1);
}

SignalStack::SignalStack() : memory(new char[Bytes]) {
  stack_t own = {};
  own.ss_sp = memory.get();
  own.ss_size = Bytes;
  sigaltstack(&own, &before);
}

SignalStack::~SignalStack() { sigaltstack(&before, nullptr); }
