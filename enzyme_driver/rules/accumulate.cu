// Additions of a warp's lanes into elements that lanes have in common (passes/Accumulate/WarpAggregateAtomics.cpp). Each
// lane has `Count` elements and what it adds to each. Lanes of one group that are `alike` have the same elements;
// `active` are the lanes that are here, of which those are a part.
//
// Where the whole warp is here, its lanes halve what they have in each step: a lane keeps one half of the elements and gives its partner the
// other; where no other warp adds to these elements (`alone`), they are then added plainly. Else, each group's values run along its active lanes to the first of them.
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE __attribute__((device, always_inline))

constexpr unsigned Everyone = 0xffffffff;
constexpr int WarpSize = 32;

static DEVICE int fromLane(unsigned active, int value, int lane) { return __nvvm_shfl_sync_idx_i32(active, value, lane, 31); }
static DEVICE int fromPartner(int value, int offset) { return __nvvm_shfl_sync_bfly_i32(Everyone, value, offset, 31); }

// By words of integers: others would go through memory.
template <class Move> static DEVICE float inWords(float value, Move move) {
  return __builtin_bit_cast(float, move(__builtin_bit_cast(int, value)));
}

template <class Move> static DEVICE double inWords(double value, Move move) {
  auto bits = __builtin_bit_cast(unsigned long long, value);
  unsigned low = move(int(bits)), high = move(int(bits >> 32));
  return __builtin_bit_cast(double, (unsigned long long)high << 32 | low);
}

template <class T> static DEVICE T fromLane(unsigned active, T value, int lane) {
  return inWords(value, [=](int word) { return fromLane(active, word, lane); });
}

template <class T> static DEVICE T fromPartner(T value, int offset) {
  return inWords(value, [=](int word) { return fromPartner(word, offset); });
}

// Of values: a choice between places would keep them in memory.
template <class T> static DEVICE T choose(bool which, T yes, T no) { return which ? +yes : +no; }

static DEVICE int laneIndex() { return __nvvm_read_ptx_sreg_laneid(); }

// Lanes with the same elements: those of a warp; those in one row of the block, of which a warp has several where a power of two divides
// the width; those in one column, where the width is such a power.
struct Warp {
  static constexpr bool InSharedMemory = false;
  DEVICE static int lanes() { return WarpSize; }
  DEVICE static int steps() { return 5; }
  DEVICE static int offset(int step) { return 1 << step; }
  DEVICE static unsigned group(int) { return Everyone; }
};

struct Row {
  static constexpr bool InSharedMemory = false;
  DEVICE static int lanes() {
    int width = __nvvm_read_ptx_sreg_ntid_x(), power = width & -width;
    return power < WarpSize ? power : WarpSize;
  }
  DEVICE static int steps() { return 31 - __builtin_clz(lanes()); }
  DEVICE static int offset(int step) { return 1 << step; }
  DEVICE static unsigned group(int lane) {
    int count = lanes();
    return (Everyone >> (WarpSize - count)) << (lane & -count);
  }
};

struct Column {
  static constexpr bool InSharedMemory = true;
  DEVICE static int width() {
    int width = __nvvm_read_ptx_sreg_ntid_x();
    return width < WarpSize && (width & (width - 1)) == 0 ? width : WarpSize;
  }
  DEVICE static int steps() { return __builtin_clz(width()) - 26; }
  DEVICE static int offset(int step) { return 16 >> step; }
  DEVICE static unsigned group(int lane) {
    unsigned lanes = 1;
    for (int next = width(); next < WarpSize; next *= 2)
      lanes |= lanes << next;
    return lanes << (lane & (width() - 1));
  }
};

// Lanes side by side whose index in the block divided by their number is the same.
template <int Lanes> struct Aligned {
  static constexpr bool InSharedMemory = true;
  DEVICE static int steps() { return 31 - __builtin_clz(Lanes); }
  DEVICE static int offset(int step) { return 1 << step; }
  DEVICE static unsigned group(int lane) { return (Everyone >> (WarpSize - Lanes)) << (lane & -Lanes); }
};

// Whether the whole warp is here, and each group is alike.
template <class Group> struct Whole {
  DEVICE static bool is(unsigned, unsigned alike) { return alike == Everyone; } // then so it is for all lanes
};
template <int Lanes> struct Whole<Aligned<Lanes>> {
  DEVICE static bool is(unsigned active, unsigned alike) {
    unsigned group = Aligned<Lanes>::group(laneIndex());
    return __nvvm_vote_all_sync(active, active == Everyone && (alike & group) == group);
  }
};

