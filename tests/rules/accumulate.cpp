// Runs the rules of accumulations on the lanes of a warp on the host. Every group of lanes, number of elements, set of
// active lanes and width of the block is tried; prints what is wrong.
#include "warp.h"

#include <map>
#include <random>
#include <set>

static unsigned width;
static int additions;

static int __nvvm_shfl_sync_idx_i32(unsigned active, int value, int from, int) { return exchange(active, value, from); }
static int __nvvm_shfl_sync_bfly_i32(unsigned active, int value, int offset, int) { return exchange(active, value, lane ^ offset); }
static void __nvvm_bar_warp_sync(unsigned) { meet(); }
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

static bool __nvvm_vote_all_sync(unsigned active, bool value) {
  return all(active, value, [](long long other) { return other; });
}

static unsigned __nvvm_vote_ballot_sync(unsigned active, bool value) {
  unsigned ayes = 0, other = 0;
  all(active, value, [&](long long says) {
    while (!(active >> other & 1))
      ++other;
    return ayes |= unsigned(says) << other++, true;
  });
  return ayes;
}

static void __nvvm_match_all_sync_i64p(unsigned active, long long value, int *same) {
  *same = all(active, value, [=](long long other) { return other == value; });
}

static unsigned __nvvm_match_any_sync_i64(unsigned active, long long value) {
  unsigned alike = 0, other = 0;
  all(active, value, [&](long long says) {
    while (!(active >> other & 1))
      ++other;
    return alike |= unsigned(says == value) << other++, true;
  });
  return alike;
}

template <class T> static void counted(T *element, T value) {
  ++additions;
  *element += value;
}
#define __atomic_fetch_add(element, value, order) counted(element, value)
#include RULES

// Which elements a lane has: lanes with the same number share them.
static unsigned groupOf(char kind, unsigned lane) {
  unsigned linear = lane + 32; // the second warp of the block
  if (kind == 'h' || kind == 'q')
    return linear / (kind == 'h' ? 16 : 8);
  return kind == 'w' ? 0 : kind == 'r' ? linear / width : linear % width;
}

// Lanes are alike whose number leaves the same remainder by `kinds`. `alone` says that no other warp adds to them.
template <class T, int Count, class Add> static void check(char kind, Add add, unsigned kinds, bool alone = false) {
  using Key = std::pair<unsigned, unsigned>;
  auto keyOf = [=](unsigned lane) { return Key(groupOf(kind, lane), lane % kinds); };
  std::map<Key, std::vector<T>> elements, wanted;
  std::vector<std::vector<T>> values(32, std::vector<T>(Count));
  std::minstd_rand random(width * 977 + here);
  std::set<Key> groups;
  for (unsigned i = 0; i < 32; ++i) {
    elements[keyOf(i)].resize(Count), wanted[keyOf(i)].resize(Count);
    for (int k = 0; k < Count; ++k)
      values[i][k] = T(int(random() % 1000)) / 8;
    for (int k = 0; k < Count && here >> i & 1; ++k)
      wanted[keyOf(i)][k] += values[i][k];
    if (here >> i & 1)
      groups.insert(keyOf(i));
  }
  additions = 0;
  warp([&] {
    std::vector<T *> at(Count);
    for (int k = 0; k < Count; ++k)
      at[k] = &elements[keyOf(lane)][k];
    unsigned alike = 0;
    for (unsigned other = lane % kinds; other < 32; other += kinds)
      alike |= here & 1u << other;
    add(at.data(), values[lane].data(), here, alike, alone);
  });
  int lanes = __builtin_popcount(here);
  bool power = width < 32 && !(width & (width - 1));
  bool merged = kind == 'w' || kind == 'h' || kind == 'q' || (kind == 'r' && width % 32 == 0) || power;
  int most = alone && lanes == 32 ? 0 : Count * (merged ? int(groups.size()) : lanes);
  if (elements != wanted || additions > most)
    std::printf("%c: %d elements of %zu bytes, width %u, lanes %x, kinds %u: %s, %d additions of at most %d\n", kind, Count, sizeof(T),
                width, here, kinds, elements == wanted ? "right" : "wrong", additions, most);
}

template <class T, int Count, class Warp, class Row, class Column, class Half, class Quarter>
static void each(Warp warp, Row row, Column column, Half half, Quarter quarter) {
  for (unsigned lanes : {0xffffffffu, 0x000fffffu, 0x80000000u, 0xa5930f61u})
    for (unsigned columns : {64u, 32u, 16u, 4u, 1u, 12u, 33u})
      for (unsigned kinds : {1u, 3u, 32u}) {
        width = columns, here = lanes;
        check<T, Count>('w', warp, kinds);
        check<T, Count>('r', row, kinds);
        check<T, Count>('c', column, kinds);
        check<T, Count>('h', half, kinds);
        check<T, Count>('q', quarter, kinds);
        if (kinds == 1 && columns <= 32 && !(columns & (columns - 1))) // rows, each in one warp
          check<T, Count>('r', row, kinds, true);
      }
}

