#include "accumulation.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <omp.h>
#include <shared_mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace {

// Bytes of a shadow that has copies where the cost decides, and of one whose copies are whole (docs/performance.md).
constexpr uint64_t LargestApart = 64 << 20, LargestWhole = 4 << 20;
// CUDA threads in a launch of one dimension for each element of all copies: with fewer, adding up costs more than the atomics do.
constexpr uint64_t FewestThreads = 4;
constexpr uint64_t Line = 128;  // bytes that processors fetch together
constexpr uint64_t Page = 4096; // of memory
constexpr uint64_t MostSpare = 256 << 20; // bytes of address space for copies of later gradients

struct Said {
  uint32_t arguments = 0;
  uint32_t way = AccumulateByCost;
  // Of arrays that the primal only reads: nothing but accumulations happens to them. The shadows of arrays that it writes are read and written
  // between the forks of a C++ function, so their copies are added up after each.
  std::vector<adgen_shadow> shadows, written;
};
thread_local Said said; // of the next gradient that this thread calls
thread_local Accumulation *running = nullptr;

// The number of this thread in the only team of several that it is in (adgen_omp_team allows no teams in teams).
uint32_t number() {
  int sum = 0;
  for (int level = 1; level <= omp_get_level(); ++level)
    sum += omp_get_ancestor_thread_num(level);
  return uint32_t(sum);
}

// What was added is zero afterwards.
template <class Number> void addNumbers(char *to, char *from, uint64_t first, uint64_t last) {
  auto *sum = reinterpret_cast<Number *>(to);
  auto *part = reinterpret_cast<Number *>(from);
  for (uint64_t i = first; i < last; ++i)
    if (part[i] != 0) { // what lies between the numbers of a struct stays as it is
      sum[i] += part[i];
      part[i] = 0;
    }
}

// Memory that held copies, for later ones of the same size and kind of number: it is zero, and to get pages anew from the system takes longer
// than to add them up.
class Spare {
public:
  char *take(uint64_t size, uint32_t element) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(pieces.begin(), pieces.end(), [&](const Piece &piece) { return piece.size == size && piece.element == element; });
    if (found == pieces.end())
      return nullptr;
    char *pages = found->pages;
    pieces.erase(found);
    total -= size;
    return pages;
  }

  void give(char *pages, uint64_t size, uint32_t element) {
    const std::lock_guard lock(mutex);
    if (total + size > MostSpare) {
      munmap(pages, size);
      return;
    }
    pieces.push_back({pages, size, element});
    total += size;
  }

private:
  struct Piece {
    char *pages;
    uint64_t size;
    uint32_t element;
  };

  std::mutex mutex;
  std::vector<Piece> pieces;
  uint64_t total = 0;
};
Spare spare;

} // namespace

// A copy for each thread, which the thread itself sets to zero. Copies of large shadows are memory that the system gives page by page as
// they are touched: where threads accumulate into different parts of an array, they take about as much as the array itself.
struct Accumulation::Copies {
  char *shadow;
  uint64_t bytes;
  uint32_t element;
  bool after_forks; // added up after each fork that uses them, not at the end
  bool by_pages;
  uint64_t stride, size;
  std::vector<char> used;
  char *memory;

  Copies(char *shadow, const adgen_shadow &described, bool after_forks, uint32_t threads)
      : shadow(shadow), bytes(described.bytes), element(described.element), after_forks(after_forks),
        by_pages(bytes > LargestWhole || (after_forks && bytes > Page)),
        stride((bytes + Page - 1) / Page * Page), size(std::max(Page, stride * threads)), used(threads * Line), memory(take()) {}
  ~Copies() {
    if (!by_pages || !memory)
      std::free(memory);
    else if (isUsed() || most_touched > FewTouched * stride / Page)
      munmap(memory, size);
    else
      spare.give(memory, size, element);
  }
  Copies(const Copies &) = delete;

  bool holds(const char *address) const { return shadow <= address && address < shadow + bytes; }

  char *ofThisThread() {
    const uint32_t thread = number();
    if (thread * Line >= used.size())
      return shadow;
    if (!std::exchange(used[thread * Line], 1) && !by_pages)
      std::memset(memory + thread * stride, 0, bytes);
    return memory + thread * stride;
  }

