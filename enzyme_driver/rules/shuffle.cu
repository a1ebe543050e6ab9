// Derivatives of warp shuffles. Lane i receives the value of lane source(i), so the adjoint gives lane j the sum of the
// cotangents of all lanes that received from it. Values go through memory: *out = shuffle(*in), and the derivative
// consumes *d_out and adds to *d_in. `control` is the PTX instruction's last operand (segment mask and clamp).
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE static __attribute__((device))

enum Mode { Up, Down, Butterfly, Index, One }; // One: all lanes of a segment receive from the same lane

DEVICE float shuffle(Mode mode, unsigned mask, float value, int offset, int control) {
  switch (mode) {
  case Up:
    return __nvvm_shfl_sync_up_f32(mask, value, offset, control);
  case Down:
    return __nvvm_shfl_sync_down_f32(mask, value, offset, control);
  case Butterfly:
    return __nvvm_shfl_sync_bfly_f32(mask, value, offset, control);
  default:
    return __nvvm_shfl_sync_idx_f32(mask, value, offset, control);
  }
}

DEVICE double shuffle(Mode mode, unsigned mask, double value, int offset, int control) {
  float halves[2];
  __builtin_memcpy(halves, &value, sizeof(value));
  for (int i = 0; i < 2; ++i)
    halves[i] = shuffle(mode, mask, halves[i], offset, control);
  __builtin_memcpy(&value, halves, sizeof(value));
  return value;
}

typedef _Float16 Halves __attribute__((ext_vector_type(2)));

DEVICE Halves shuffle(Mode mode, unsigned mask, Halves value, int offset, int control) {
  float word;
  __builtin_memcpy(&word, &value, sizeof(value));
  word = shuffle(mode, mask, word, offset, control);
  __builtin_memcpy(&value, &word, sizeof(value));
  return value;
}

// The lane that `lane` receives from, as the PTX manual defines it.
DEVICE int source(Mode mode, int lane, int offset, int control) {
  int segment = control >> 8 & 31, clamp = control & 31;
  int first = lane & segment, last = first | (clamp & ~segment);
  int from = mode == Up ? lane - offset : mode == Down ? lane + offset : mode == Butterfly ? lane ^ offset
                                                                              : first | (offset & ~segment & 31);
  bool inside = mode == Up ? from >= last : from <= last;
  return inside ? from : lane;
}

// The cotangent that another lane holds; nothing where that lane does not take part.
template <class T> DEVICE T fromLane(unsigned mask, T cotangent, int lane) {
  T value = shuffle(Index, mask, cotangent, lane & 31, 31);
  return lane >= 0 && lane < 32 && (mask >> lane & 1) ? value : T(0);
}

// The sum over the lanes that take part of those that differ from the own one in the bit `width`, and may in lower bits
// but the segment's: each of them has it.
template <class T> DEVICE T fromGroupBeside(unsigned mask, T sum, int width, int segment) {
  int me = __nvvm_read_ptx_sreg_laneid();
  int first = (me ^ width) & (-width | segment);
  unsigned group = 1;
#pragma unroll
  for (int apart = 1; apart < 16; apart *= 2)
    if (apart < width && !(segment & apart))
      group |= group << apart;
  unsigned beside = mask >> first & group;
  T value = shuffle(Index, mask, sum, beside ? first + __builtin_ctz(beside) : me, 31);
  return beside ? value : T(0);
}

// What a lane sends to all of its segment comes back as the sum over the lanes of the segment that take part.
template <class T> DEVICE T fromSegment(unsigned mask, T cotangent, int offset, int segment) {
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2)
    if (!(segment & apart))
      cotangent += mask == ~0u ? shuffle(Butterfly, mask, cotangent, apart, 31)
                               : fromGroupBeside(mask, cotangent, apart, segment);
  bool sent = ((__nvvm_read_ptx_sreg_laneid() ^ offset) & ~segment & 31) == 0;
  return sent ? cotangent : T(0);
}

// All lanes that could have received from this one: two for a common offset, a segment where one lane sends to all, else every lane is asked.
template <class T> DEVICE T gathered(Mode mode, unsigned mask, T cotangent, int offset, int control) {
  if (mode == One)
    return fromSegment(mask, cotangent, offset, control >> 8 & 31);
  int me = __nvvm_read_ptx_sreg_laneid();
  int common, alike;
  __nvvm_match_all_sync_i32p(mask, offset, &common);
  __nvvm_match_all_sync_i32p(mask, control, &alike); // each lane may have a clamp of its own, as in CUB's segmented sums
  int segment = control >> 8 & 31;
  bool consecutive = (~segment & 31 & ((~segment & 31) + 1)) == 0; // lanes of a segment
  if (common && alike && mode == Index && (mask == ~0u || consecutive) && (control & 31) == 31)
    return fromSegment(mask, cotangent, offset, segment);
  T sum = source(mode, me, offset, control) == me ? cotangent : T(0);
  if (common && mode != Index) {
    int receiver = mode == Up ? me + offset : mode == Down ? me - offset : me ^ offset;
    T value = fromLane(mask, cotangent, receiver);
    int from = source(mode, receiver, offset, control);
    if (!alike)
      from = __nvvm_shfl_sync_idx_i32(mask, source(mode, me, offset, control), receiver & 31, 31);
    bool received = receiver != me && receiver >= 0 && receiver < 32 && from == me;
    return received ? sum + value : sum;
  }
  for (int lane = 0; lane < 32; ++lane) {
    T value = fromLane(mask, cotangent, lane);
    int from = __nvvm_shfl_sync_idx_i32(mask, source(mode, me, offset, control), lane, 31);
    if (lane != me && (mask >> lane & 1) && from == me)
      sum += value;
  }
  return sum;
}

