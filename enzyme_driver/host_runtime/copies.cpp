#include "copies.h"

#include <algorithm>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace {

constexpr uint64_t Line = 128;            // bytes that processors fetch together
constexpr uint64_t Page = 4096;           // of memory
constexpr uint64_t MostSpare = 256 << 20; // bytes of address space for copies of later gradients
// Of larger copies that is given back where threads added to the same parts: later gradients, whose threads may not,
// would add all of it up.
constexpr uint64_t LargestWhole = 4 << 20, FewTouched = 2;
constexpr uint64_t FewPages = 8; // which one thread adds up sooner than a team

// What was added is zero afterwards. What lies between the numbers of a struct stays as it is.
template <class Number> void addNumbers(char *to, char *from, uint64_t first, uint64_t last) {
  auto *__restrict__ sums = reinterpret_cast<Number *>(to);
  auto *__restrict__ parts = reinterpret_cast<Number *>(from);
  for (uint64_t i = first; i < last; ++i) {
    const Number sum = sums[i], part = parts[i];
    sums[i] = part != 0 ? sum + part : sum;
    parts[i] = 0;
  }
}

// Memory that held copies, for later ones of the same size: it is zero, and to get pages anew from the system takes
// longer than to add them up.
class Spare {
public:
  char *take(uint64_t size) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(pieces.begin(), pieces.end(), [&](const Piece &piece) { return piece.size == size; });
    if (found == pieces.end())
      return nullptr;
    char *pages = found->pages;
    pieces.erase(found);
    total -= size;
    return pages;
  }

  void give(char *pages, uint64_t size) {
    const std::lock_guard lock(mutex);
    if (total + size > MostSpare) {
      munmap(pages, size);
      return;
    }
    pieces.push_back({pages, size});
    total += size;
  }

private:
  struct Piece {
    char *pages;
    uint64_t size;
  };

  std::mutex mutex;
  std::vector<Piece> pieces;
  uint64_t total = 0;
};
Spare spare;

} // namespace

PageMap::PageMap()
    : file(sysconf(_SC_PAGESIZE) == long(Page) ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1) {}

PageMap::~PageMap() {
  if (file >= 0)
    close(file);
}

void PageMap::find(const char *memory, uint64_t pages, char *there) const {
  constexpr uint64_t There = uint64_t(3) << 62;
  std::vector<uint64_t> entries(pages);
  const auto first = off_t(reinterpret_cast<uintptr_t>(memory) / Page * sizeof(uint64_t));
  const auto wanted = ssize_t(pages * sizeof(uint64_t));
  const bool known = file >= 0 && pread(file, entries.data(), size_t(wanted), first) == wanted;
  for (uint64_t i = 0; i < pages; ++i)
    there[i] = !known || (entries[i] & There) != 0;
}

Copies::Copies(char *shadow, uint64_t bytes, uint32_t element, bool after_forks, uint32_t threads)
    : shadow(shadow), after_forks(after_forks), bytes(bytes), element(element), threads(threads),
      pages(int64_t((bytes + Page - 1) / Page)), size(uint64_t(pages) * Page * threads), used(threads * Line),
      touched(uint64_t(pages) * threads), memory(take()) {}

Copies::~Copies() {
  if (!memory)
    return;
  if (areUsed() || (bytes > LargestWhole && most_touched > FewTouched * uint64_t(pages)))
    munmap(memory, size);
  else
    spare.give(memory, size);
}

char *Copies::take() const {
  if (char *known = spare.take(size))
    return known;
  if (size > uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2)
    return nullptr;
  void *fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED)
    return nullptr;
  madvise(fresh, size, MADV_NOHUGEPAGE); // else a thread's first addition in two megabytes takes all of them
  return static_cast<char *>(fresh);
}

bool Copies::areUsed() const { return std::find(used.begin(), used.end(), 1) != used.end(); }

char *Copies::of(uint32_t thread) {
  if (thread >= threads)
    return shadow;
  used[thread * Line] = 1;
  return memory + thread * pages * Page;
}

void Copies::addUp(const std::vector<Copies *> &all) {
  uint64_t sum = 0;
  for (const Copies *copies : all)
    sum += copies->pagesInUse();
  if (sum == 0)
    return;
  const PageMap map;
#pragma omp parallel if (sum > FewPages)
  {
    for (Copies *copies : all)
      copies->findTouched(map);
#pragma omp barrier
    for (Copies *copies : all)
      copies->addPages();
  }
  for (Copies *copies : all)
    copies->countTouched();
}

uint64_t Copies::pagesInUse() const { return uint64_t(pages * std::count(used.begin(), used.end(), 1)); }

void Copies::findTouched(const PageMap &map) {
#pragma omp for schedule(static) nowait
  for (int64_t thread = 0; thread < threads; ++thread) {
    char *flags = &touched[thread * pages];
    if (!used[thread * Line] || pages == 1)
      std::fill(flags, flags + pages, used[thread * Line]);
    else
      map.find(memory + thread * pages * Page, uint64_t(pages), flags);
  }
}

void Copies::addPages() {
#pragma omp for schedule(static) nowait
  for (int64_t page = 0; page < pages; ++page)
    for (int64_t thread = 0; thread < threads; ++thread)
      if (touched[thread * pages + page])
        addPage(uint64_t(page), memory + thread * pages * Page);
}

void Copies::addPage(uint64_t page, char *copy) const {
  const uint64_t first = page * Page / element, last = std::min(bytes, (page + 1) * Page) / element;
  element == 4 ? addNumbers<float>(shadow, copy, first, last) : addNumbers<double>(shadow, copy, first, last);
}

void Copies::countTouched() {
  most_touched = std::max(most_touched, uint64_t(std::count(touched.begin(), touched.end(), 1)));
  std::fill(used.begin(), used.end(), 0);
}
