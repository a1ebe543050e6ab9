// Derivatives of libdevice's functions that Enzyme has no rule for, or none that holds everywhere. The pass LowerMathToRules makes of a call
//   __nv_NAME(x, y, ...)   the call   adgen_math_NAME({x, y, ...})
// of a function that takes all arguments in one vector, because Enzyme cannot leave one of several arguments out where it
// does not vary. Whole numbers come as floating point. adgen_math_NAME_reverse gets the vector and the cotangent of the result.
#include "libdevice.h"

#pragma clang diagnostic ignored "-Wreturn-type-c-linkage" // a struct of one member is what Enzyme takes

// The result of a rule's reverse function is a struct of one member: Enzyme asks for that.
template <class T> struct Cotangents {
  T of;
};

#define RULE extern "C" DEVICE

// A function and its derivative: CALL and SLOPES are of the argument v, and SLOPES is of v's type.
#define DERIVED(NAME, TYPE, VECTOR, CALL, SLOPES)                                                                  \
  RULE TYPE adgen_math_##NAME(VECTOR v) { return CALL; }                                                            \
  RULE Cotangents<VECTOR> adgen_math_##NAME##_reverse(VECTOR v, TYPE d) { return {SLOPES * d}; }

#define ONE(NAME)                                                                                                  \
  DERIVED(NAME##f, float, float, __nv_##NAME##f(v), NAME##_slope(v))                                                \
  DERIVED(NAME, double, double, __nv_##NAME(v), NAME##_slope(v))
#define TWO(NAME)                                                                                                  \
  DERIVED(NAME##f, float, float2v, __nv_##NAME##f(v.x, v.y), NAME##_slopes(v.x, v.y))                               \
  DERIVED(NAME, double, double2v, __nv_##NAME(v.x, v.y), NAME##_slopes(v.x, v.y))
#define ORDER_AND_ONE(NAME)                                                                                        \
  DERIVED(NAME##f, float, float2v, __nv_##NAME##f(int(v.x), v.y), NAME##_slopes(int(v.x), v.y))                     \
  DERIVED(NAME, double, double2v, __nv_##NAME(int(v.x), v.y), NAME##_slopes(int(v.x), v.y))
#define ONE_AND_POWER(NAME)                                                                                        \
  DERIVED(NAME##f, float, float2v, __nv_##NAME##f(v.x, int(v.y)), NAME##_slopes(v.x, int(v.y)))                     \
  DERIVED(NAME, double, double2v, __nv_##NAME(v.x, int(v.y)), NAME##_slopes(v.x, int(v.y)))

namespace {

constexpr double Pi = 3.141592653589793238, TwoOverRootPi = 1.128379167095512574, RootPiOverTwo = 0.886226925452758014;
constexpr double LogOf10 = 2.302585092994045684, RootTwoPi = 2.506628274631000502, OneOverRootTwoPi = 0.398942280401432678;

template <class T> constexpr bool isDouble = sizeof(T) == sizeof(double);

// Powers, roots and distances.

template <class T> DEVICE T exp10_slope(T x) { return T(LogOf10) * exp10(x); }
template <class T> DEVICE T rsqrt_slope(T x) {
  T r = rsqrt(x);
  return (r * r) * (r / -2);
}
template <class T> DEVICE T rcbrt_slope(T x) { return rcbrt(x) / (-3 * x); }
template <class T> DEVICE T cbrt_slope(T x) { return 1 / (3 * cbrt(x) * cbrt(x)); }

// Threads take branches apart; the host's loops are vectorised only without.
DEVICE bool hasCheapBranches() { return __nvvm_reflect("ADGEN_GPU"); }

DEVICE float quotient(float x, float y) { return __nv_fast_fdividef(x, y); } // off by two units, between 2^-126 and 2^126
DEVICE double quotient(double x, double y) { return x / y; }
template <class T> DEVICE bool isFarFromEnds(T x) {
  constexpr T Large = isDouble<T> ? T(1e290) : T(1e30);
  return x > 1 / Large && x < Large;
}

// At (0, y): 0 for y > 1, and for y = 0, where x^0 is 1 everywhere. The exponent's slope at x = 0 is its limit from above.
template <class T> DEVICE Vector2<T> pow_slopes(T x, T y) {
  T power = pow(x, y), base, exponent;
  if (hasCheapBranches() && isFarFromEnds(x) && isFarFromEnds(power)) { // one power does for both
    base = y * quotient(power, x);
    exponent = power * log(x);
  } else {
    base = y == 0 ? T(0) : y * pow(x, y - 1);
    exponent = x == 0 && y >= 0 ? T(0) : power * log(x);
  }
  return {base, exponent}; // here alone: where one of them is not used, it is not computed
}
template <class T> DEVICE Vector2<T> powi_slopes(T x, int n) { return {n == 0 ? T(0) : n * powi(x, n - 1), T(0)}; }

// A distance has no derivative at the origin: 0, the one of smallest size.
template <class T> DEVICE T direction(T x, T distance) { return distance == 0 ? T(0) : x / distance; }
template <class T> DEVICE T inverseDirection(T x, T inverse) { return -(x * inverse) * inverse * inverse; }

template <class T> DEVICE Vector2<T> hypot_slopes(T x, T y) {
  T h = hypot(x, y);
  return {direction(x, h), direction(y, h)};
}
template <class T> DEVICE Vector2<T> rhypot_slopes(T x, T y) {
  T r = rhypot(x, y);
  return {inverseDirection(x, r), inverseDirection(y, r)};
}
template <class T> DEVICE Vector3<T> norm3d_slopes(T x, T y, T z) {
  T h = norm3d(x, y, z);
  return {direction(x, h), direction(y, h), direction(z, h)};
}
template <class T> DEVICE Vector3<T> rnorm3d_slopes(T x, T y, T z) {
  T r = rnorm3d(x, y, z);
  return {inverseDirection(x, r), inverseDirection(y, r), inverseDirection(z, r)};
}
template <class T> DEVICE Vector4<T> norm4d_slopes(T x, T y, T z, T w) {
  T h = norm4d(x, y, z, w);
  return {direction(x, h), direction(y, h), direction(z, h), direction(w, h)};
}
template <class T> DEVICE Vector4<T> rnorm4d_slopes(T x, T y, T z, T w) {
  T r = rnorm4d(x, y, z, w);
  return {inverseDirection(x, r), inverseDirection(y, r), inverseDirection(z, r), inverseDirection(w, r)};
}

// Trigonometry. Products instead of 1 - x^2, which cancels, and of x^2, which overflows.

template <class T> DEVICE T asin_slope(T x) { return rsqrt((1 - x) * (1 + x)); }
template <class T> DEVICE T acos_slope(T x) { return -asin_slope(x); }
template <class T> DEVICE T atanh_slope(T x) { return 1 / ((1 - x) * (1 + x)); }
template <class T> DEVICE T asinh_slope(T x) { return rhypot(T(1), x); }
template <class T> DEVICE T acosh_slope(T x) { return rsqrt(x - 1) * rsqrt(x + 1); }
template <class T> DEVICE Vector2<T> atan2_slopes(T y, T x) {
  if (x == 0 && y == 0)
    return {T(0), T(0)};
  T r = rhypot(x, y);
  return {(x * r) * r, -(y * r) * r};
}

template <class T> DEVICE T sinpi_slope(T x) { return T(Pi) * cospi(x); }
template <class T> DEVICE T cospi_slope(T x) { return -T(Pi) * sinpi(x); }

// The error function's relatives.

// 2 x erfcx(x) - 2/sqrt(pi) cancels where x is large; there the derivative of the asymptotic series stands.
template <class T> DEVICE T erfcx_slope(T x) {
  if (x < (isDouble<T> ? 10 : 5))
    return 2 * x * erfcx(x) - T(TwoOverRootPi);
  T s = 1 / x, w = s * s / 2, term = 1, sum = 0;
  for (int n = 0; n < (isDouble<T> ? 16 : 12); ++n) {
    sum += (2 * n + 1) * term;
    term *= -(2 * n + 1) * w;
  }
  return -T(TwoOverRootPi / 2) * s * s * sum;
}
template <class T> DEVICE T erfinv_slope(T x) {
  T y = erfinv(x);
  return T(RootPiOverTwo) * exp(y * y);
}
template <class T> DEVICE T erfcinv_slope(T x) {
  T y = erfcinv(x);
  return -T(RootPiOverTwo) * exp(y * y);
}
template <class T> DEVICE T normcdf_slope(T x) { return T(OneOverRootTwoPi) * exp(-x * x / 2); }
template <class T> DEVICE T normcdfinv_slope(T x) {
  T y = normcdfinv(x);
  return T(RootTwoPi) * exp(y * y / 2);
}

// The gamma function.

// Asymptotic series after steps up to where it holds; the reflection formula left of zero.
template <class T> DEVICE T digamma(T x) {
  T result = 0;
  if (x <= 0) {
    result = -T(Pi) * cospi(x) / sinpi(x);
    x = 1 - x;
  }
  for (; x < 10; x += 1)
    result -= 1 / x;
  T w = 1 / (x * x);
  T series = w * (T(1.0 / 12) - w * (T(1.0 / 120) - w * (T(1.0 / 252) - w * (T(1.0 / 240) - w * (T(1.0 / 132) -
             w * (T(691.0 / 32760) - w * (T(1.0 / 12) - w * T(3617.0 / 8160))))))));
  return result + log(x) - 1 / (2 * x) - series;
}
template <class T> DEVICE T lgamma_slope(T x) { return digamma(x); }
template <class T> DEVICE T tgamma_slope(T x) { return tgamma(x) * digamma(x); }

// Bessel functions.

template <class T> DEVICE T j0_slope(T x) { return -j1(x); }
template <class T> DEVICE T j1_slope(T x) { return x == 0 ? T(0.5) : j0(x) - j1(x) / x; }
template <class T> DEVICE T y0_slope(T x) { return -y1(x); }
template <class T> DEVICE T y1_slope(T x) { return y0(x) - y1(x) / x; }
template <class T> DEVICE T cyl_bessel_i0_slope(T x) { return cyl_bessel_i1(x); }
template <class T> DEVICE T cyl_bessel_i1_slope(T x) {
  return x == 0 ? T(0.5) : cyl_bessel_i0(x) - cyl_bessel_i1(x) / x;
}
template <class T> DEVICE Vector2<T> jn_slopes(int n, T x) {
  return {T(0), n == 0 ? -j1(x) : (jn(n - 1, x) - jn(n + 1, x)) / 2};
}
template <class T> DEVICE Vector2<T> yn_slopes(int n, T x) {
  return {T(0), n == 0 ? -y1(x) : (yn(n - 1, x) - yn(n + 1, x)) / 2};
}

// Functions in pieces.

template <class T> DEVICE Vector2<T> fmod_slopes(T x, T y) { return {T(1), rint((fmod(x, y) - x) / y)}; }
template <class T> DEVICE Vector2<T> remainder_slopes(T x, T y) { return {T(1), rint((remainder(x, y) - x) / y)}; }
template <class T> DEVICE Vector2<T> fdim_slopes(T x, T y) {
  T above = x > y ? 1 : 0;
  return {above, -above};
}
template <class T> DEVICE Vector2<T> copysign_slopes(T x, T y) {
  return {copysign(T(1), x) * copysign(T(1), y), T(0)};
}
template <class T> DEVICE Vector2<T> nextafter_slopes(T, T) { return {T(1), T(0)}; }
template <class T> DEVICE T logb_slope(T) { return 0; }

template <class T> DEVICE T modf_part(T x) {
  T whole;
  return modf(x, &whole);
}
template <class T> struct FrexpParts {
  T mantissa;
  int exponent;
};
template <class T> DEVICE FrexpParts<T> frexp_parts(T x) {
  int exponent;
  T mantissa = frexp(x, &exponent);
  return {mantissa, exponent};
}
template <class T> DEVICE int remquo_quotient(T x, T y) {
  int quotient;
  remquo(x, y, &quotient);
  return quotient;
}

} // namespace

ONE(asin) ONE(acos) ONE(asinh) ONE(acosh) ONE(atanh)
ONE(exp10) ONE(rsqrt) ONE(rcbrt) ONE(cbrt) ONE(sinpi) ONE(cospi)
ONE(erfcx) ONE(erfinv) ONE(erfcinv) ONE(normcdf) ONE(normcdfinv)
ONE(lgamma) ONE(tgamma)
ONE(j0) ONE(j1) ONE(y0) ONE(y1) ONE(cyl_bessel_i0) ONE(cyl_bessel_i1)
ONE(logb)
TWO(atan2) TWO(pow) TWO(hypot) TWO(rhypot) TWO(fmod) TWO(remainder) TWO(fdim) TWO(copysign) TWO(nextafter)
ORDER_AND_ONE(jn) ORDER_AND_ONE(yn)
ONE_AND_POWER(powi)

DERIVED(fast_exp10f, float, float, __nv_fast_exp10f(v), exp10_slope(v))
DERIVED(fast_powf, float, float2v, __nv_fast_powf(v.x, v.y), pow_slopes(v.x, v.y))
DERIVED(saturatef, float, float, __nv_saturatef(v), (v >= 0 && v <= 1 ? 1.0f : 0.0f))
DERIVED(frsqrt_rn, float, float, __nv_frsqrt_rn(v), rsqrt_slope(v))

DERIVED(norm3df, float, float3v, __nv_norm3df(v.x, v.y, v.z), norm3d_slopes(v.x, v.y, v.z))
DERIVED(norm3d, double, double3v, __nv_norm3d(v.x, v.y, v.z), norm3d_slopes(v.x, v.y, v.z))
DERIVED(rnorm3df, float, float3v, __nv_rnorm3df(v.x, v.y, v.z), rnorm3d_slopes(v.x, v.y, v.z))
DERIVED(rnorm3d, double, double3v, __nv_rnorm3d(v.x, v.y, v.z), rnorm3d_slopes(v.x, v.y, v.z))
DERIVED(norm4df, float, float4v, __nv_norm4df(v.x, v.y, v.z, v.w), norm4d_slopes(v.x, v.y, v.z, v.w))
DERIVED(norm4d, double, double4v, __nv_norm4d(v.x, v.y, v.z, v.w), norm4d_slopes(v.x, v.y, v.z, v.w))
DERIVED(rnorm4df, float, float4v, __nv_rnorm4df(v.x, v.y, v.z, v.w), rnorm4d_slopes(v.x, v.y, v.z, v.w))
DERIVED(rnorm4d, double, double4v, __nv_rnorm4d(v.x, v.y, v.z, v.w), rnorm4d_slopes(v.x, v.y, v.z, v.w))

// x * 2^n: the cotangent is scaled as a whole, where 2^n alone could overflow.
#define SCALED(NAME, TYPE, VECTOR, SCALE)                                                                          \
  RULE TYPE adgen_math_##NAME(VECTOR v) { return __nv_##NAME(v.x, int(v.y)); }                                      \
  RULE Cotangents<VECTOR> adgen_math_##NAME##_reverse(VECTOR v, TYPE d) { return {{SCALE(d, int(v.y)), 0}}; }
SCALED(ldexpf, float, float2v, ldexp)
SCALED(ldexp, double, double2v, ldexp)
SCALED(scalbnf, float, float2v, ldexp)
SCALED(scalbn, double, double2v, ldexp)

// Functions with a second result, a whole number (for modf in floating point). LowerMathToRules asks for each by itself.
#define WITH_SECOND(SUFFIX, TYPE, VECTOR2)                                                                         \
  DERIVED(modf##SUFFIX, TYPE, TYPE, modf_part(v), 1)                                                                \
  RULE TYPE adgen_math_modf##SUFFIX##_second(TYPE v) { return trunc(v); }                                           \
  RULE TYPE adgen_math_frexp##SUFFIX(TYPE v) { return frexp_parts(v).mantissa; }                                    \
  RULE Cotangents<TYPE> adgen_math_frexp##SUFFIX##_reverse(TYPE v, TYPE d) {                                        \
    return {ldexp(d, -frexp_parts(v).exponent)};                                                                   \
  }                                                                                                                \
  RULE int adgen_math_frexp##SUFFIX##_second(TYPE v) { return frexp_parts(v).exponent; }                            \
  DERIVED(remquo##SUFFIX, TYPE, VECTOR2, remainder(v.x, v.y), remainder_slopes(v.x, v.y))                           \
  RULE int adgen_math_remquo##SUFFIX##_second(TYPE x, TYPE y) { return remquo_quotient(x, y); }
WITH_SECOND(f, float, float2v)
WITH_SECOND(, double, double2v)

// Directed rounding: the derivative is that of exact arithmetic.
#define ROUNDED(OF, TYPE, VECTOR2, VECTOR3, ROOT, FMA, MODE)                                                       \
  DERIVED(OF##add_##MODE, TYPE, VECTOR2, __nv_##OF##add_##MODE(v.x, v.y), (VECTOR2{1, 1}))                          \
  DERIVED(OF##sub_##MODE, TYPE, VECTOR2, __nv_##OF##sub_##MODE(v.x, v.y), (VECTOR2{1, -1}))                         \
  DERIVED(OF##mul_##MODE, TYPE, VECTOR2, __nv_##OF##mul_##MODE(v.x, v.y), (VECTOR2{v.y, v.x}))                      \
  DERIVED(OF##div_##MODE, TYPE, VECTOR2, __nv_##OF##div_##MODE(v.x, v.y), (VECTOR2{1 / v.y, -(v.x / v.y) / v.y}))   \
  DERIVED(OF##rcp_##MODE, TYPE, TYPE, __nv_##OF##rcp_##MODE(v), -1 / v / v)                                         \
  DERIVED(OF##sqrt_##MODE, TYPE, TYPE, __nv_##OF##sqrt_##MODE(v), 1 / (2 * ROOT(v)))                                \
  DERIVED(FMA##_##MODE, TYPE, VECTOR3, __nv_##FMA##_##MODE(v.x, v.y, v.z), (VECTOR3{v.y, v.x, 1}))
#define ROUNDED_BOTH(MODE)                                                                                         \
  ROUNDED(f, float, float2v, float3v, __nv_sqrtf, fmaf, MODE)                                                       \
  ROUNDED(d, double, double2v, double3v, __nv_sqrt, fma, MODE)                                                      \
  DERIVED(fmaf_ieee_##MODE, float, float3v, __nv_fmaf_ieee_##MODE(v.x, v.y, v.z), (float3v{v.y, v.x, 1}))           \
  RULE float adgen_math_double2float_##MODE(double v) { return __nv_double2float_##MODE(v); }                       \
  RULE Cotangents<double> adgen_math_double2float_##MODE##_reverse(double, float d) { return {d}; }
ROUNDED_BOTH(rz)
ROUNDED_BOTH(rd)
ROUNDED_BOTH(ru)
