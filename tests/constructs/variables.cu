// Variables of the device with a derivative: activity says which.
#include "element.h"

__constant__ float weights[8];
__constant__ float4 offset;
__device__ double state[64];

__global__ void constant_with_derivative(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = weights[i % 8] * x[i] * x[i] + offset.y * offset.w + float(state[i]);
}

__global__ void variable_written(const double *x, const float *w, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = state[i] * x[i] + w[i] * weights[0] + offset.z;
    state[i] = x[i] * x[i];
    y[i] += state[i] * x[i];
}
