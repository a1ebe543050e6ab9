// One array raised to the power of another, element by element.
#include "each.cuh"

template <typename T>
__global__ void power(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int n)
{
    each(n, a, b, out, [](T x, T y) { return pow(x, y); });
}
