// Arithmetic that the device has instructions for and the host has not: directed rounding, and operations on bytes. The
// function of llvm.nvvm.mul.rz.f is adgen_nvvm_mul_rz_f, and so on (RetargetHost).
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>

#pragma STDC FENV_ACCESS ON

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

namespace {

class Rounding {
public:
  explicit Rounding(int mode) : before(std::fegetround()) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(before); }

private:
  int before;
};

} // namespace

#define FLOATING(NAME, SUFFIX, T, MODE)                                                                                \
  HIDDEN T adgen_nvvm_add_##NAME##_##SUFFIX(T x, T y) {                                                                \
    Rounding r(MODE);                                                                                                  \
    return x + y;                                                                                                      \
  }                                                                                                                    \
  HIDDEN T adgen_nvvm_mul_##NAME##_##SUFFIX(T x, T y) {                                                                \
    Rounding r(MODE);                                                                                                  \
    return x * y;                                                                                                      \
  }                                                                                                                    \
  HIDDEN T adgen_nvvm_div_##NAME##_##SUFFIX(T x, T y) {                                                                \
    Rounding r(MODE);                                                                                                  \
    return x / y;                                                                                                      \
  }                                                                                                                    \
  HIDDEN T adgen_nvvm_rcp_##NAME##_##SUFFIX(T x) {                                                                     \
    Rounding r(MODE);                                                                                                  \
    return 1 / x;                                                                                                      \
  }                                                                                                                    \
  HIDDEN T adgen_nvvm_sqrt_##NAME##_##SUFFIX(T x) {                                                                    \
    Rounding r(MODE);                                                                                                  \
    return std::sqrt(x);                                                                                               \
  }                                                                                                                    \
  HIDDEN T adgen_nvvm_fma_##NAME##_##SUFFIX(T x, T y, T z) {                                                           \
    Rounding r(MODE);                                                                                                  \
    return std::fma(x, y, z);                                                                                          \
  }

#define CONVERSION(NAME, FROM, TO, MODE)                                                                               \
  HIDDEN TO adgen_nvvm_##NAME(FROM x) {                                                                                \
    Rounding r(MODE);                                                                                                  \
    return TO(x);                                                                                                      \
  }

