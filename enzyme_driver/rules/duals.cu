// Tangents of mathematical functions for the dual numbers of the verification (passes/DualNumbers.cpp), from the functions' derivatives as in
// Abramowitz and Stegun, Handbook of Mathematical Functions, and DLMF (chapters 4, 5, 7, 10). They share nothing with the rules
// of mathematics.cu, which they witness against: double adgen_dual_NAME(numbers..., tangents...).
#include "libdevice.h"

#define FORMULA extern "C" DEVICE double

#define UNARY_SLOPE(NAME, SLOPE)                                                                                   \
  FORMULA adgen_dual_##NAME(double x, double dx) { return times(SLOPE, dx); }
#define BINARY_SLOPES(NAME, BY_X, BY_Y)                                                                             \
  FORMULA adgen_dual_##NAME(double x, double y, double dx, double dy) { return times(BY_X, dx) + times(BY_Y, dy); }

extern "C" {
#define DOUBLE(NAME) DEVICE double __nv_##NAME(double);
DOUBLE(sin) DOUBLE(cos) DOUBLE(tan) DOUBLE(sinh) DOUBLE(cosh) DOUBLE(tanh) DOUBLE(exp2) DOUBLE(sqrt) DOUBLE(floor) DOUBLE(log2)
#undef DOUBLE
}

namespace {

constexpr double Pi = 3.14159265358979323846, Ln2 = 0.693147180559945309417, Ln10 = 2.30258509299404568402;
constexpr double TwoOverRootPi = 1.12837916709551257390, RootPiOver2 = 0.886226925452758013649;
constexpr double OneOverRoot2Pi = 0.398942280401432677940, Root2Pi = 2.50662827463100050242;

// No tangent comes through an argument that does not vary, whatever the slope.
DEVICE double times(double slope, double tangent) { return tangent == 0 ? 0 : slope * tangent; }

DEVICE double root(double x) { return __nv_sqrt(x); }
DEVICE double square(double x) { return x * x; }

// The logarithmic derivative of the gamma function: recurrence up to 12, then the asymptotic series (A&S 6.3.18).
DEVICE double digamma_of_positive(double x) {
  double below = 0;
  for (; x < 12; x += 1)
    below += 1 / x;
  double s = 1 / (x * x);
  double series = s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760 - s / 12))))));
  return log(x) - 0.5 / x - series - below;
}

// By reflection where x is not positive; the cotangent has a period of 1 in x.
DEVICE double digamma(double x) {
  if (x > 0)
    return digamma_of_positive(x);
  if (x == 0)
    return -__builtin_huge_val();
  if (x == __nv_floor(x))
    return __builtin_nan("");
  double nearest = x - __nv_floor(x + 0.5);
  return digamma_of_positive(1 - x) - Pi * __nv_cos(Pi * nearest) / __nv_sin(Pi * nearest);
}

// 2 x erfcx(x) - 2 / sqrt(pi), where the two cancel by the asymptotic series (DLMF 7.12.1).
DEVICE double erfcx_slope(double x) {
  if (x < 15)
    return 2 * x * erfcx(x) - TwoOverRootPi;
  double s = 1 / (2 * x * x), term = 1, sum = 0;
  for (int k = 1; k <= 15; k += 2) {
    term *= -k * s;
    sum += term;
  }
  return TwoOverRootPi * sum;
}

DEVICE double sign(double x) { return x < 0 ? -1 : 1; }

DEVICE double bessel(int n, double x, bool first) {
  double negative = n < 0 && n % 2 ? -1 : 1; // J(-n) = (-1)^n J(n)
  n = n < 0 ? -n : n;
  double value = first ? n == 0 ? j0(x) : n == 1 ? j1(x) : jn(n, x) : n == 0 ? y0(x) : n == 1 ? y1(x) : yn(n, x);
  return negative * value;
}
DEVICE double bessel_slope(int n, double x, bool first) { return (bessel(n - 1, x, first) - bessel(n + 1, x, first)) / 2; }

// x^y by x, and by y. At y = 0 and y = 1 the slope is known also where x is zero.
DEVICE double power_by_base(double x, double y) { return y == 0 ? 0 : y == 1 ? 1 : y * pow(x, y - 1); }
DEVICE double power_by_exponent(double x, double y) { return x == 0 && y >= 0 ? 0 : pow(x, y) * log(x); }

DEVICE double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

DEVICE double whole_quotient(double x, double y, bool nearest) {
  double rest = nearest ? remainder(x, y) : fmod(x, y);
  return rint((x - rest) / y);
}

} // namespace

// Circular and hyperbolic functions.
UNARY_SLOPE(sin, __nv_cos(x))
UNARY_SLOPE(cos, -__nv_sin(x))
UNARY_SLOPE(tan, 1 + square(__nv_tan(x)))
UNARY_SLOPE(asin, 1 / root((1 - x) * (1 + x)))
UNARY_SLOPE(acos, -1 / root((1 - x) * (1 + x)))
UNARY_SLOPE(atan, 1 / (1 + x * x))
UNARY_SLOPE(sinh, __nv_cosh(x))
UNARY_SLOPE(cosh, __nv_sinh(x))
UNARY_SLOPE(tanh, 1 / square(__nv_cosh(x)))
UNARY_SLOPE(asinh, 1 / hypot(1, x))
UNARY_SLOPE(acosh, 1 / (root(x - 1) * root(x + 1)))
UNARY_SLOPE(atanh, 1 / ((1 - x) * (1 + x)))
UNARY_SLOPE(sinpi, Pi *cospi(x))
UNARY_SLOPE(cospi, -Pi *sinpi(x))
UNARY_SLOPE(tanpi, Pi / square(cospi(x)))
BINARY_SLOPES(atan2, ratio(y, x * x + y * y), -ratio(x, x * x + y * y)) // of x over y

