// Products of matrices that the lanes of a warp hold in parts, as the PTX manual lays them out for mma.sync: lane 4 g +
// t has the elements (row g + 8 r, slot s of t) of A, (slot s of t, column g) of B, and (row g + 8 r, column 2 t + c)
// of the product, where a slot is one of the inner indices that the lanes of the same t share. adgen-lower-tensor-cores
// makes of wmma and mma.sync calls of
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
  static constexpr int Rows = RowBlocks, Slots = SlotCount, InA = Rows * Slots, Factors = InA + Slots,
                       Results = 2 * Rows;
  using Operands = Vector<Element, Factors>;
  using Product = Vector<Element, Results>;
  static constexpr __attribute__((device)) int inA(int r, int s) {
    return Paired ? s % 2 + 2 * r + 4 * (s / 2) : r + Rows * s;
  }
};

using Halves16 = Layout<float, 2, 4, true>;
using Halves8 = Layout<float, 2, 2, true>;
using Floats8 = Layout<float, 2, 2, false>;
using Floats4 = Layout<float, 2, 1, false>;
using Doubles4 = Layout<double, 1, 1, false>;

DEVICE int thisLane() { return __nvvm_read_ptx_sreg_laneid(); }

DEVICE unsigned bitsOf(float x) { return __builtin_bit_cast(unsigned, x); }
DEVICE float withBits(unsigned bits) { return __builtin_bit_cast(float, bits); }

// What other lanes hold, asked by shuffles: all lanes ask for the same index.
DEVICE float fromLane(float x, int lane) { return __nvvm_shfl_sync_idx_f32(~0u, x, lane, 31); }
DEVICE double fromLane(double x, int lane) {
  unsigned long bits = __builtin_bit_cast(unsigned long, x);
  unsigned lower = bitsOf(fromLane(withBits(unsigned(bits)), lane));
  unsigned upper = bitsOf(fromLane(withBits(unsigned(bits >> 32)), lane));
  return __builtin_bit_cast(double, lower | (unsigned long)upper << 32);
}

template <class V> struct ByShuffles {
  V own;
  __attribute__((device)) auto operator()(int lane, int index) const { return fromLane(own[index], lane); }
};

// What other lanes hold, where all of it was exchanged at once.
extern "C" __attribute__((device, convergent)) unsigned long
adgen_together_collect(unsigned mask, unsigned long request, int bytes, int);

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

DEVICE float truncated(float x) { return withBits(bitsOf(x) & 0xffffe000u); }

DEVICE unsigned pairOfHalves(float low, float high) {
  Vector<_Float16, 2> pair = {_Float16(low), _Float16(high)};
  return __builtin_bit_cast(unsigned, pair);
}
DEVICE unsigned pairOfBrains(float low, float high) { return bitsOf(low) >> 16 | (bitsOf(high) & 0xffff0000u); }

// The same shuffles of a cotangent serve several products: not a builtin, of which the compiler merges none.
DEVICE unsigned askedOf(int lane, unsigned bits) {
  unsigned found;
  asm("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(found) : "r"(bits), "r"(lane));
  return found;
}

// Where the elements are that lane 4 g + t takes: one of the lane `even` and one of `odd`, the second of two if g is
// odd. The lanes that others ask as odd ones are those whose g is odd, too.
struct Crossing {
  int even, odd;
  bool second;
  __attribute__((device)) Crossing() {
    int lane = thisLane();
    even = 8 * (lane & 3) + lane / 8;
    odd = even + 4;
    second = lane & 4;
  }
};
struct Crossed {
  float ofEven, ofOdd;
};

// Of 16 bits both numbers of a lane come in one word.
struct AsHalves {
  static __attribute__((device)) float one(unsigned pair, bool second) {
    return __builtin_bit_cast(_Float16, static_cast<unsigned short>(second ? pair >> 16 : pair));
  }
  static __attribute__((device)) Crossed cross(const Crossing &c, float low, float high) {
    unsigned pair = pairOfHalves(low, high);
    return {one(askedOf(c.even, pair), c.second), one(askedOf(c.odd, pair), c.second)};
  }
};
struct AsBrains {
  static __attribute__((device)) float one(unsigned pair, bool second) {
    return withBits(second ? pair & 0xffff0000u : pair << 16);
  }
  static __attribute__((device)) Crossed cross(const Crossing &c, float low, float high) {
    unsigned pair = pairOfBrains(low, high);
    return {one(askedOf(c.even, pair), c.second), one(askedOf(c.odd, pair), c.second)};
  }
};
struct AsFloats {
  // Each lane is asked for one of its numbers as an even or an odd one by a lane whose g is even, for the other by one
  // whose g is odd.
  static __attribute__((device)) Crossed cross(const Crossing &c, float low, float high) {
    float first = withBits(askedOf(c.second ? c.odd : c.even, bitsOf(c.second ? high : low)));
    float other = withBits(askedOf(c.second ? c.even : c.odd, bitsOf(c.second ? low : high)));
    return {c.second ? other : first, c.second ? first : other};
  }
};

// The upper bits of a cotangent, which tf32 has exactly, and what they leave.
struct Split {
  float upper, lower;
  __attribute__((device)) explicit Split(float x) : upper(truncated(x)), lower(upper - upper == 0 ? x - upper : 0) {}
};

// Adds a product of tf32, of 16 by 8 by 8.
DEVICE void addProduct(Vector<float, 4> &sums, float a0, float a1, float a2, float a3, float b0, float b1) {
  float d0 = sums[0], d1 = sums[1], d2 = sums[2], d3 = sums[3];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(bitsOf(a0)), "r"(bitsOf(a1)), "r"(bitsOf(a2)), "r"(bitsOf(a3)), "r"(bitsOf(b0)), "r"(bitsOf(b1)));
  sums = {d0, d1, d2, d3};
}

