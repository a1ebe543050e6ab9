#define CALLED __device__
#include "annotated.h"

__global__ void each(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = both(x[i]);
}
