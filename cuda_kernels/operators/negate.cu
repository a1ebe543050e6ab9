// An array with every sign changed.
#include "each.cuh"

template <typename T>
__global__ void negate(const T *__restrict__ a, T *__restrict__ out, int n)
{
    each(n, a, out, [](T x) { return -x; });
}