// What is left of the elements after some steps.
template <int Count, class T> struct Part {
  T *element[Count];
  T value[Count];
  bool mine[Count];

  DEVICE void add() {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (mine[i])
        __atomic_fetch_add(element[i], value[i], __ATOMIC_RELAXED);
  }

  // Where nobody else adds to them.
  DEVICE void addAlone() {
    __nvvm_bar_warp_sync(Everyone);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      if (mine[i])
        *element[i] += value[i];
    __nvvm_bar_warp_sync(Everyone);
  }

  // By so many places, all the elements: without an index that a register cannot have.
  DEVICE void rotate(int places) {
#pragma unroll
    for (int bit = 1; bit < Count; bit *= 2) {
      Part before = *this;
      bool moves = places & bit;
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        int from = (i + bit) % Count;
        element[i] = choose(moves, before.element[from], before.element[i]);
        value[i] = choose(moves, before.value[from], before.value[i]);
        mine[i] = moves ? bool(before.mine[from]) : bool(before.mine[i]);
      }
    }
  }
};

// Elements that lie a multiple of all banks' bytes apart are in one bank of shared memory. Lanes with such elements begin at different ones
// of theirs, as an addition is tried again by all lanes but one of those that meet in a bank.
template <int Count, class T> static DEVICE void addInOtherBanks(Part<Count, T> &all) {
  constexpr int BanksBytes = 128;
  if constexpr ((Count & (Count - 1)) == 0)
    all.rotate(int((unsigned long long)(all.element[0]) / BanksBytes));
  all.add();
}

template <class Group, int Step, int Count, class T> static DEVICE void halve(Part<Count, T> &all, bool alone) {
  if (Step == Group::steps()) {
    if (alone)
      return all.addAlone();
    return Group::InSharedMemory ? addInOtherBanks(all) : all.add();
  }
  if constexpr (Step < 5) {
    constexpr int Half = (Count + 1) / 2;
    int offset = Group::offset(Step);
    bool upper = laneIndex() & offset;
    Part<Half, T> kept;
#pragma unroll
    for (int i = 0; i < Half; ++i) {
      T low = all.value[i];
      kept.element[i] = all.element[i];
      if (i + Half >= Count) { // without a counterpart: the lower lane takes it
        kept.value[i] = low + fromPartner(low, offset);
        kept.mine[i] = all.mine[i] && !upper;
        continue;
      }
      T high = all.value[i + Half];
      kept.value[i] = choose(upper, high, low) + fromPartner(choose(upper, low, high), offset);
      kept.element[i] = choose(upper, all.element[i + Half], all.element[i]);
      kept.mine[i] = upper ? bool(all.mine[i + Half]) : bool(all.mine[i]);
    }
    halve<Group, Step + 1>(kept, alone);
  }
}

template <int Count, class T> static DEVICE void gather(unsigned active, unsigned group, Part<Count, T> &all) {
  int lane = laneIndex();
  unsigned here = group & active, behind = here & (Everyone << lane << 1);
  int next = behind ? __builtin_ctz(behind) : lane;
  bool first = lane == __builtin_ctz(here);
  while (__nvvm_vote_any_sync(active, next != lane)) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      T value = fromLane(active, all.value[i], next);
      all.value[i] += next != lane ? value : T(0);
    }
    int further = fromLane(active, next, next);
    next = further == next ? lane : further;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    all.mine[i] &= first;
  all.add();
}

template <class Group, int Count, class T>
static DEVICE void add(T *const *elements, const T *values, unsigned active, unsigned alike, bool alone) {
  Part<Count, T> all;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    all.element[i] = elements[i];
    all.value[i] = values[i];
    all.mine[i] = true;
  }
  if (Whole<Group>::is(active, alike))
    return halve<Group, 0>(all, alone);
  gather(active, Group::group(laneIndex()) & alike, all);
}

// The active lanes that have the same value as this one; where not all have it, none but itself unless `parts` are
// wanted.
RULE unsigned adgen_alike(unsigned active, long long value, bool parts) {
  int same;
  __nvvm_match_all_sync_i64p(active, value, &same);
  if (same)
    return active;
  return parts ? __nvvm_match_any_sync_i64(active, value) : 1u << laneIndex();
}

// The same in the columns of a block; where its width leaves a lane alone in its column, nobody has to be asked.
RULE unsigned adgen_alike_in_column(unsigned active, long long value) {
  return Column::steps() == 0 ? Everyone : adgen_alike(active, value, true);
}

// The same for a value that neighbouring lanes, so many, mostly have in common: asked without a search among all values.
RULE unsigned adgen_alike_by(unsigned active, long long value, int lanes) {
  int first = laneIndex() & -lanes;
  if (active == Everyone) {
    bool low = fromLane(active, int(value), first) == int(value);
    bool high = fromLane(active, int(value >> 32), first) == int(value >> 32);
    if (__nvvm_vote_all_sync(active, low && high))
      return (Everyone >> (WarpSize - lanes)) << first;
  }
  return __nvvm_match_any_sync_i64(active, value);
}

// Whether every eighth of the active lanes, or more, has the value of the next one: else it does not pay to search for those that have one
// in common. It is no more than a guess.
RULE bool adgen_meet_by_chance(unsigned active, long long value) {
  bool same = fromLane(active, int(value), laneIndex() + 1 & 31) == int(value);
  return __builtin_popcount(__nvvm_vote_ballot_sync(active, same)) * 8 >= __builtin_popcount(active);
}

