// Thrust's own takes numbers apart by their bits, for arguments near overflow; this is the same elsewhere.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> exp(const complex<T> &z)
{
    const T size = std::exp(z.real());
    return complex<T>(size * std::cos(z.imag()), size * std::sin(z.imag()));
}
THRUST_NAMESPACE_END
