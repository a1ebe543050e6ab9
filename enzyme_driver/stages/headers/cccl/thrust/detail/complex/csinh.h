// Thrust's own takes numbers apart by their bits, for arguments near overflow; this is the same elsewhere.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> sinh(const complex<T> &z)
{
    return complex<T>(std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag()));
}
template <typename T> __host__ __device__ inline complex<T> sin(const complex<T> &z)
{
    const complex<T> turned = thrust::sinh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}
THRUST_NAMESPACE_END
