// The exponential of every element.
#include "each.cuh"

template <typename T>
__global__ void exponential(const T *__restrict__ a, T *__restrict__ out, int n)
{
    each(n, a, out, [](T x) { return exp(x); });
}
