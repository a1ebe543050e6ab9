// Blocks of up to 1 KiB lie in spans of 64 KiB, each of which has blocks of one size, in one stretch of addresses by
// which they are told apart from other memory. A block that was given back goes to the list of the thread that did so.
#include "small.h"

#include <array>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace {

constexpr uint64_t Largest = 1 << 10, Unit = 16, Span = 64 << 10; // bytes
constexpr uint64_t Sizes = Largest / Unit;

struct Block {
  Block *next;
};

using Lists = std::array<Block *, Sizes>;

class Spans {
public:
  Spans() {
    void *found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED)
      return;
    start = static_cast<char *>(found);
    sizes.resize(bytes / Span);
  }

  bool holds(const void *memory) const {
    return uint64_t(static_cast<const char *>(memory) - start) < bytes && start != nullptr;
  }

  // The size of the blocks of the span that the memory lies in, in units, less one.
  uint64_t sizeAt(const void *memory) const {
    return sizes[uint64_t(static_cast<const char *>(memory) - start) / Span];
  }

  // Blocks of a size as a list: those of a thread that has ended, else of a fresh span; null where all are used.
  Block *blocks(uint64_t size) {
    const std::lock_guard lock(mutex);
    if (!left[size].empty()) {
      Block *list = left[size].back();
      left[size].pop_back();
      return list;
    }
    if (!start || used == sizes.size())
      return nullptr;
    char *span = start + used * Span;
    sizes[used++] = uint8_t(size);
    Block *list = nullptr;
    const uint64_t each = (size + 1) * Unit;
    for (uint64_t number = Span / each; number-- > 0;) {
      auto *block = reinterpret_cast<Block *>(span + number * each);
      block->next = list;
      list = block;
    }
    return list;
  }

  void leave(const Lists &lists) {
    const std::lock_guard lock(mutex);
    for (uint64_t size = 0; size < Sizes; ++size)
      if (lists[size])
        left[size].push_back(lists[size]);
  }

private:
  const uint64_t bytes = mostSpare() / Span * Span;
  char *start = nullptr;
  std::vector<uint8_t> sizes; // by span; written before a block of it is handed out
  uint64_t used = 0;
  std::array<std::vector<Block *>, Sizes> left;
  std::mutex mutex;
};

Spans &spans() {
  static auto *all = new Spans; // other threads may still run when the process ends
  return *all;
}

struct Own {
  Lists lists{};

  ~Own() { spans().leave(lists); }
};

thread_local Own own;

} // namespace

void *takeSmall(uint64_t bytes) {
  if (bytes == 0 || bytes > Largest)
    return nullptr;
  const uint64_t size = (bytes - 1) / Unit;
  Block *&list = own.lists[size];
  if (!list && !(list = spans().blocks(size)))
    return nullptr;
  Block *taken = list;
  list = taken->next;
  return taken;
}

bool giveSmall(void *memory) {
  Spans &all = spans();
  if (!all.holds(memory))
    return false;
  auto *block = static_cast<Block *>(memory);
  Block *&list = own.lists[all.sizeAt(memory)];
  block->next = list;
  list = block;
  return true;
}

uint64_t sizeOfSmall(const void *memory) {
  Spans &all = spans();
  return all.holds(memory) ? (all.sizeAt(memory) + 1) * Unit : 0;
}