  // Element by element in the order of the threads: the same bits each time.
  void addUp() {
    const int64_t pages = int64_t(stride / Page), threads = int64_t(used.size() / Line);
    std::vector<char> touched(uint64_t(pages * threads));
    const bool many = pages > 64;
#pragma omp parallel for schedule(static) if (many)
    for (int64_t thread = 0; thread < threads; ++thread)
      if (used[uint64_t(thread) * Line])
        findTouched(memory + uint64_t(thread) * stride, &touched[uint64_t(thread * pages)]);
#pragma omp parallel for schedule(static) if (many)
    for (int64_t page = 0; page < pages; ++page)
      for (int64_t thread = 0; thread < threads; ++thread)
        if (touched[uint64_t(thread * pages + page)])
          addPage(uint64_t(page), memory + uint64_t(thread) * stride);
    most_touched = std::max(most_touched, uint64_t(std::count(touched.begin(), touched.end(), 1)));
    std::fill(used.begin(), used.end(), 0);
  }

  bool isUsed() const { return std::find(used.begin(), used.end(), 1) != used.end(); }

private:
  // Pages of all copies for each page of the shadow, where threads add to parts of their own.
  static constexpr uint64_t FewTouched = 2;
  uint64_t most_touched = 0;

  char *take() const {
    if (!by_pages)
      return static_cast<char *>(std::aligned_alloc(Page, size));
    if (char *known = spare.take(size, element))
      return known;
    if (size > uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2)
      return nullptr;
    void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      return nullptr;
    madvise(pages, size, MADV_NOHUGEPAGE); // else a thread's first addition in two megabytes takes all of them
    return static_cast<char *>(pages);
  }

  // Which pages of a copy are there, in memory or swapped out; all of them where the system does not tell.
  void findTouched(const char *copy, char *touched) const {
    constexpr uint64_t There = uint64_t(3) << 62;
    const uint64_t pages = stride / Page;
    std::vector<uint64_t> entries(pages);
    const int map = by_pages && sysconf(_SC_PAGESIZE) == long(Page) ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    const auto first = off_t(reinterpret_cast<uintptr_t>(copy) / Page * sizeof(uint64_t));
    const bool known = map >= 0 && pread(map, entries.data(), pages * sizeof(uint64_t), first) == ssize_t(pages * sizeof(uint64_t));
    if (map >= 0)
      close(map);
    for (uint64_t i = 0; i < pages; ++i)
      touched[i] = !known || (entries[i] & There) != 0;
  }

  void addPage(uint64_t page, char *copy) {
    const uint64_t first = page * Page / element, last = std::min(bytes, (page + 1) * Page) / element;
    element == 4 ? addNumbers<float>(shadow, copy, first, last) : addNumbers<double>(shadow, copy, first, last);
  }
};

namespace {

std::shared_mutex registry;
std::vector<Accumulation::Copies *> known; // of all gradients that run now

} // namespace

// In a launch of one dimension adgen-own-accumulations shows of most elements that one thread alone adds to them, and copies would be for nothing.
static bool isInARow(const adgen_launch *launch) {
  return launch && launch->grid[1] == 1 && launch->grid[2] == 1 && launch->block[1] == 1 && launch->block[2] == 1;
}

bool Accumulation::isFree() { return said.way == AccumulateByCost || said.way == AccumulateInOrder; }

Accumulation::Accumulation(void *const *args, uint64_t accumulated, const adgen_launch *launch, bool meets)
    : args(args), accumulated(accumulated) {
  const Said now = std::exchange(said, Said());
  count = now.arguments;
  if (!meets || now.way == AccumulateTogether || omp_get_max_threads() == 1 || omp_in_parallel())
    return;
  way = now.way;
  largest = LargestApart;
  if (isInARow(launch)) {
    largest = LargestWhole;
    most_elements = uint64_t(launch->grid[0]) * launch->block[0] / (FewestThreads * uint64_t(omp_get_max_threads()));
  }
  for (const adgen_shadow &shadow : now.shadows)
    if (shadow.argument < 64 && accumulated >> shadow.argument & 1 && add(*static_cast<char **>(args[shadow.argument]), shadow, false))
      with_copies |= uint64_t(1) << shadow.argument;
  for (const adgen_shadow &shadow : now.written)
    add(*static_cast<char **>(args[shadow.argument]), shadow, true);
  one_thread = now.way == AccumulateInOrder && !apart();
  if (!launch)
    running = this;
}

