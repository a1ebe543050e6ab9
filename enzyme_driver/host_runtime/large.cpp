// Large blocks for what gradients of C++ functions keep from one function to another, such as from the forward sweep of
// a parallel region to its reverse sweep. They stay for later gradients: to get their pages anew from the system takes
// longer than to fill them. Small blocks are taken from lists of their own: the tapes of a recursion are very many, and
// the heap's own lists hold few. Any other memory may be freed and enlarged here too.
#include "large.h"
#include "small.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace {

constexpr uint64_t Least = 64 << 10, Page = 4096, HugePage = 2 << 20; // bytes
constexpr uint64_t FirstRoom = 128;                                   // bytes of what grows
constexpr uint64_t Start = 64; // of the memory in its pages, by which most other memory is told apart at once
constexpr uint64_t Most = uint64_t(1) << 48; // bytes that there can be
constexpr uint64_t FewSpare = 256 << 20,
                   ShareSpare = 32; // emptied blocks stay up to so many bytes, or such a part of the machine's memory

} // namespace

uint64_t mostSpare() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return std::max(FewSpare, pages > 0 ? uint64_t(pages) * Page / ShareSpare : 0);
}

namespace {

uint64_t rounded(uint64_t bytes) {
  const uint64_t unit = bytes < 2 * HugePage ? Page : HugePage;
  return (bytes + unit - 1) / unit * unit;
}

// Null where the system has no more. Where pages of 2 MiB are to be had, the block begins with one.
char *map(uint64_t size) {
  const uint64_t more = size % HugePage ? 0 : HugePage;
  void *found = mmap(nullptr, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED)
    return nullptr;
  auto *pages = static_cast<char *>(found);
  if (!more)
    return pages;
  const uint64_t before = -reinterpret_cast<uintptr_t>(pages) % HugePage;
  if (before)
    munmap(pages, before);
  if (before < more)
    munmap(pages + before + size, more - before);
  madvise(pages + before, size, MADV_HUGEPAGE);
  return pages + before;
}

class Blocks {
public:
  // Null where there is not so much.
  void *take(uint64_t bytes) {
    const uint64_t size = rounded(bytes + Start);
    char *pages = nullptr;
    const std::lock_guard lock(mutex);
    const auto found = spare.lower_bound(size);
    uint64_t whole = size;
    if (found != spare.end() && found->first <= size + size / 2) {
      whole = found->first;
      pages = found->second;
      total -= whole;
      spare.erase(found);
    } else {
      pages = map(size);
    }
    if (!pages)
      return nullptr;
    used[pages] = whole;
    return pages + Start;
  }

  // False where the memory is no block of these.
  bool give(void *memory) {
    if (!couldBe(memory))
      return false;
    char *pages = static_cast<char *>(memory) - Start;
    const std::lock_guard lock(mutex);
    const auto found = used.find(pages);
    if (found == used.end())
      return false;
    const uint64_t size = found->second;
    used.erase(found);
    if (total + size > most) {
      munmap(pages, size);
    } else {
      spare.emplace(size, pages);
      total += size;
    }
    return true;
  }

  // The bytes that it holds; 0 where the memory is no block of these.
  uint64_t sizeOf(void *memory) {
    if (!couldBe(memory))
      return 0;
    const std::lock_guard lock(mutex);
    const auto found = used.find(static_cast<char *>(memory) - Start);
    return found == used.end() ? 0 : found->second - Start;
  }

private:
  static bool couldBe(const void *memory) { return reinterpret_cast<uintptr_t>(memory) % Page == Start; }

  std::mutex mutex;
  std::unordered_map<char *, uint64_t> used;
  std::multimap<uint64_t, char *> spare; // by size
  uint64_t total = 0;                    // bytes of the spare ones
  const uint64_t most = mostSpare();
};

Blocks &blocks() {
  static auto *all = new Blocks; // other threads may still run when the process ends
  return *all;
}

} // namespace

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN void *adgen_large_alloc(uint64_t bytes) {
  if (void *small = takeSmall(bytes))
    return small;
  return bytes < Least || bytes > Most ? std::malloc(bytes) : blocks().take(bytes);
}

HIDDEN void adgen_large_free(void *memory) {
  if (!giveSmall(memory) && !blocks().give(memory))
    std::free(memory);
}

// Of memory from new.
HIDDEN void adgen_large_delete(void *memory) {
  if (!giveSmall(memory) && !blocks().give(memory))
    ::operator delete(memory);
}

// What grows does so time after time: a small block has room for more than is asked for.
HIDDEN void *adgen_large_realloc(void *memory, uint64_t bytes) {
  const uint64_t small = sizeOfSmall(memory), held = small || !memory ? small : blocks().sizeOf(memory);
  if (memory && !held && (bytes < Least || bytes > Most))
    return std::realloc(memory, bytes);
  if (memory && held >= bytes && (small || bytes >= Least))
    return memory;
  void *larger = takeSmall(std::max(bytes, small ? 4 * small : FirstRoom));
  if (!larger)
    larger = adgen_large_alloc(bytes);
  if (larger && memory) {
    std::memcpy(larger, memory, std::min(bytes, held ? held : malloc_usable_size(memory)));
    adgen_large_free(memory);
  }
  return larger;
}
