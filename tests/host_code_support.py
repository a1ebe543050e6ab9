"""A made-up CUDA file with kernels and much code of the host, which needs libraries that are not there."""

from __future__ import annotations

KERNELS = """
template <class T> __global__ void scale(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
__global__ void wave(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]) * x[i];
}
"""

_HEAD = """
#include <cstdio>
#include <vector>
#include <cublas_of_nobody.h>
#include <mpi_of_nobody.h>
"""

_FUNCTION = """
static blas_t handle_{0};
static int work_{0}(int n, const blas_tensor &input)
{{
    blas_t handle;
    BLAS_CHECK(blas_create(&handle));
    int first = blas_size(handle, n), second = first + 1;
    std::vector<float> data(n);
    for (int k = 0; k < first; ++k) {{
        data[k] = blas_value(handle, k) + second;
        if (data[k] > blas_limit) std::printf("%f\\n", data[k]);
    }}
    float *device = nullptr;
    cudaMalloc(&device, n * sizeof(float));
    scale<float><<<min(n, 32), 256>>>(device, device, n);
    int third = blas_last(handle, second);
    std::printf("%d %d\\n", third, MPI_Rank({0}));
    return third + work_of_nobody(handle_{0});
}}
"""

LINES = 20


def much_host_code(functions: int) -> str:
    """The kernels, and functions of `LINES` lines each, in which clang meets an error in most lines."""
    return _HEAD + KERNELS + "".join(_FUNCTION.format(number) for number in range(functions))
