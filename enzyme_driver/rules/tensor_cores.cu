// Products of matrices that the lanes of a warp hold in parts, as the PTX manual lays them out for mma.sync: lane 4 g + t
// has the elements (row g + 8 r, slot s of t) of A, (slot s of t, column g) of B, and (row g + 8 r, column 2 t + c) of the
// product, where a slot is one of the inner indices that the lanes of the same t share. adgen-lower-tensor-cores makes of
// wmma and mma.sync calls of
//   adgen_math_mma_SHAPE_TYPE({elements of A, elements of B})   the lane's elements of A B
// as vectors of float (of double for double): what the elements of half become a cotangent of is added up in float.
// The derivatives are computed in that precision, not in that of the factors. All lanes of the warp call them.
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage" // a struct of one member is what Enzyme takes

#define RULE extern "C" __attribute__((device, convergent))
#define DEVICE static __attribute__((device))

template <class T, int N> struct VectorOf {
  typedef T Type __attribute__((ext_vector_type(N)));
};
template <class T, int N> using Vector = typename VectorOf<T, N>::Type;

template <class T> struct Cotangents {
  T of;
};

// Rows: blocks of eight rows of A. Slots: what a lane has of a row of A, and of B. Paired: two slots are neighbours.
template <class ElementType, int RowBlocks, int SlotCount, bool Paired> struct Layout {
  using Element = ElementType;
  static constexpr int Rows = RowBlocks, Slots = SlotCount, InA = Rows * Slots, Factors = InA + Slots, Results = 2 * Rows;
  using Operands = Vector<Element, Factors>;
  using Product = Vector<Element, Results>;
  static constexpr __attribute__((device)) int inA(int r, int s) { return Paired ? s % 2 + 2 * r + 4 * (s / 2) : r + Rows * s; }
};

using Halves16 = Layout<float, 2, 4, true>;
using Halves8 = Layout<float, 2, 2, true>;
using Floats8 = Layout<float, 2, 2, false>;
using Floats4 = Layout<float, 2, 1, false>;
using Doubles4 = Layout<double, 1, 1, false>;

DEVICE int thisLane() { return __nvvm_read_ptx_sreg_laneid(); }

// What other lanes hold, asked by shuffles: all lanes ask for the same index.
DEVICE float fromLane(float x, int lane) { return __nvvm_shfl_sync_idx_f32(~0u, x, lane, 31); }
DEVICE double fromLane(double x, int lane) {
  float halves[2];
  __builtin_memcpy(halves, &x, sizeof(x));
  for (float &half : halves)
    half = fromLane(half, lane);
  __builtin_memcpy(&x, halves, sizeof(x));
  return x;
}

template <class V> struct ByShuffles {
  V own;
  __attribute__((device)) auto operator()(int lane, int index) const { return fromLane(own[index], lane); }
};

// What other lanes hold, where all of it was exchanged at once.
extern "C" __attribute__((device, convergent)) unsigned long adgen_together_collect(unsigned mask, unsigned long request,
                                                                                    int bytes, int);

template <class Element, int Count> struct Collected {
  Element all[32][Count];
  template <class V> __attribute__((device)) explicit Collected(V own) {
    Element mine[Count];
    for (int i = 0; i < Count; ++i)
      mine[i] = own[i];
    void *request[] = {mine, all};
    adgen_together_collect(~0u, reinterpret_cast<unsigned long>(request), sizeof(mine), 0);
  }
  __attribute__((device)) Element operator()(int lane, int index) const { return all[lane][index]; }
};

template <class L, class Lanes> DEVICE typename L::Product multiplied(const Lanes &left, const Lanes &right) {
  int first = thisLane() & ~3, t = thisLane() & 3;
  typename L::Product sums = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int s = 0; s < L::Slots; ++s) {
      typename L::Element beside[2] = {right(8 * t + k, L::InA + s), right(8 * t + 4 + k, L::InA + s)};
#pragma unroll
      for (int r = 0; r < L::Rows; ++r) {
        typename L::Element a = left(first + k, L::inA(r, s));
#pragma unroll
        for (int c = 0; c < 2; ++c)
          sums[2 * r + c] += a * beside[c];
      }
    }
  return sums;
}

template <class L, class Factors, class Results>
DEVICE typename L::Operands cotangents(const Factors &factors, const Results &results) {
  int lane = thisLane(), first = lane & ~3, t = lane & 3, g = lane >> 2;
  typename L::Operands sums = 0;
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int r = 0; r < L::Rows; ++r) {
      typename L::Element d = results(first + n / 2, 2 * r + n % 2);
#pragma unroll
      for (int s = 0; s < L::Slots; ++s)
        sums[L::inA(r, s)] += d * factors(4 * n + t, L::InA + s);
    }
#pragma unroll
  for (int row = 0; row < 8; ++row)
#pragma unroll
    for (int r = 0; r < L::Rows; ++r) {
      typename L::Element even = results(4 * row + g / 2, 2 * r), odd = results(4 * row + g / 2, 2 * r + 1);
#pragma unroll
      for (int s = 0; s < L::Slots; ++s)
        sums[L::InA + s] += factors(4 * row + t, L::inA(r, s)) * (g % 2 ? odd : even);
    }
  return sums;
}

// Tensor Cores multiply what was converted from their own formats, so that going back to those is exact; of float they
// take the upper bits.

