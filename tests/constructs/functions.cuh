// A kernel in a header beside the file.
#pragma once
#include "element.h"

__global__ void kernel_in_header(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = logf(x[i]);
}
