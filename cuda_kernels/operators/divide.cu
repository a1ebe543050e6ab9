// The quotient of two arrays, element by element.
#include "each.cuh"

template <typename T>
__global__ void divide(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int n)
{
    each(n, a, b, out, [](T x, T y) { return x / y; });
}