bool Accumulation::add(char *shadow, const adgen_shadow &described, bool after_forks) {
  if (way == AccumulateByCost && (described.bytes > largest || described.bytes / described.element > most_elements))
    return false;
  auto copies = std::make_unique<Copies>(shadow, described, after_forks, uint32_t(omp_get_max_threads()));
  if (!copies->memory)
    return false;
  const std::unique_lock lock(registry);
  known.push_back(copies.get());
  shadows.push_back(std::move(copies));
  return true;
}

Accumulation *Accumulation::current() { return running; }

void Accumulation::describe(char *shadow, uint64_t bytes, uint32_t element) {
  if (bytes >= element)
    add(shadow, {0, element, bytes}, true);
}

void Accumulation::forget(const char *shadow) {
  const auto found = std::find_if(shadows.begin(), shadows.end(), [&](auto &copies) { return copies->shadow == shadow; });
  if (found == shadows.end())
    return;
  const std::unique_lock lock(registry);
  known.erase(std::find(known.begin(), known.end(), found->get()));
  shadows.erase(found);
}

void Accumulation::addUpAfterFork() {
  for (auto &copies : shadows)
    if (copies->after_forks && copies->isUsed())
      copies->addUp();
}

Accumulation::~Accumulation() {
  if (running == this)
    running = nullptr;
  if (shadows.empty())
    return;
  {
    const std::unique_lock lock(registry);
    for (auto &shadow : shadows)
      known.erase(std::find(known.begin(), known.end(), shadow.get()));
  }
  for (auto &shadow : shadows)
    shadow->addUp();
}

void *const *Accumulation::argumentsOf(std::vector<void *> &own, std::vector<void *> &pointers) {
  if (shadows.empty())
    return args;
  own.assign(args, args + count);
  pointers.reserve(count);
  for (uint32_t i = 0; i < count && i < 64; ++i)
    for (auto &shadow : shadows)
      if (with_copies >> i & 1 && *static_cast<char **>(args[i]) == shadow->shadow) {
        pointers.push_back(shadow->ofThisThread());
        own[i] = &pointers.back();
      }
  return own.data();
}

// Says of the next gradient that this thread calls how many arguments it has, and how threads are to accumulate into these shadows.
extern "C" __attribute__((visibility("default"))) void adgen_accumulate(uint32_t arguments, uint32_t way, uint32_t shadows,
                                                                         const adgen_shadow *described) {
  said = {arguments, way, {described, described + shadows}, {}};
}

// Says further, if it is a C++ function, which shadows of arrays that it writes may have copies.
extern "C" __attribute__((visibility("default"))) void adgen_accumulate_written(uint32_t shadows, const adgen_shadow *described) {
  said.written.assign(described, described + shadows);
}

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// Where this thread is to accumulate what is meant for `shadow`: its own copy, or the shadow itself. `untouched` says that until the end of the fork
// nothing else happens to the shadow.
HIDDEN char *adgen_own_shadow(char *shadow, uint32_t untouched) {
  const std::shared_lock lock(registry);
  for (Accumulation::Copies *copies : known)
    if (copies->holds(shadow) && (!copies->after_forks || (untouched && omp_get_level() == 1)))
      return copies->ofThisThread() + (shadow - copies->shadow);
  return shadow;
}

// After a fork.
HIDDEN void adgen_add_up() {
  if (Accumulation *now = Accumulation::current(); now && omp_get_level() == 0)
    now->addUpAfterFork();
}

// The gradient has allocated a shadow, and gives it back.
HIDDEN void adgen_describe_shadow(char *shadow, uint64_t bytes, uint32_t element) {
  if (Accumulation *now = Accumulation::current(); now && omp_get_level() == 0)
    now->describe(shadow, bytes, element);
}
HIDDEN void adgen_forget_shadow(const char *shadow) {
  if (Accumulation *now = Accumulation::current(); now && omp_get_level() == 0)
    now->forget(shadow);
}
