// Thrust's own takes numbers apart by their bits, for arguments near overflow; this is the same elsewhere.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> cosh(const complex<T> &z)
{
    return complex<T>(std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> cos(const complex<T> &z) { return thrust::cosh(complex<T>(-z.imag(), z.real())); }
THRUST_NAMESPACE_END
