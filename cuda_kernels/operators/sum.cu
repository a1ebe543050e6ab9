// Sums along an axis. The threads of a block add up strips, then what they have found, in shared memory; both extents of a
// block are powers of two.
#include "each.cuh"

constexpr int MOST = 1024;

// Down the rows: a block takes blockDim.x columns.
template <typename T>
__global__ void sum_rows(const T *__restrict__ a, T *__restrict__ out, int rows, int columns)
{
    __shared__ T parts[MOST];
    int column = blockIdx.x * blockDim.x + threadIdx.x, self = threadIdx.y * blockDim.x + threadIdx.x;
    T part = 0;
    if (column < columns)
        strided<8>(threadIdx.y, blockDim.y, rows, [&](int row) { part += a[row * columns + column]; });
    parts[self] = part;
    __syncthreads();
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if (threadIdx.y < half)
            parts[self] += parts[self + half * blockDim.x];
        __syncthreads();
    }
    if (threadIdx.y == 0 && column < columns)
        out[column] = parts[self];
}

// Along the columns: a block takes one row.
template <typename T>
__global__ void sum_columns(const T *__restrict__ a, T *__restrict__ out, int rows, int columns)
{
    __shared__ T parts[MOST];
    int row = blockIdx.x;
    T part = 0;
    strided(threadIdx.x, blockDim.x, columns, [&](int column) { part += a[row * columns + column]; });
    parts[threadIdx.x] = part;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[row] = parts[0];
}
