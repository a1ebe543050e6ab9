// User-level switches between stacks: no thread of the operating system, no signal mask, no floating-point state.
#pragma once

#include <cstddef>
#include <cstdint>

// Saves where the caller is in *from and goes on where `to` was saved (or prepared).
extern "C" __attribute__((visibility("hidden"))) void adgen_switch(void **from, void *to);

// What to switch to in order to call entry(argument) on the stack that ends at `top` (aligned to 16); entry must not
// return.
void *adgen_prepare(char *top, void (*entry)(void *), void *argument);

// Stacks of one size, side by side, each above a page that may not be touched. Kept and reused.
class Stacks {
public:
  ~Stacks() { release(); }

  // Room for so many stacks of at least so many bytes; false where the system has not enough.
  bool reserve(size_t count, size_t bytes);
  char *top(size_t index) const;
  // All of them.
  const char *begin() const { return base; }
  const char *end() const { return base + count * stride; }
  // Whether the address is in a page that may not be touched.
  bool isGuard(const void *address) const;
  size_t bytes() const { return stride - page; }

private:
  void release();

  char *base = nullptr;
  size_t count = 0, stride = 0, page = 0;
};
