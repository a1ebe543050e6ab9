#include "accumulation.h"
#include "copies.h"

#include <algorithm>
#include <mutex>
#include <omp.h>
#include <shared_mutex>
#include <utility>

namespace {

// Bytes of a shadow that has copies where the cost decides, also in a launch of one dimension (docs/performance.md).
constexpr uint64_t LargestApart = 64 << 20, LargestInARow = 4 << 20;
// CUDA threads in a launch of one dimension for each element of all copies: with fewer, adding up costs more than the
// atomics do.
constexpr uint64_t FewestThreads = 4;

struct Said {
  uint32_t arguments = 0;
  uint32_t way = AccumulateByCost;
  // Of arrays that the primal only reads: nothing but accumulations happens to them. Other shadows are read and written
  // between the forks of a C++ function, so their copies are added up after each.
  std::vector<adgen_shadow> shadows;
  std::vector<adgen_memory> others;
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

std::shared_mutex registry;
std::vector<Copies *> known; // of all gradients that run now

} // namespace

// In a launch of one dimension adgen-relax-private-atomics shows of most elements that one thread alone adds to them,
// and copies would be for nothing.
static bool isInARow(const adgen_launch *launch) {
  return launch && launch->grid[1] == 1 && launch->grid[2] == 1 && launch->block[1] == 1 && launch->block[2] == 1;
}

__thread bool Accumulation::anything_said = false;

void Accumulation::forgetSaid() {
  anything_said = false;
  said = {};
}

bool Accumulation::isFree() { return said.way == AccumulateByCost || said.way == AccumulateInOrder; }

Accumulation::Accumulation(void *const *args, uint64_t accumulated, const adgen_launch *launch, bool meets)
    : args(args), accumulated(accumulated) {
  const Said now = std::exchange(anything_said, false) ? std::exchange(said, Said()) : Said();
  count = now.arguments;
  if (!meets || now.way == AccumulateTogether || omp_get_max_threads() == 1 || omp_in_parallel())
    return;
  way = now.way;
  largest = LargestApart;
  if (isInARow(launch)) {
    largest = LargestInARow;
    most_elements = uint64_t(launch->grid[0]) * launch->block[0] / (FewestThreads * uint64_t(omp_get_max_threads()));
  }
  for (const adgen_shadow &shadow : now.shadows)
    if (shadow.argument < 64 && accumulated >> shadow.argument & 1 &&
        add({*static_cast<char **>(args[shadow.argument]), shadow.bytes, shadow.element}, false))
      with_copies |= uint64_t(1) << shadow.argument;
  for (const adgen_memory &shadow : now.others)
    add(shadow, true);
  one_thread = now.way == AccumulateInOrder && !apart();
  if (!launch)
    running = this;
}

bool Accumulation::add(const adgen_memory &shadow, bool after_forks) {
  if (way == AccumulateByCost && (shadow.bytes > largest || shadow.bytes / shadow.element > most_elements))
    return false;
  auto copies = std::make_unique<Copies>(shadow.start, shadow.bytes, shadow.element, after_forks,
                                         uint32_t(omp_get_max_threads()));
  if (!copies->areThere())
    return false;
  const std::unique_lock lock(registry);
  known.push_back(copies.get());
  shadows.push_back(std::move(copies));
  return true;
}

Accumulation *Accumulation::current() { return running; }

// Memory that is described once more was given back by a way that nobody has seen.
void Accumulation::describe(char *shadow, uint64_t bytes, uint32_t element) {
  if (bytes < element)
    return;
  forgetAll([&](const Copies &copies) { return copies.overlaps(shadow, bytes); });
  add({shadow, bytes, element}, true);
}

void Accumulation::forget(const char *shadow) {
  forgetAll([&](const Copies &copies) { return copies.shadow == shadow; });
}

template <class Is> void Accumulation::forgetAll(const Is &is) {
  const std::unique_lock lock(registry);
  const auto end =
      std::stable_partition(shadows.begin(), shadows.end(), [&](const auto &copies) { return !is(*copies); });
  for (auto copies = end; copies != shadows.end(); ++copies)
    known.erase(std::find(known.begin(), known.end(), copies->get()));
  shadows.erase(end, shadows.end());
}

void Accumulation::addUpAfterFork() {
  std::vector<Copies *> used;
  for (const auto &copies : shadows)
    if (copies->after_forks && copies->areUsed())
      used.push_back(copies.get());
  Copies::addUp(used);
}

Accumulation::~Accumulation() {
  if (running == this)
    running = nullptr;
  if (shadows.empty())
    return;
  std::vector<Copies *> all;
  {
    const std::unique_lock lock(registry);
    for (const auto &copies : shadows) {
      known.erase(std::find(known.begin(), known.end(), copies.get()));
      all.push_back(copies.get());
    }
  }
  Copies::addUp(all);
}

void *const *Accumulation::argumentsOf(std::vector<void *> &own, std::vector<void *> &pointers) {
  const uint32_t thread = number();
  if (shadows.empty() || thread == 0) // one may add to the shadows themselves
    return args;
  own.assign(args, args + count);
  pointers.reserve(count);
  for (uint32_t i = 0; i < count && i < 64; ++i)
    for (const auto &copies : shadows)
      if (with_copies >> i & 1 && *static_cast<char **>(args[i]) == copies->shadow) {
        pointers.push_back(copies->of(thread));
        own[i] = &pointers.back();
      }
  return own.data();
}

// Says of the next gradient that this thread calls how many arguments it has, and how threads are to accumulate into
// these shadows.
extern "C" __attribute__((visibility("default"))) void
adgen_accumulate(uint32_t arguments, uint32_t way, uint32_t shadows, const adgen_shadow *described) {
  said = {arguments, way, {described, described + shadows}, {}};
  Accumulation::anything_said = true;
}

// Says further, if it is a C++ function, which other shadows may have copies.
extern "C" __attribute__((visibility("default"))) void adgen_accumulate_memory(uint32_t shadows,
                                                                               const adgen_memory *described) {
  said.others.assign(described, described + shadows);
  Accumulation::anything_said = true;
}

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// Where this thread is to accumulate what is meant for `shadow`: its own copy, or the shadow itself. `untouched` says
// that until the end of the fork nothing else happens to the shadow.
HIDDEN char *adgen_own_shadow(char *shadow, uint32_t untouched) {
  const std::shared_lock lock(registry);
  for (Copies *copies : known)
    if (copies->holds(shadow) && (!copies->after_forks || (untouched && omp_get_level() == 1)))
      return copies->of(number()) + (shadow - copies->shadow);
  return shadow;
}

// Whether a pointer leads to other memory than that of a shadow that has copies.
HIDDEN uint32_t adgen_omp_is_elsewhere(const char *pointer, const char *shadow) {
  const std::shared_lock lock(registry);
  const auto copies = std::find_if(known.begin(), known.end(), [&](Copies *each) { return each->holds(shadow); });
  return copies != known.end() && !(*copies)->mayLeadTo(pointer);
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
