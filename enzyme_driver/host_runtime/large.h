// Large blocks of memory that stay for later gradients; smaller ones come from the heap.
#pragma once

#include <cstdint>
#include <memory>

extern "C" {

__attribute__((visibility("hidden"))) void *adgen_large_alloc(uint64_t bytes); // null where there is not so much
__attribute__((visibility("hidden"))) void adgen_large_free(void *memory);
}

struct LargeFree {
  void operator()(void *memory) const { adgen_large_free(memory); }
};
using LargeBlock = std::unique_ptr<char, LargeFree>;
