#include "moved.h"

#define KERNEL(NAME, T, N)                                                                                             \
    __global__ void NAME##_of_##N(const T *x, T *out, int n)                                                           \
    {                                                                                                                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i < n)                                                                                                     \
            out[i] = NAME<T, N>(x + N * i);                                                                            \
    }
KERNELS(KERNEL)
