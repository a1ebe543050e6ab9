// The natural logarithm of every element.
#include "each.cuh"

template <typename T>
__global__ void logarithm(const T *__restrict__ a, T *__restrict__ out, int n)
{
    each(n, a, out, [](T x) { return log(x); });
}
