// Every element where it is positive, zero elsewhere.
#include "each.cuh"

template <typename T>
__global__ void relu(const T *__restrict__ a, T *__restrict__ out, int n)
{
    each(n, [=](int i) { out[i] = a[i] > 0 ? a[i] : T(0); });
}
