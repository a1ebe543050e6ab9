// What most kernels here begin with: one element a thread, and threads beyond the end have nothing to do.
#pragma once
#define MY_ELEMENT(n) \
    const int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (n)) return
