// cuRAND's generators inside kernels, with the state made there or kept in memory.
#include "element.h"
#include <curand_kernel.h>

__global__ void philox(const float *x, float *y, unsigned long long start, int n)
{
    MY_ELEMENT(n);
    curandStatePhilox4_32_10_t state;
    curand_init(start, i, 0, &state);
    y[i] = x[i] * x[i] * curand_uniform(&state) + x[i] * curand_normal(&state);
}

__global__ void xorwow_initialise(curandState *states, unsigned long long start, int n)
{
    MY_ELEMENT(n);
    curand_init(start, i, 0, &states[i]);
}

__global__ void xorwow_in_memory(curandState *states, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    curandState local = states[i];
    y[i] = x[i] * x[i] * (0.5f + curand_uniform(&local));
    states[i] = local;
}
