#include "overwritten.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace {

std::mutex registry;
std::vector<Overwritten::Array *> known; // of all gradients that run now

Overwritten::Array *find(const char *base) {
  const auto found = std::find_if(known.begin(), known.end(), [&](auto *array) { return array->base == base; });
  return found == known.end() ? nullptr : *found;
}

} // namespace

void Overwritten::watch(void *const *args, uint64_t which) {
  const std::unique_lock lock(registry);
  for (uint32_t i = 0; i < 64; ++i)
    if (which >> i & 1) {
      arrays.push_back(std::make_unique<Array>());
      arrays.back()->base = *static_cast<char **>(args[i]);
      known.push_back(arrays.back().get());
    }
}

void Overwritten::putBack() {
  const std::unique_lock lock(registry);
  for (auto &array : arrays) {
    known.erase(std::find(known.begin(), known.end(), array.get()));
    if (array->left)
      std::memcpy(array->base + array->first, array->left.get(), size_t(array->end - array->first));
  }
}

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// A thread has overwritten numbers between these offsets.
HIDDEN void adgen_note_overwritten(char *base, int64_t first, int64_t end) {
  const std::unique_lock lock(registry);
  if (Overwritten::Array *array = find(base)) {
    array->first = std::min(array->first, first);
    array->end = std::max(array->end, end);
  }
}

// Called by every thread before it puts anything back.
HIDDEN void adgen_save_overwritten(char *base) {
  const std::unique_lock lock(registry);
  Overwritten::Array *array = find(base);
  if (!array || std::exchange(array->saved, true) || array->first >= array->end)
    return;
  const auto bytes = uint64_t(array->end - array->first);
  array->left.reset(static_cast<char *>(adgen_large_alloc(bytes)));
  if (!array->left)
    throw std::bad_alloc();
  std::memcpy(array->left.get(), array->base + array->first, bytes);
}
