// Functions of mathematics by the name that double has.
#pragma once
#include <adgen_torch.h>

namespace c10::cuda::compat {
#define ADGEN_OF_ONE(NAME)                                                                                             \
  __host__ __device__ inline float NAME(float x) { return ::NAME##f(x); }                                              \
  __host__ __device__ inline double NAME(double x) { return ::NAME(x); }
#define ADGEN_OF_TWO(NAME)                                                                                             \
  __host__ __device__ inline float NAME(float x, float y) { return ::NAME##f(x, y); }                                  \
  __host__ __device__ inline double NAME(double x, double y) { return ::NAME(x, y); }
ADGEN_OF_ONE(acos)
ADGEN_OF_ONE(asin)
ADGEN_OF_ONE(ceil)
ADGEN_OF_ONE(cos)
ADGEN_OF_ONE(erf)
ADGEN_OF_ONE(erfc)
ADGEN_OF_ONE(exp)
ADGEN_OF_ONE(expm1)
ADGEN_OF_ONE(floor)
ADGEN_OF_ONE(log)
ADGEN_OF_ONE(log1p)
ADGEN_OF_ONE(nearbyint)
ADGEN_OF_ONE(rsqrt)
ADGEN_OF_ONE(sin)
ADGEN_OF_ONE(sqrt)
ADGEN_OF_ONE(tan)
ADGEN_OF_ONE(tanh)
ADGEN_OF_TWO(copysign)
ADGEN_OF_TWO(pow)
#undef ADGEN_OF_ONE
#undef ADGEN_OF_TWO
__host__ __device__ inline float abs(float x) { return ::fabsf(x); }
__host__ __device__ inline double abs(double x) { return ::fabs(x); }
__host__ __device__ inline float max(float x, float y) { return ::fmaxf(x, y); }
__host__ __device__ inline double max(double x, double y) { return ::fmax(x, y); }
__host__ __device__ inline float min(float x, float y) { return ::fminf(x, y); }
__host__ __device__ inline double min(double x, double y) { return ::fmin(x, y); }
} // namespace c10::cuda::compat
