// Runs the rules of accumulations on the host: 32 threads are the lanes of a warp, and what lanes do together is done with a barrier.
// Every group of lanes, number of elements, set of active lanes and width of the block is tried; prints what is wrong.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

static unsigned width, here;
static thread_local unsigned lane;
static std::unique_ptr<std::barrier<>> together;
static long long slots[32];
static std::atomic<int> additions;

static long long exchange(unsigned active, long long value, unsigned from) {
  if (active != here || !(active >> from & 1))
    std::printf("lane %u asks lane %u of %x, but %x are here\n", lane, from, active, here), std::exit(1);
  slots[lane] = value;
  together->arrive_and_wait();
  long long received = slots[from];
  together->arrive_and_wait();
  return received;
}

static int __nvvm_shfl_sync_idx_i32(unsigned active, int value, int from, int) { return exchange(active, value, from); }
static int __nvvm_shfl_sync_bfly_i32(unsigned active, int value, int offset, int) { return exchange(active, value, lane ^ offset); }
static int __nvvm_read_ptx_sreg_laneid() { return lane; }
static int __nvvm_read_ptx_sreg_ntid_x() { return width; }

template <class Test> static bool all(unsigned active, long long value, Test test) {
  bool result = true;
  for (unsigned other = 0; other < 32; ++other)
    if (active >> other & 1)
      result &= test(exchange(active, value, other));
  return result;
}

static bool __nvvm_vote_any_sync(unsigned active, bool value) {
  return !all(active, value, [](long long other) { return !other; });
}

static void __nvvm_match_all_sync_i64p(unsigned active, long long value, int *same) {
  *same = all(active, value, [=](long long other) { return other == value; });
}

template <class T> static void counted(T *element, T value) {
  ++additions;
  std::atomic_ref<T>(*element) += value;
}
#define __atomic_fetch_add(element, value, order) counted(element, value)
#include RULES

// Which elements a lane has: lanes with the same number share them.
static unsigned groupOf(char kind, unsigned lane) {
  unsigned linear = lane + 32; // the second warp of the block
  return kind == 'w' ? 0 : kind == 'r' ? linear / width : linear % width;
}

template <class Body> static void warp(Body body) {
  together = std::make_unique<std::barrier<>>(__builtin_popcount(here));
  std::vector<std::thread> lanes;
  for (unsigned i = 0; i < 32; ++i)
    if (here >> i & 1)
      lanes.emplace_back([=] { lane = i, body(); });
  for (std::thread &thread : lanes)
    thread.join();
}

// `common` is false where the lanes' elements were found to differ: then each adds for itself.
template <class T, int Count, class Add> static void check(char kind, Add add, bool common) {
  std::map<unsigned, std::vector<T>> elements, wanted;
  std::vector<std::vector<T>> values(32, std::vector<T>(Count));
  std::minstd_rand random(width * 977 + here);
  std::set<unsigned> groups;
  for (unsigned i = 0; i < 32; ++i) {
    unsigned group = groupOf(kind, i);
    elements[group].resize(Count), wanted[group].resize(Count);
    for (int k = 0; k < Count; ++k)
      values[i][k] = T(int(random() % 1000)) / 8;
    for (int k = 0; k < Count && here >> i & 1; ++k)
      wanted[group][k] += values[i][k];
    if (here >> i & 1)
      groups.insert(group);
  }
  additions = 0;
  warp([&] {
    std::vector<T *> at(Count);
    for (int k = 0; k < Count; ++k)
      at[k] = &elements[groupOf(kind, lane)][k];
    add(at.data(), values[lane].data(), here, common);
  });
  int lanes = __builtin_popcount(here);
  bool power = width < 32 && !(width & (width - 1));
  bool merged = common && (kind == 'w' || (kind == 'r' && width % 32 == 0) || power);
  int most = Count * (merged ? int(groups.size()) : lanes);
  if (elements != wanted || additions > most)
    std::printf("%c: %d elements of %zu bytes, width %u, lanes %x, common %d: %s, %d additions of at most %d\n", kind, Count, sizeof(T),
                width, here, common, elements == wanted ? "right" : "wrong", int(additions), most);
}

template <class T, int Count, class Warp, class Row, class Column> static void each(Warp warp, Row row, Column column) {
  for (unsigned lanes : {0xffffffffu, 0x000fffffu, 0x80000000u, 0xa5930f61u})
    for (unsigned columns : {64u, 32u, 16u, 4u, 1u, 12u, 33u}) {
      width = columns, here = lanes;
      check<T, Count>('w', warp, true);
      check<T, Count>('r', row, true);
      check<T, Count>('c', column, true);
    }
  width = 16, here = 0xffffffff;
  check<T, Count>('w', warp, false);
  here = 0x0ff0;
  check<T, Count>('r', row, false);
}

#define EACH(T, SUFFIX, COUNT)                                                                                        \
  each<T, COUNT>(adgen_add_warp_##SUFFIX##_##COUNT, adgen_add_row_##SUFFIX##_##COUNT, adgen_add_column_##SUFFIX##_##COUNT)

int main() {
  EACH(float, f32, 1);
  EACH(float, f32, 2);
  EACH(double, f64, 3);
  EACH(float, f32, 4);
  EACH(double, f64, 8);
  EACH(float, f32, 16);
  here = 0xffff;
  warp([] {
    if (!adgen_common(here, 1ll << 40) || adgen_common(here, lane))
      std::printf("lanes are not compared\n");
  });
}
