// libdevice for rules: its functions by name, and the same overloaded for float and double, for templates.
#pragma once

#define DEVICE __attribute__((device))

template <class T> using Vector2 = T __attribute__((ext_vector_type(2)));
template <class T> using Vector3 = T __attribute__((ext_vector_type(3)));
template <class T> using Vector4 = T __attribute__((ext_vector_type(4)));

using float2v = Vector2<float>;
using float3v = Vector3<float>;
using float4v = Vector4<float>;
using double2v = Vector2<double>;
using double3v = Vector3<double>;
using double4v = Vector4<double>;

// __nv_NAMEf for float and __nv_NAME for double; the parameters are given for a type T.
#define FUNCTION(NAME, PARAMETERS, ARGUMENTS)                                                                      \
  namespace libdevice::for_float {                                                                                 \
  extern "C" DEVICE float __nv_##NAME##f PARAMETERS;                                                                \
  }                                                                                                                \
  namespace libdevice::for_double {                                                                                \
  extern "C" DEVICE double __nv_##NAME PARAMETERS;                                                                  \
  }                                                                                                                \
  namespace libdevice::for_float {                                                                                 \
  DEVICE inline float NAME PARAMETERS { return __nv_##NAME##f ARGUMENTS; }                                          \
  }                                                                                                                \
  namespace libdevice::for_double {                                                                                \
  DEVICE inline double NAME PARAMETERS { return __nv_##NAME ARGUMENTS; }                                            \
  }

namespace libdevice::for_float {
using T = float;
}
namespace libdevice::for_double {
using T = double;
}
using namespace libdevice::for_float;
using namespace libdevice::for_double;

#define UNARY(NAME) FUNCTION(NAME, (T x), (x))
#define BINARY(NAME) FUNCTION(NAME, (T x, T y), (x, y))

UNARY(asin) UNARY(acos) UNARY(asinh) UNARY(acosh) UNARY(atanh) UNARY(exp) UNARY(exp10) UNARY(log) UNARY(rsqrt) UNARY(rint) UNARY(trunc) UNARY(cbrt) UNARY(rcbrt) UNARY(sinpi) UNARY(cospi)
UNARY(erfcx) UNARY(erfinv) UNARY(erfcinv) UNARY(normcdf) UNARY(normcdfinv) UNARY(lgamma) UNARY(tgamma)
UNARY(j0) UNARY(j1) UNARY(y0) UNARY(y1) UNARY(cyl_bessel_i0) UNARY(cyl_bessel_i1) UNARY(logb)
BINARY(fmax) BINARY(fmin) BINARY(atan2) BINARY(pow) BINARY(hypot) BINARY(rhypot) BINARY(fmod) BINARY(remainder) BINARY(fdim) BINARY(copysign) BINARY(nextafter)
FUNCTION(jn, (int n, T x), (n, x))
FUNCTION(yn, (int n, T x), (n, x))
FUNCTION(powi, (T x, int n), (x, n))
FUNCTION(ldexp, (T x, int n), (x, n))
FUNCTION(scalbn, (T x, int n), (x, n))
FUNCTION(frexp, (T x, int *exponent), (x, exponent))
FUNCTION(modf, (T x, T *whole), (x, whole))
FUNCTION(remquo, (T x, T y, int *quotient), (x, y, quotient))
FUNCTION(norm3d, (T x, T y, T z), (x, y, z))
FUNCTION(rnorm3d, (T x, T y, T z), (x, y, z))
FUNCTION(norm4d, (T x, T y, T z, T w), (x, y, z, w))
FUNCTION(rnorm4d, (T x, T y, T z, T w), (x, y, z, w))

extern "C" DEVICE float __nv_fast_exp10f(float);
extern "C" DEVICE float __nv_fast_powf(float, float);
extern "C" DEVICE float __nv_fast_fdividef(float, float);
extern "C" DEVICE float __nv_frsqrt_rn(float);
extern "C" DEVICE float __nv_saturatef(float);
extern "C" DEVICE float __nv_sqrtf(float);
extern "C" DEVICE double __nv_sqrt(double);

#define DIRECTED(OF, TYPE, FMA, MODE)                                                                              \
  extern "C" DEVICE TYPE __nv_##OF##add_##MODE(TYPE, TYPE);                                                         \
  extern "C" DEVICE TYPE __nv_##OF##sub_##MODE(TYPE, TYPE);                                                         \
  extern "C" DEVICE TYPE __nv_##OF##mul_##MODE(TYPE, TYPE);                                                         \
  extern "C" DEVICE TYPE __nv_##OF##div_##MODE(TYPE, TYPE);                                                         \
  extern "C" DEVICE TYPE __nv_##OF##rcp_##MODE(TYPE);                                                               \
  extern "C" DEVICE TYPE __nv_##OF##sqrt_##MODE(TYPE);                                                              \
  extern "C" DEVICE TYPE __nv_##FMA##_##MODE(TYPE, TYPE, TYPE);
#define DIRECTED_BOTH(MODE)                                                                                        \
  DIRECTED(f, float, fmaf, MODE)                                                                                   \
  DIRECTED(d, double, fma, MODE)                                                                                   \
  extern "C" DEVICE float __nv_fmaf_ieee_##MODE(float, float, float);                                               \
  extern "C" DEVICE float __nv_double2float_##MODE(double);
DIRECTED_BOTH(rz)
DIRECTED_BOTH(rd)
DIRECTED_BOTH(ru)
