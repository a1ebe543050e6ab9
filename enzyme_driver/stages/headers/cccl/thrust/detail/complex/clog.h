// Thrust's own takes numbers apart by their bits, where the absolute value is near one.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> log(const complex<T> &z)
{
    const T x = std::fabs(z.real()), y = std::fabs(z.imag()), large = std::fmax(x, y), small = std::fmin(x, y);
    const bool near_one = large > T(0.5) && large < T(2);
    const T size = near_one ? T(0.5) * std::log1p((large - 1) * (large + 1) + small * small) : std::log(std::hypot(x, y));
    return complex<T>(size, std::atan2(z.imag(), z.real()));
}
template <typename T> __host__ __device__ inline complex<T> log10(const complex<T> &z) { return log(z) / T(2.30258509299404568402); }
THRUST_NAMESPACE_END