#define REVERSE(NAME, MODE, T)                                                                                         \
  RULE void adgen_rule_##NAME##_reverse(T *, T *d_out, T *, T *d_in, unsigned mask, unsigned, int offset, int,         \
                                           int control, int) {                                                        \
    T cotangent = *d_out;                                                                                             \
    *d_out = 0;                                                                                                       \
    *d_in += gathered(MODE, mask, cotangent, offset, control);                                                        \
  }

#define SHUFFLE(NAME, MODE, T)                                                                                        \
  RULE void adgen_rule_##NAME(T *out, T *in, unsigned mask, int offset, int control) {                                \
    *out = shuffle(MODE, mask, *in, offset, control);                                                                 \
  }                                                                                                                   \
  RULE void adgen_rule_##NAME##_augmented(T *out, T *, T *in, T *, unsigned mask, unsigned, int offset, int,         \
                                             int control, int) {                                                      \
    *out = shuffle(MODE, mask, *in, offset, control);                                                                 \
  }                                                                                                                   \
  REVERSE(NAME, MODE, T)

// Of what has a derivative and no value that anything needs (adgen-split-moments): nothing is sent but cotangents.
#define SHUFFLE_BACK(NAME, MODE, T)                                                                                   \
  RULE void adgen_rule_##NAME(T *out, T *, unsigned, int, int) { *out = 0; }                                          \
  RULE void adgen_rule_##NAME##_augmented(T *out, T *, T *, T *, unsigned, unsigned, int, int, int, int) { *out = 0; } \
  REVERSE(NAME, MODE, T)

SHUFFLE(shfl_up_f32, Up, float)
SHUFFLE(shfl_down_f32, Down, float)
SHUFFLE(shfl_bfly_f32, Butterfly, float)
SHUFFLE(shfl_idx_f32, Index, float)
SHUFFLE(shfl_one_f32, One, float)
SHUFFLE(shfl_up_f64, Up, double)
SHUFFLE(shfl_down_f64, Down, double)
SHUFFLE(shfl_bfly_f64, Butterfly, double)
SHUFFLE(shfl_idx_f64, Index, double)
SHUFFLE(shfl_up_f16x2, Up, Halves)
SHUFFLE(shfl_down_f16x2, Down, Halves)
SHUFFLE(shfl_bfly_f16x2, Butterfly, Halves)
SHUFFLE(shfl_idx_f16x2, Index, Halves)
SHUFFLE_BACK(shfl_back_up_f32, Up, float)
SHUFFLE_BACK(shfl_back_down_f32, Down, float)
SHUFFLE_BACK(shfl_back_bfly_f32, Butterfly, float)
SHUFFLE_BACK(shfl_back_idx_f32, Index, float)
SHUFFLE_BACK(shfl_back_up_f64, Up, double)
SHUFFLE_BACK(shfl_back_down_f64, Down, double)
SHUFFLE_BACK(shfl_back_bfly_f64, Butterfly, double)
SHUFFLE_BACK(shfl_back_idx_f64, Index, double)

// On the host (adgen-host-rules) a warp adds up for each lane what others received from it at once; the mode is above the control's bits.
#define SHUFFLE_ON_HOST(NAME, MODE, T, BITS)                                                                          \
  RULE void adgen_rule_##NAME##_reverse_on_host(T *, T *d_out, T *, T *d_in, unsigned mask, unsigned, int offset, int, \
                                                int control, int) {                                                   \
    T cotangent = *d_out;                                                                                             \
    *d_out = 0;                                                                                                       \
    *d_in += adgen_together_gather_##BITS(mask, cotangent, offset, control | (MODE == One ? Index : MODE) << 16);                             \
  }

extern "C" __attribute__((device)) float adgen_together_gather_f32(unsigned mask, float cotangent, int offset, int control);
extern "C" __attribute__((device)) double adgen_together_gather_f64(unsigned mask, double cotangent, int offset, int control);

SHUFFLE_ON_HOST(shfl_up_f32, Up, float, f32)
SHUFFLE_ON_HOST(shfl_down_f32, Down, float, f32)
SHUFFLE_ON_HOST(shfl_bfly_f32, Butterfly, float, f32)
SHUFFLE_ON_HOST(shfl_idx_f32, Index, float, f32)
SHUFFLE_ON_HOST(shfl_one_f32, One, float, f32)
SHUFFLE_ON_HOST(shfl_up_f64, Up, double, f64)
SHUFFLE_ON_HOST(shfl_down_f64, Down, double, f64)
SHUFFLE_ON_HOST(shfl_bfly_f64, Butterfly, double, f64)
SHUFFLE_ON_HOST(shfl_idx_f64, Index, double, f64)
SHUFFLE_ON_HOST(shfl_back_up_f32, Up, float, f32)
SHUFFLE_ON_HOST(shfl_back_down_f32, Down, float, f32)
SHUFFLE_ON_HOST(shfl_back_bfly_f32, Butterfly, float, f32)
SHUFFLE_ON_HOST(shfl_back_idx_f32, Index, float, f32)
SHUFFLE_ON_HOST(shfl_back_up_f64, Up, double, f64)
SHUFFLE_ON_HOST(shfl_back_down_f64, Down, double, f64)
SHUFFLE_ON_HOST(shfl_back_bfly_f64, Butterfly, double, f64)
SHUFFLE_ON_HOST(shfl_back_idx_f64, Index, double, f64)