// The active lanes that have the same value as this one; nothing where there are too many values.
RULE unsigned adgen_alike_by_chance(unsigned active, long long value) {
  unsigned alike = __nvvm_match_any_sync_i64(active, value);
  unsigned firsts = __nvvm_vote_ballot_sync(active, (alike & ~(Everyone << laneIndex())) == 0);
  return __builtin_popcount(firsts) * 4 > __builtin_popcount(active) ? 0 : alike;
}

// The largest of the active lanes' numbers, which are at least -1 (passes/Accumulate/AlignLanes.cpp).
RULE long long adgen_most(unsigned active, long long value) {
  long long most = -1;
  for (;;) {
    unsigned more = __nvvm_vote_ballot_sync(active, value > most);
    if (!more)
      return most;
    int lane = __builtin_ctz(more);
    unsigned low = fromLane(active, int(value), lane), high = fromLane(active, int(value >> 32), lane);
    most = (long long)((unsigned long long)high << 32 | low);
  }
}

// The own value of the lanes that add; the first of them lends the others its own.
RULE long long adgen_lent(unsigned active, unsigned adding, long long value) {
  int lender = __builtin_ctz(adding);
  unsigned low = fromLane(active, int(value), lender), high = fromLane(active, int(value >> 32), lender);
  return adding >> laneIndex() & 1 ? value : (long long)((unsigned long long)high << 32 | low);
}

// The first lane that adds lends all of them its value.
RULE long long adgen_lent_to_all(unsigned active, unsigned adding, long long value) {
  int lender = __builtin_ctz(adding);
  unsigned low = fromLane(active, int(value), lender), high = fromLane(active, int(value >> 32), lender);
  return (long long)((unsigned long long)high << 32 | low);
}

// Behind which of the active lanes comes one with the next element.
RULE unsigned adgen_beside(unsigned active, const char *element, long long bytes) {
  int lane = laneIndex(), behind = lane + (active >> lane >> 1 & 1); // itself where none is
  auto own = reinterpret_cast<unsigned long long>(element);
  unsigned low = fromLane(active, int(own), behind), high = fromLane(active, int(own >> 32), behind);
  return __nvvm_vote_ballot_sync(active, ((unsigned long long)high << 32 | low) == own + bytes);
}

// Whether all elements from a lane's own to that so many lanes further lie side by side.
static DEVICE bool leads(unsigned beside, int from, int distance) {
  unsigned all = (1u << distance) - 1;
  return from >= 0 && (beside >> from & all) == all;
}

// A lane adds to the element of the lane that is `distance` further, or comes before where that is negative: it is handed the value. Returns
// what this lane is handed.
template <class T> static DEVICE T handOn(unsigned active, unsigned beside, int distance, T *element, T value) {
  int lane = laneIndex(), steps = distance < 0 ? -distance : distance;
  bool ahead = leads(beside, lane, steps), behind = leads(beside, lane - steps, steps);
  bool gives = distance > 0 ? ahead : behind, takes = distance > 0 ? behind : ahead;
  T other = fromLane(active, value, takes ? lane - distance : lane);
  if (!gives)
    __atomic_fetch_add(element, value, __ATOMIC_RELAXED);
  return takes ? +other : T(0);
}

#define HAND_ON(SUFFIX, T)                                                                                             \
  RULE T adgen_hand_on_##SUFFIX(unsigned active, unsigned beside, int distance, T *element, T value) {                \
    return handOn(active, beside, distance, element, value);                                                          \
  }
HAND_ON(f32, float)
HAND_ON(f64, double)

#define ADD(NAME, GROUP, SUFFIX, T, COUNT)                                                                            \
  RULE void adgen_add_##NAME##_##SUFFIX##_##COUNT(T *const *elements, const T *values, unsigned active,               \
                                                  unsigned alike, bool alone) {                                       \
    add<GROUP, COUNT>(elements, values, active, alike, alone);                                                        \
  }
#define ADD_TYPES(NAME, GROUP, COUNT)                                                                                 \
  ADD(NAME, GROUP, f32, float, COUNT)                                                                                 \
  ADD(NAME, GROUP, f64, double, COUNT)
#define ADD_GROUPS(COUNT)                                                                                             \
  ADD_TYPES(warp, Warp, COUNT)                                                                                        \
  ADD_TYPES(row, Row, COUNT)                                                                                          \
  ADD_TYPES(column, Column, COUNT)                                                                                     \
  ADD_TYPES(half, Aligned<16>, COUNT)                                                                                  \
  ADD_TYPES(quarter, Aligned<8>, COUNT)

ADD_GROUPS(1)
ADD_GROUPS(2)
ADD_GROUPS(3)
ADD_GROUPS(4)
ADD_GROUPS(5)
ADD_GROUPS(6)
ADD_GROUPS(7)
ADD_GROUPS(8)
ADD_GROUPS(9)
ADD_GROUPS(16)
