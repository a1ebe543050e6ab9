// Arithmetic that the device has instructions for and the host has not: directed rounding, and operations on bytes. The
// function of llvm.nvvm.mul.rz.f is adgen_nvvm_mul_rz_f, and so on (RetargetHost).
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