#define DIRECTION(NAME, MODE)                                                                                          \
  FLOATING(NAME, f, float, MODE)                                                                                       \
  FLOATING(NAME, d, double, MODE)                                                                                      \
  CONVERSION(d2f_##NAME, double, float, MODE)                                                                          \
  CONVERSION(i2f_##NAME, int32_t, float, MODE)                                                                         \
  CONVERSION(ui2f_##NAME, uint32_t, float, MODE)                                                                       \
  CONVERSION(ll2f_##NAME, int64_t, float, MODE)                                                                        \
  CONVERSION(ull2f_##NAME, uint64_t, float, MODE)                                                                      \
  CONVERSION(ll2d_##NAME, int64_t, double, MODE)                                                                       \
  CONVERSION(ull2d_##NAME, uint64_t, double, MODE)

DIRECTION(rz, FE_TOWARDZERO)
DIRECTION(rm, FE_DOWNWARD)
DIRECTION(rp, FE_UPWARD)

// Each half byte of `selector` picks one of the eight bytes of x and y, or (its highest bit) repeats that byte's sign.
HIDDEN uint32_t adgen_nvvm_prmt(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t bytes = uint64_t(y) << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> 4 * i;
    uint32_t byte = bytes >> 8 * (pick & 7) & 0xff;
    if (pick & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

// Where the nth bit of the mask lies that is set, counted from bit `base` on, which is the first one, and downwards if
// n is negative.
HIDDEN uint32_t adgen_nvvm_fns(uint32_t mask, uint32_t base, int32_t n) {
  const int step = n < 0 ? -1 : 1;
  int left = n == 0 ? 1 : n * step;
  for (uint32_t at = base; at < 32; at += step) {
    left -= mask >> at & 1;
    if (left == 0)
      return at;
    if (n == 0)
      break;
  }
  return ~0u;
}

HIDDEN uint32_t adgen_nvvm_sad_i(int32_t x, int32_t y, uint32_t sum) {
  return sum + uint32_t(x > y ? int64_t(x) - y : int64_t(y) - x);
}
HIDDEN uint32_t adgen_nvvm_sad_ui(uint32_t x, uint32_t y, uint32_t sum) { return sum + (x > y ? x - y : y - x); }

// Four bytes of each, or two halves and two bytes, multiplied and added up: `idp2a` always takes the lower bytes.
#define DOT(SUFFIX, BYTE_X, HALF_X, BYTE_Y)                                                                            \
  HIDDEN int32_t adgen_nvvm_idp4a_##SUFFIX(uint32_t x, uint32_t y, uint32_t sum) {                                     \
    for (int i = 0; i < 32; i += 8)                                                                                    \
      sum += uint32_t(BYTE_X(x >> i) * BYTE_Y(y >> i));                                                                \
    return int32_t(sum);                                                                                               \
  }                                                                                                                    \
  HIDDEN int32_t adgen_nvvm_idp2a_##SUFFIX(uint32_t x, uint32_t y, bool, uint32_t sum) {                               \
    return int32_t(sum + uint32_t(HALF_X(x) * BYTE_Y(y)) + uint32_t(HALF_X(x >> 16) * BYTE_Y(y >> 8)));                \
  }
DOT(s_s, int8_t, int16_t, int8_t)
DOT(s_u, int8_t, int16_t, uint8_t)
DOT(u_s, uint8_t, uint16_t, int8_t)
DOT(u_u, uint8_t, uint16_t, uint8_t)

// Numbers of 8 bits (FP8), two in a word of 16: `MANTISSA` bits behind the exponent, NaN 0x7f, and what is too large
// becomes the largest.
namespace {

struct E4M3 {
  static constexpr int MANTISSA = 3, BIAS = 7;
  static constexpr uint8_t LARGEST = 0x7e;
  static constexpr float MOST = 448;
  static uint16_t half(uint8_t byte) { // the exponent of a half is 8 more; what has none is looked up
    constexpr uint16_t SMALL[] = {0, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300};
    const uint16_t sign = (byte & 0x80) << 8, rest = byte & 0x7f;
    return sign | (rest == 0x7f ? 0x7fff : rest < 8 ? SMALL[rest] : (rest << 7) + (8 << 10));
  }
};

struct E5M2 {
  static constexpr int MANTISSA = 2, BIAS = 15;
  static constexpr uint8_t LARGEST = 0x7b;
  static constexpr float MOST = 57344;
  static uint16_t half(uint8_t byte) { return (byte & 0x7f) > 0x7c ? 0x7fff : byte << 8; }
};

// To the nearest and to even.
template <class Format> uint16_t rounded(float x) {
  const uint8_t sign = std::signbit(x) ? 0x80 : 0;
  const float size = std::fabs(x);
  if (x != x)
    return 0x7f;
  if (size >= Format::MOST)
    return sign | Format::LARGEST;
  const int exponent = size == 0 ? 1 - Format::BIAS : std::max(std::ilogb(size), 1 - Format::BIAS);
  const int digits = int(std::nearbyint(std::ldexp(size, Format::MANTISSA - exponent)));
  return sign | (((exponent + Format::BIAS - 1) << Format::MANTISSA) + digits);
}

float single(uint16_t half) { return __builtin_bit_cast(_Float16, half); }

} // namespace

#define BYTES(NAME, FORMAT)                                                                                            \
  HIDDEN uint32_t adgen_nvvm_##NAME##_to_f16x2_rn(uint16_t x) {                                                        \
    return uint32_t(FORMAT::half(x >> 8)) << 16 | FORMAT::half(x & 0xff);                                              \
  }                                                                                                                    \
  HIDDEN uint16_t adgen_nvvm_ff_to_##NAME##_rn(float high, float low) {                                                \
    return rounded<FORMAT>(high) << 8 | rounded<FORMAT>(low);                                                          \
  }                                                                                                                    \
  HIDDEN uint16_t adgen_nvvm_f16x2_to_##NAME##_rn(uint32_t x) {                                                        \
    return rounded<FORMAT>(single(x >> 16)) << 8 | rounded<FORMAT>(single(x & 0xffff));                                \
  }
BYTES(e4m3x2, E4M3)
BYTES(e5m2x2, E5M2)

// What the compiler calls to round to bfloat16, to the nearest and to even; older C runtimes lack it.
HIDDEN __bf16 __truncsfbf2(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  bool is_nan = x != x;
  uint32_t rounded = is_nan ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
  return __builtin_bit_cast(__bf16, static_cast<uint16_t>(rounded >> 16));
}

HIDDEN __bf16 __truncdfbf2(double x) { // to odd first, so that no bit is rounded twice
  float nearest = static_cast<float>(x);
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (x == x && static_cast<double>(nearest) != x) {
    if (__builtin_fabsf(nearest) > __builtin_fabs(x))
      --bits;
    bits |= 1u;
  }
  return __truncsfbf2(__builtin_bit_cast(float, bits));
}