constexpr int Margin = 4, RowLength = 64;

// Rows of the block have elements side by side, and room around them.
static int placeOf(unsigned lane) { return lane / width * (RowLength + 2 * Margin) + Margin + lane % width; }

static bool isThere(int lane, unsigned row) { return lane >= 0 && lane < 32 && here >> lane & 1 && lane / width == row; }

// Whether all lanes from one to that at this distance are there, in one row.
static bool reaches(int lane, int distance) {
  bool all = true;
  for (int step = 0; step <= std::abs(distance); ++step)
    all &= isThere(distance < 0 ? lane - step : lane + step, lane / width);
  return all;
}

template <class T, class HandOn> static void checkRow(HandOn handOn, int distance) {
  std::vector<T> elements(33 * (RowLength + 2 * Margin)), wanted(elements);
  int alone = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (here >> i & 1)
      wanted[placeOf(i) + distance] += T(i + 1), alone += !reaches(i, distance);
  additions = 0;
  warp([&] {
    T *own = &elements[placeOf(lane)];
    unsigned beside = adgen_beside(here, reinterpret_cast<const char *>(own), sizeof(T));
    T handed = handOn(here, beside, distance, own + distance, T(lane + 1));
    *own += handed;
  });
  if (elements != wanted || additions != alone)
    std::printf("at distance %d, width %u, lanes %x: %s, %d additions and not %d\n", distance, width, here,
                elements == wanted ? "right" : "wrong", additions, alone);
}

template <class T, class HandOn> static void eachRow(HandOn handOn) {
  for (unsigned lanes : {0xffffffffu, 0x000fffffu, 0x80000000u, 0xa5930f61u})
    for (unsigned columns : {64u, 16u, 5u, 1u})
      for (int distance : {-4, -2, -1, 1, 2, 3}) {
        width = columns, here = lanes;
        checkRow<T>(handOn, distance);
      }
}

#define EACH(T, SUFFIX, COUNT)                                                                                        \
  each<T, COUNT>(adgen_add_warp_##SUFFIX##_##COUNT, adgen_add_row_##SUFFIX##_##COUNT,                                  \
                 adgen_add_column_##SUFFIX##_##COUNT, adgen_add_half_##SUFFIX##_##COUNT,                               \
                 adgen_add_quarter_##SUFFIX##_##COUNT)

int main() {
  EACH(float, f32, 1);
  EACH(float, f32, 2);
  EACH(double, f64, 3);
  EACH(float, f32, 4);
  EACH(double, f64, 5);
  EACH(float, f32, 6);
  EACH(double, f64, 7);
  EACH(double, f64, 8);
  EACH(float, f32, 9);
  EACH(float, f32, 16);
  eachRow<float>(adgen_hand_on_f32);
  eachRow<double>(adgen_hand_on_f64);
  here = 0xffff;
  warp([] {
    unsigned even = 0x5555 << lane % 2;
    if (adgen_alike(here, 1ll << 40, true) != here || adgen_alike(here, lane, false) != 1u << lane ||
        adgen_alike(here, lane % 2, true) != even)
      std::printf("lanes are not compared\n");
    if (adgen_alike_by(here, lane % 2, 16) != even || adgen_alike_by(here, 1ll << 40, 16) != here)
      std::printf("neighbours that are not all here are not compared\n");
  });
  warp([] {
    long long big = 1ll << 40, less = (long long)lane - 1, own = lane % 5 == 2 ? big + lane : less;
    if (adgen_most(here, less) != 14 || adgen_most(here, -1) != -1 || adgen_most(here, own) != big + 12)
      std::printf("the largest number is not found\n");
    unsigned adding = 0x8410;
    if (adgen_lent(here, adding, big + lane) != big + (adding >> lane & 1 ? lane : 4))
      std::printf("lanes do not get what another lends\n");
  });
  here = ~0u;
  warp([] {
    unsigned even = 0x55555555u << lane % 2;
    if (adgen_alike_by(here, lane / 16 + (1ll << 40), 16) != 0xffffu << (lane & 16) ||
        adgen_alike_by(here, lane / 8, 8) != 0xffu << (lane & 24) || adgen_alike_by(here, lane % 2, 8) != even)
      std::printf("neighbours are not compared\n");
  });
  for (unsigned columns : {64u, 32u, 12u, 16u, 2u}) {
    width = columns;
    warp([] {
      bool shared = width < 32 && !(width & (width - 1)); // else no lane has another one in its column
      if (adgen_alike_in_column(here, lane % 2) != (shared ? 0x55555555u << lane % 2 : ~0u))
        std::printf("lanes of columns of width %u are not compared\n", width);
    });
  }
}