// The cotangents by Tensor Cores. The factors are exact in tf32; each cotangent of the product is two numbers of tf32,
// so that 22 bits of it count. Two slots of A, or of B, are the columns of one product: the column of lane 4 g + t is
// slot g % 2 of the lanes whose t is g / 2. dA = dD B^T adds over the columns of D, of which the instruction's inner
// indices t and t + 4 are 2 t and 2 t + 1. dB^T = dD^T A adds over eight rows the same way, and has the upper bits of
// the cotangents in its first eight rows and the lower ones in the others.
template <class L, class As>
DEVICE typename L::Operands cotangentsByTensorCores(typename L::Operands v, typename L::Product d) {
  Crossing crossing;
  typename L::Operands sums;
  Split d0(d[0]), d1(d[1]), d2(d[2]), d3(d[3]);
#pragma unroll
  for (int s = 0; s < L::Slots; s += 2) {
    Crossed b = As::cross(crossing, v[L::InA + s], v[L::InA + s + 1]);
    Vector<float, 4> found = 0;
    addProduct(found, d0.upper, d2.upper, d1.upper, d3.upper, b.ofEven, b.ofOdd);
    addProduct(found, d0.lower, d2.lower, d1.lower, d3.lower, b.ofEven, b.ofOdd);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sums[L::inA(i / 2, s + i % 2)] = found[i];
  }
  Vector<float, 4> columns[L::Slots / 2] = {};
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    Crossed ofRow = AsFloats::cross(crossing, d[2 * r], d[2 * r + 1]);
    Split above(ofRow.ofEven), below(ofRow.ofOdd);
#pragma unroll
    for (int s = 0; s < L::Slots; s += 2) {
      Crossed a = As::cross(crossing, v[L::inA(r, s)], v[L::inA(r, s + 1)]);
      addProduct(columns[s / 2], above.upper, above.lower, below.upper, below.lower, a.ofEven, a.ofOdd);
    }
  }
#pragma unroll
  for (int s = 0; s < L::Slots; ++s)
    sums[L::InA + s] = columns[s / 2][s % 2] + columns[s / 2][2 + s % 2];
  return sums;
}

#define MMA(SHAPE, TYPE, A, B, ...)                                                                                    \
  float d0, d1, d2, d3;                                                                                                \
  asm("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32 {%0,%1,%2,%3}," A "," B ",{%4,%4,%4,%4};"          \
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                                         \
      : "f"(0.0f), __VA_ARGS__);                                                                                       \
  return {d0, d1, d2, d3};

#define PRODUCT_OF_16(TYPE, PAIR)                                                                                      \
  DEVICE Halves16::Product product_m16n8k16_##TYPE(Halves16::Operands v){                                              \
      MMA("m16n8k16", #TYPE, "{%5,%6,%7,%8}", "{%9,%10}", "r"(PAIR(v[0], v[1])), "r"(PAIR(v[2], v[3])),                \
          "r"(PAIR(v[4], v[5])), "r"(PAIR(v[6], v[7])), "r"(PAIR(v[8], v[9])),                                         \
          "r"(PAIR(v[10], v[11])))} DEVICE Halves8::Product product_m16n8k8_##TYPE(Halves8::Operands v) {              \
    MMA("m16n8k8", #TYPE, "{%5,%6}", "{%7}", "r"(PAIR(v[0], v[1])), "r"(PAIR(v[2], v[3])), "r"(PAIR(v[4], v[5])))      \
  }

PRODUCT_OF_16(f16, pairOfHalves)
PRODUCT_OF_16(bf16, pairOfBrains)

