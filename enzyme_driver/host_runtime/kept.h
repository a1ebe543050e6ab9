// Memory for what the gradients of kernels keep for their reverse sweeps.
#pragma once

#include <cstdint>

extern "C" {

__attribute__((visibility("hidden"))) void *adgen_kept_alloc(uint64_t bytes); // aligned to 16 bytes
__attribute__((visibility("hidden"))) void adgen_kept_free(void *start);
__attribute__((visibility("hidden"))) void *adgen_kept_mark();
// Takes back everything that this thread of the operating system took since the mark.
__attribute__((visibility("hidden"))) void adgen_kept_release(void *mark);
}

// What is taken while it lives is taken back at its end.
class KeptScope {
public:
  KeptScope() : mark(adgen_kept_mark()) {}
  ~KeptScope() { adgen_kept_release(mark); }
  KeptScope(const KeptScope &) = delete;
  KeptScope &operator=(const KeptScope &) = delete;

private:
  void *const mark;
};
