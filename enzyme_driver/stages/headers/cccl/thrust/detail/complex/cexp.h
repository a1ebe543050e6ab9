// Thrust's own takes numbers apart by their bits, for arguments near overflow; here the exponential is the product of two then.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
namespace detail
{
namespace complex
{
template <typename T> __host__ __device__ inline bool adgen_is_large(T x) { return x > (sizeof(T) == sizeof(float) ? T(80) : T(700)); }

// exp(x) times a factor that may keep it from overflowing.
template <typename T> __host__ __device__ inline T adgen_grown(T x, T factor)
{
    if (!adgen_is_large(x))
        return std::exp(x) * factor;
    const T half = std::exp(x * T(0.5));
    return half * factor * half;
}
} // namespace complex
} // namespace detail
template <typename T> __host__ __device__ inline complex<T> exp(const complex<T> &z)
{
    return complex<T>(detail::complex::adgen_grown(z.real(), std::cos(z.imag())), detail::complex::adgen_grown(z.real(), std::sin(z.imag())));
}
THRUST_NAMESPACE_END