// Exponentials, logarithms, powers, roots.
UNARY_SLOPE(exp, exp(x))
UNARY_SLOPE(exp2, Ln2 *__nv_exp2(x))
UNARY_SLOPE(exp10, Ln10 *exp10(x))
UNARY_SLOPE(expm1, exp(x))
UNARY_SLOPE(log, 1 / x)
UNARY_SLOPE(log2, 1 / (x * Ln2))
UNARY_SLOPE(log10, 1 / (x * Ln10))
UNARY_SLOPE(log1p, 1 / (1 + x))
UNARY_SLOPE(sqrt, x == 0 ? 0.0 : 0.5 / root(x)) // at 0 that of the gradient, by convention
UNARY_SLOPE(rsqrt, -0.5 / (x * root(x)))
UNARY_SLOPE(cbrt, 1 / (3 * square(cbrt(x))))
UNARY_SLOPE(rcbrt, -1 / (3 * x * cbrt(x)))
BINARY_SLOPES(pow, power_by_base(x, y), power_by_exponent(x, y))
BINARY_SLOPES(powi, power_by_base(x, y), 0.0)
BINARY_SLOPES(ldexp, ldexp(1.0, int(y)), 0.0)
BINARY_SLOPES(scalbn, ldexp(1.0, int(y)), 0.0)
BINARY_SLOPES(scalbln, ldexp(1.0, int(y)), 0.0)

// Error functions, the normal distribution, the gamma function, Bessel functions.
UNARY_SLOPE(erf, TwoOverRootPi *exp(-x *x))
UNARY_SLOPE(erfc, -TwoOverRootPi *exp(-x *x))
UNARY_SLOPE(erfcx, erfcx_slope(x))
UNARY_SLOPE(erfinv, RootPiOver2 *exp(square(erfinv(x))))
UNARY_SLOPE(erfcinv, -RootPiOver2 *exp(square(erfcinv(x))))
UNARY_SLOPE(normcdf, OneOverRoot2Pi *exp(-0.5 * x * x))
UNARY_SLOPE(normcdfinv, Root2Pi *exp(0.5 * square(normcdfinv(x))))
UNARY_SLOPE(lgamma, digamma(x))
UNARY_SLOPE(tgamma, tgamma(x) * digamma(x))
UNARY_SLOPE(j0, bessel_slope(0, x, true))
UNARY_SLOPE(j1, bessel_slope(1, x, true))
UNARY_SLOPE(y0, bessel_slope(0, x, false))
UNARY_SLOPE(y1, bessel_slope(1, x, false))
BINARY_SLOPES(jn, 0.0, bessel_slope(int(x), y, true))
BINARY_SLOPES(yn, 0.0, bessel_slope(int(x), y, false))
UNARY_SLOPE(cyl_bessel_i0, cyl_bessel_i1(x))
UNARY_SLOPE(cyl_bessel_i1, x == 0 ? 0.5 : cyl_bessel_i0(x) - cyl_bessel_i1(x) / x)

// Distances: no slope at the origin.
BINARY_SLOPES(hypot, ratio(x, hypot(x, y)), ratio(y, hypot(x, y)))
FORMULA adgen_dual_norm3d(double x, double y, double z, double dx, double dy, double dz) {
  double r = norm3d(x, y, z);
  return times(ratio(x, r), dx) + times(ratio(y, r), dy) + times(ratio(z, r), dz);
}
FORMULA adgen_dual_norm4d(double x, double y, double z, double w, double dx, double dy, double dz, double dw) {
  double r = norm4d(x, y, z, w);
  return times(ratio(x, r), dx) + times(ratio(y, r), dy) + times(ratio(z, r), dz) + times(ratio(w, r), dw);
}
FORMULA adgen_dual_rhypot(double x, double y, double dx, double dy) {
  double r = hypot(x, y);
  return -adgen_dual_hypot(x, y, dx, dy) / (r * r);
}
FORMULA adgen_dual_rnorm3d(double x, double y, double z, double dx, double dy, double dz) {
  double r = norm3d(x, y, z);
  return -adgen_dual_norm3d(x, y, z, dx, dy, dz) / (r * r);
}
FORMULA adgen_dual_rnorm4d(double x, double y, double z, double w, double dx, double dy, double dz, double dw) {
  double r = norm4d(x, y, z, w);
  return -adgen_dual_norm4d(x, y, z, w, dx, dy, dz, dw) / (r * r);
}

// Remainders, signs, steps.
BINARY_SLOPES(fmod, 1.0, -whole_quotient(x, y, false))
BINARY_SLOPES(remainder, 1.0, -whole_quotient(x, y, true))
BINARY_SLOPES(fdim, x > y ? 1.0 : 0.0, x > y ? -1.0 : 0.0)
BINARY_SLOPES(copysign, sign(copysign(1.0, x)) * sign(copysign(1.0, y)), 0.0)
BINARY_SLOPES(nextafter, 1.0, 0.0)
UNARY_SLOPE(saturate, x >= 0 && x <= 1 ? 1.0 : 0.0)
FORMULA adgen_dual_fma(double x, double y, double z, double dx, double dy, double dz) { return times(y, dx) + times(x, dy) + dz; }
#define STEP(NAME)                                                                                                 \
  FORMULA adgen_dual_##NAME(double, double) { return 0; }
STEP(floor) STEP(ceil) STEP(trunc) STEP(round) STEP(rint) STEP(nearbyint) STEP(roundeven) STEP(logb)