DEVICE Floats8::Product product_m16n8k8_tf32(Floats8::Operands v){
    MMA("m16n8k8", "tf32", "{%5,%6,%7,%8}", "{%9,%10}", "r"(bitsOf(v[0])), "r"(bitsOf(v[1])), "r"(bitsOf(v[2])),
        "r"(bitsOf(v[3])), "r"(bitsOf(v[4])), "r"(bitsOf(v[5])))} DEVICE Floats4::Product
    product_m16n8k4_tf32(Floats4::Operands v){MMA("m16n8k4", "tf32", "{%5,%6}", "{%7}", "r"(bitsOf(v[0])),
                                                  "r"(bitsOf(v[1])), "r"(bitsOf(v[2])))} DEVICE Doubles4::Product
    product_m8n8k4_f64(Doubles4::Operands v) {
  double d0, d1;
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%4};"
      : "=d"(d0), "=d"(d1)
      : "d"(v[0]), "d"(v[1]), "d"(0.0));
  return {d0, d1};
}

// On the host (adgen-host-rules) each call has the lanes exchange all that they hold at once. TAKEN: what the Tensor
// Core takes of a factor. COTANGENTS: of the factors v on the GPU.
#define RULES(NAME, L, TAKEN, COTANGENTS)                                                                              \
  RULE L::Product adgen_math_mma_##NAME(L::Operands v) { return product_##NAME(v); }                                   \
  RULE Cotangents<L::Operands> adgen_math_mma_##NAME##_reverse(L::Operands v, L::Product d) { return {COTANGENTS}; }   \
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

#define BY_SHUFFLES(L) cotangents<L>(ByShuffles<L::Operands>{v}, ByShuffles<L::Product>{d})
#define BY_TENSOR_CORES(L, AS) cotangentsByTensorCores<L, AS>(v, d)

RULES(m16n8k16_f16, Halves16, , BY_TENSOR_CORES(Halves16, AsHalves))
RULES(m16n8k16_bf16, Halves16, , BY_TENSOR_CORES(Halves16, AsBrains))
RULES(m16n8k8_f16, Halves8, , BY_TENSOR_CORES(Halves8, AsHalves))
RULES(m16n8k8_bf16, Halves8, , BY_TENSOR_CORES(Halves8, AsBrains))
RULES(m16n8k8_tf32, Floats8, truncated, BY_TENSOR_CORES(Floats8, AsFloats))
RULES(m16n8k4_tf32, Floats4, truncated, BY_SHUFFLES(Floats4))
RULES(m8n8k4_f64, Doubles4, , BY_SHUFFLES(Doubles4))

// The transpose of an 8 by 8 matrix of 16 bits, of which lane 4 g + t has the elements 2 t and 2 t + 1 of row g. The
// derivatives are transposed, too.
template <class Pair> DEVICE Pair transposed(Pair v) {
  unsigned bits;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(bits) : "r"(__builtin_bit_cast(unsigned, v)));
  return __builtin_bit_cast(Pair, bits);
}
template <class Element, class Pair> DEVICE Pair transposedOnHost(Pair v) {
  Collected<Element, 2> matrix(v);
  int g = thisLane() >> 2, from = 8 * (thisLane() & 3) + g / 2;
  return {matrix(from, g % 2), matrix(from + 4, g % 2)};
}

#define TRANSPOSE(NAME, T)                                                                                             \
  using PairOf_##NAME = Vector<T, 2>;                                                                                  \
  RULE PairOf_##NAME adgen_math_mma_transposed_##NAME(PairOf_##NAME v) { return transposed(v); }                       \
  RULE Cotangents<PairOf_##NAME> adgen_math_mma_transposed_##NAME##_reverse(PairOf_##NAME, PairOf_##NAME d) {          \
    return {transposed(d)};                                                                                            \
  }                                                                                                                    \
  RULE PairOf_##NAME adgen_math_mma_transposed_##NAME##_tangent(PairOf_##NAME, PairOf_##NAME dv) {                     \
    return transposed(dv);                                                                                             \
  }                                                                                                                    \
  RULE PairOf_##NAME adgen_math_mma_transposed_##NAME##_on_host(PairOf_##NAME v) { return transposedOnHost<T>(v); }    \
  RULE Cotangents<PairOf_##NAME> adgen_math_mma_transposed_##NAME##_reverse_on_host(PairOf_##NAME, PairOf_##NAME d) {  \
    return {transposedOnHost<T>(d)};                                                                                   \
  }                                                                                                                    \
  RULE PairOf_##NAME adgen_math_mma_transposed_##NAME##_tangent_on_host(PairOf_##NAME, PairOf_##NAME dv) {             \
    return transposedOnHost<T>(dv);                                                                                    \
  }

TRANSPOSE(f16, _Float16)
TRANSPOSE(bf16, __bf16)

// What wmma::__float_to_tf32 adds: it rounds to the nearest number of 11 bits, ties away from zero. The sum is exact.
RULE float adgen_math_tf32_residual(float x) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite ? __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u) - x : 0;
}