DEVICE unsigned pairOfHalves(float low, float high) {
  Vector<_Float16, 2> pair = {_Float16(low), _Float16(high)};
  return __builtin_bit_cast(unsigned, pair);
}
DEVICE unsigned pairOfBrains(float low, float high) {
  return __builtin_bit_cast(unsigned, low) >> 16 | (__builtin_bit_cast(unsigned, high) & 0xffff0000u);
}
DEVICE unsigned asTf32(float x) { return __builtin_bit_cast(unsigned, x); }
DEVICE float truncated(float x) { return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & 0xffffe000u); }

#define MMA(SHAPE, TYPE, A, B, ...)                                                                                    \
  float d0, d1, d2, d3;                                                                                                \
  asm("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32 {%0,%1,%2,%3}," A "," B ",{%4,%4,%4,%4};"          \
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                                         \
      : "f"(0.0f), __VA_ARGS__);                                                                                       \
  return {d0, d1, d2, d3};

#define PRODUCT_OF_16(TYPE, PAIR)                                                                                      \
  DEVICE Halves16::Product product_m16n8k16_##TYPE(Halves16::Operands v) {                                             \
    MMA("m16n8k16", #TYPE, "{%5,%6,%7,%8}", "{%9,%10}", "r"(PAIR(v[0], v[1])), "r"(PAIR(v[2], v[3])),                  \
        "r"(PAIR(v[4], v[5])), "r"(PAIR(v[6], v[7])), "r"(PAIR(v[8], v[9])), "r"(PAIR(v[10], v[11])))                  \
  }                                                                                                                    \
  DEVICE Halves8::Product product_m16n8k8_##TYPE(Halves8::Operands v) {                                                \
    MMA("m16n8k8", #TYPE, "{%5,%6}", "{%7}", "r"(PAIR(v[0], v[1])), "r"(PAIR(v[2], v[3])), "r"(PAIR(v[4], v[5])))      \
  }

PRODUCT_OF_16(f16, pairOfHalves)
PRODUCT_OF_16(bf16, pairOfBrains)

DEVICE Floats8::Product product_m16n8k8_tf32(Floats8::Operands v) {
  MMA("m16n8k8", "tf32", "{%5,%6,%7,%8}", "{%9,%10}", "r"(asTf32(v[0])), "r"(asTf32(v[1])), "r"(asTf32(v[2])),
      "r"(asTf32(v[3])), "r"(asTf32(v[4])), "r"(asTf32(v[5])))
}
DEVICE Floats4::Product product_m16n8k4_tf32(Floats4::Operands v) {
  MMA("m16n8k4", "tf32", "{%5,%6}", "{%7}", "r"(asTf32(v[0])), "r"(asTf32(v[1])), "r"(asTf32(v[2])))
}
DEVICE Doubles4::Product product_m8n8k4_f64(Doubles4::Operands v) {
  double d0, d1;
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%4};"
      : "=d"(d0), "=d"(d1)
      : "d"(v[0]), "d"(v[1]), "d"(0.0));
  return {d0, d1};
}

// On the host (adgen-host-rules) each call has the lanes exchange all that they hold at once. TAKEN: what the Tensor Core
// takes of a factor.
#define RULES(NAME, L, TAKEN)                                                                                          \
  RULE L::Product adgen_math_mma_##NAME(L::Operands v) { return product_##NAME(v); }                                   \
  RULE Cotangents<L::Operands> adgen_math_mma_##NAME##_reverse(L::Operands v, L::Product d) {                          \
    return {cotangents<L>(ByShuffles<L::Operands>{v}, ByShuffles<L::Product>{d})};                                     \
  }                                                                                                                    \
  RULE L::Product adgen_math_mma_##NAME##_tangent(L::Operands v, L::Operands dv) {                                     \
    ByShuffles<L::Operands> factors{v}, tangents{dv};                                                                  \
    return multiplied<L>(factors, tangents) + multiplied<L>(tangents, factors);                                        \
  }                                                                                                                    \
  RULE L::Product adgen_math_mma_##NAME##_on_host(L::Operands v) {                                                     \
    for (int i = 0; i < L::Factors; ++i)                                                                               \
      v[i] = TAKEN(v[i]);                                                                                              \
    Collected<L::Element, L::Factors> factors(v);                                                                      \
    return multiplied<L>(factors, factors);                                                                            \
  }                                                                                                                    \
  RULE Cotangents<L::Operands> adgen_math_mma_##NAME##_reverse_on_host(L::Operands v, L::Product d) {                  \
    Collected<L::Element, L::Factors> factors(v);                                                                      \
    Collected<L::Element, L::Results> results(d);                                                                      \
    return {cotangents<L>(factors, results)};                                                                          \
  }                                                                                                                    \
  RULE L::Product adgen_math_mma_##NAME##_tangent_on_host(L::Operands v, L::Operands dv) {                             \
    Collected<L::Element, L::Factors> factors(v), tangents(dv);                                                        \
    return multiplied<L>(factors, tangents) + multiplied<L>(tangents, factors);                                        \
  }

RULES(m16n8k16_f16, Halves16, )
RULES(m16n8k16_bf16, Halves16, )
RULES(m16n8k8_f16, Halves8, )
RULES(m16n8k8_bf16, Halves8, )
RULES(m16n8k8_tf32, Floats8, truncated)
RULES(m16n8k4_tf32, Floats4, truncated)
RULES(m8n8k4_f64, Doubles4, )

// What wmma::__float_to_tf32 adds: it rounds to the nearest number of 11 bits, ties away from zero. The sum is exact.
RULE float adgen_math_tf32_residual(float x) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite ? __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u) - x : 0;
}
