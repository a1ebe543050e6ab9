// Thrust's own takes numbers apart by their bits.
#pragma once
#include <thrust/complex.h>
#include <cmath>
THRUST_NAMESPACE_BEGIN
template <typename T> __host__ __device__ inline complex<T> tanh(const complex<T> &z)
{
    const T x = z.real(), y = z.imag(), as_good_as_one = sizeof(T) == sizeof(float) ? 11 : 22;
    if (std::fabs(x) >= as_good_as_one) {
        const T rest = std::exp(-std::fabs(x));
        return complex<T>(std::copysign(T(1), x), 4 * std::sin(y) * std::cos(y) * rest * rest);
    }
    const T t = std::tan(y), secant = 1 + t * t, s = std::sinh(x), below = 1 + secant * s * s;
    return complex<T>(secant * std::sqrt(1 + s * s) * s / below, t / below);
}
template <typename T> __host__ __device__ inline complex<T> tan(const complex<T> &z)
{
    const complex<T> turned = thrust::tanh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}
THRUST_NAMESPACE_END
