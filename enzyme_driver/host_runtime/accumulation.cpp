#include "accumulation.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <omp.h>
#include <shared_mutex>
#include <utility>

namespace {

constexpr uint64_t LargestApart = 4 << 20; // bytes of a shadow that has copies where the cost decides (docs/performance.md)
constexpr uint64_t Line = 128;             // bytes that processors fetch together

struct Said {
  uint32_t arguments = 0;
  uint32_t way = AccumulateByCost;
  std::vector<adgen_shadow> shadows;
};
thread_local Said said; // of the next gradient that this thread calls

// The number of this thread in the only team of several that it is in (adgen_omp_team allows no teams in teams).
uint32_t number() {
  int sum = 0;
  for (int level = 1; level <= omp_get_level(); ++level)
    sum += omp_get_ancestor_thread_num(level);
  return uint32_t(sum);
}

template <class Number> void add(char *to, const char *from, uint64_t first, uint64_t last) {
  auto *sum = reinterpret_cast<Number *>(to);
  auto *part = reinterpret_cast<const Number *>(from);
  for (uint64_t i = first; i < last; ++i)
    if (part[i] != 0) // what lies between the numbers of a struct stays as it is
      sum[i] += part[i];
}

} // namespace

// A copy for each thread, which the thread itself sets to zero.
struct Accumulation::Copies {
  char *shadow;
  uint64_t bytes;
  uint32_t element;
  uint64_t stride;
  std::vector<char> used;
  char *memory;

  Copies(char *shadow, const adgen_shadow &described, uint32_t threads)
      : shadow(shadow), bytes(described.bytes), element(described.element), stride((bytes + Line - 1) / Line * Line), used(threads * Line),
        memory(static_cast<char *>(std::aligned_alloc(Line, std::max(Line, stride * threads)))) {}
  ~Copies() { std::free(memory); }
  Copies(const Copies &) = delete;

  bool holds(const char *address) const { return shadow <= address && address < shadow + bytes; }

  char *ofThisThread() {
    const uint32_t thread = number();
    if (thread * Line >= used.size())
      return shadow;
    if (!std::exchange(used[thread * Line], 1))
      std::memset(memory + thread * stride, 0, bytes);
    return memory + thread * stride;
  }

  // Element by element in the order of the threads: the same bits each time.
  void addUp() {
    constexpr int64_t Piece = 4096;
    const int64_t numbers = int64_t(bytes / element), pieces = (numbers + Piece - 1) / Piece;
#pragma omp parallel for schedule(static) if (numbers > 64 * Piece)
    for (int64_t i = 0; i < pieces; ++i)
      for (uint64_t thread = 0; thread * Line < used.size(); ++thread)
        if (used[thread * Line]) {
          const uint64_t first = uint64_t(i * Piece), last = uint64_t(std::min(numbers, (i + 1) * Piece));
          const char *copy = memory + thread * stride;
          element == 4 ? add<float>(shadow, copy, first, last) : add<double>(shadow, copy, first, last);
        }
  }
};

namespace {

std::shared_mutex registry;
std::vector<Accumulation::Copies *> known; // of all gradients that run now

} // namespace

Accumulation::Accumulation(void *const *args, uint64_t accumulated) : args(args), accumulated(accumulated) {
  const Said now = std::exchange(said, Said());
  count = now.arguments;
  if (now.way == AccumulateTogether || omp_get_max_threads() == 1 || omp_in_parallel())
    return;
  const std::unique_lock lock(registry);
  for (const adgen_shadow &shadow : now.shadows) {
    if (shadow.argument >= 64 || (now.way == AccumulateByCost && shadow.bytes > LargestApart))
      continue;
    auto *address = *static_cast<char **>(args[shadow.argument]);
    auto copies = std::make_unique<Copies>(address, shadow, uint32_t(omp_get_max_threads()));
    if (!copies->memory)
      continue;
    known.push_back(copies.get());
    shadows.push_back(std::move(copies));
    with_copies |= uint64_t(1) << shadow.argument;
  }
  one_thread = now.way == AccumulateInOrder && !apart();
}

Accumulation::~Accumulation() {
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
  said = {arguments, way, {described, described + shadows}};
}

// Where this thread is to accumulate what is meant for `shadow`: its own copy, or the shadow itself.
extern "C" __attribute__((visibility("hidden"))) char *adgen_own_shadow(char *shadow) {
  const std::shared_lock lock(registry);
  for (Accumulation::Copies *copies : known)
    if (copies->holds(shadow))
      return copies->ofThisThread() + (shadow - copies->shadow);
  return shadow;
}
