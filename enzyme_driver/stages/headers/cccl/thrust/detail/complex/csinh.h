// Thrust's own takes numbers apart by their bits, for arguments near overflow; this is half an exponential then.
#pragma once
#include <thrust/complex.h>
#include <thrust/detail/complex/cexp.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> sinh(const complex<T> &z)
{
    const T x = z.real(), c = std::cos(z.imag()), s = std::sin(z.imag()), size = std::fabs(x);
    if (detail::complex::adgen_is_large(size))
        return complex<T>(detail::complex::adgen_grown(size, x > 0 ? c / 2 : -c / 2), detail::complex::adgen_grown(size, s / 2));
    return complex<T>(std::sinh(x) * c, std::cosh(x) * s);
}
template <typename T> __host__ __device__ inline complex<T> sin(const complex<T> &z)
{
    const complex<T> turned = thrust::sinh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}
THRUST_NAMESPACE_END
