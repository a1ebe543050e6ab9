// Every element where it is positive, zero elsewhere.
#include "each.cuh"

template <typename T>
__global__ void relu(const T *__restrict__ a, T *__restrict__ out, int n)
{
    each(n, a, out, [](T x) { return x > 0 ? x : T(0); });
}
