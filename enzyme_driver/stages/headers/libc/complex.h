// Complex functions of C whose bodies can be seen; those of libm cannot be differentiated. Of C++, <complex> has its
// own.
#pragma once
#include_next <complex.h>
#include <math.h>

#define ADGEN_COMPLEX(REAL, SUFFIX)                                                                                    \
  static inline REAL adgen_carg##SUFFIX(REAL _Complex z) { return atan2##SUFFIX(__imag__ z, __real__ z); }             \
  static inline REAL adgen_cabs##SUFFIX(REAL _Complex z) { return hypot##SUFFIX(__real__ z, __imag__ z); }             \
  static inline REAL _Complex adgen_cexp##SUFFIX(REAL _Complex z) {                                                    \
    REAL r = exp##SUFFIX(__real__ z);                                                                                  \
    return __builtin_complex(r * cos##SUFFIX(__imag__ z), r * sin##SUFFIX(__imag__ z));                                \
  }                                                                                                                    \
  static inline REAL _Complex adgen_clog##SUFFIX(REAL _Complex z) {                                                    \
    return __builtin_complex(log##SUFFIX(adgen_cabs##SUFFIX(z)), adgen_carg##SUFFIX(z));                               \
  }                                                                                                                    \
  static inline REAL _Complex adgen_cpow##SUFFIX(REAL _Complex z, REAL _Complex w) {                                   \
    if (z == 0)                                                                                                        \
      return w == 0 ? 1 : 0 * w;                                                                                       \
    return adgen_cexp##SUFFIX(w * adgen_clog##SUFFIX(z));                                                              \
  }                                                                                                                    \
  static inline REAL _Complex adgen_csqrt##SUFFIX(REAL _Complex z) {                                                   \
    REAL x = __real__ z, y = __imag__ z, r = hypot##SUFFIX(x, y);                                                      \
    if (r == 0)                                                                                                        \
      return z;                                                                                                        \
    REAL t = sqrt##SUFFIX((r + fabs##SUFFIX(x)) / 2);                                                                  \
    return x > 0 ? __builtin_complex(t, y / (2 * t))                                                                   \
                 : __builtin_complex(fabs##SUFFIX(y) / (2 * t), copysign##SUFFIX(t, y));                               \
  }                                                                                                                    \
  static inline REAL _Complex adgen_csinh##SUFFIX(REAL _Complex z) {                                                   \
    REAL x = __real__ z, y = __imag__ z;                                                                               \
    return __builtin_complex(sinh##SUFFIX(x) * cos##SUFFIX(y), cosh##SUFFIX(x) * sin##SUFFIX(y));                      \
  }                                                                                                                    \
  static inline REAL _Complex adgen_ccosh##SUFFIX(REAL _Complex z) {                                                   \
    REAL x = __real__ z, y = __imag__ z;                                                                               \
    return __builtin_complex(cosh##SUFFIX(x) * cos##SUFFIX(y), sinh##SUFFIX(x) * sin##SUFFIX(y));                      \
  }                                                                                                                    \
  static inline REAL _Complex adgen_ctanh##SUFFIX(REAL _Complex z) {                                                   \
    REAL x = __real__ z, t = tanh##SUFFIX(x), y = __imag__ z, s = sin##SUFFIX(y), c = cos##SUFFIX(y);                  \
    REAL h = (1 - t) * (1 + t), below = c * c + t * t * s * s; /* no cosh, which overflows */                          \
    return __builtin_complex(t / below, h * s * c / below);                                                            \
  }                                                                                                                    \
  static inline REAL _Complex adgen_csin##SUFFIX(REAL _Complex z) {                                                    \
    REAL _Complex s = adgen_csinh##SUFFIX(__builtin_complex(-__imag__ z, __real__ z));                                 \
    return __builtin_complex(__imag__ s, -__real__ s);                                                                 \
  }                                                                                                                    \
  static inline REAL _Complex adgen_ccos##SUFFIX(REAL _Complex z) {                                                    \
    return adgen_ccosh##SUFFIX(__builtin_complex(-__imag__ z, __real__ z));                                            \
  }                                                                                                                    \
  static inline REAL _Complex adgen_ctan##SUFFIX(REAL _Complex z) {                                                    \
    REAL _Complex t = adgen_ctanh##SUFFIX(__builtin_complex(-__imag__ z, __real__ z));                                 \
    return __builtin_complex(__imag__ t, -__real__ t);                                                                 \
  }

ADGEN_COMPLEX(double, )
ADGEN_COMPLEX(float, f)
#undef ADGEN_COMPLEX
#define cexp(z) adgen_cexp(z)
#define cexpf(z) adgen_cexpf(z)
#define clog(z) adgen_clog(z)
#define clogf(z) adgen_clogf(z)
#define cpow(z, w) adgen_cpow(z, w)
#define cpowf(z, w) adgen_cpowf(z, w)
#define csqrt(z) adgen_csqrt(z)
#define csqrtf(z) adgen_csqrtf(z)
#define csinh(z) adgen_csinh(z)
#define csinhf(z) adgen_csinhf(z)
#define ccosh(z) adgen_ccosh(z)
#define ccoshf(z) adgen_ccoshf(z)
#define ctanh(z) adgen_ctanh(z)
#define ctanhf(z) adgen_ctanhf(z)
#define csin(z) adgen_csin(z)
#define csinf(z) adgen_csinf(z)
#define ccos(z) adgen_ccos(z)
#define ccosf(z) adgen_ccosf(z)
#define ctan(z) adgen_ctan(z)
#define ctanf(z) adgen_ctanf(z)
#define carg(z) adgen_carg(z)
#define cargf(z) adgen_cargf(z)
#define cabs(z) adgen_cabs(z)
#define cabsf(z) adgen_cabsf(z)
