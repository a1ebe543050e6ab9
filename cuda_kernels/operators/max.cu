// The largest element along an axis, of equal ones the first. The threads of a block look for its place; the element is read from there.
#include "each.cuh"

constexpr int MOST = 1024;

// Which of two places holds the larger element; -1 stands for none.
template <typename T>
__device__ int larger(const T *a, int one, int other)
{
    if (one < 0 || other < 0)
        return one < 0 ? other : one;
    return a[other] > a[one] || (a[other] == a[one] && other < one) ? other : one;
}

// The first largest element of those that a thread looks at, and its place.
template <typename T>
__device__ void keep_larger(const T *a, int at, int &place, T &most)
{
    T value = a[at];
    if (place < 0 || value > most) {
        place = at;
        most = value;
    }
}

// Down the rows: a block takes blockDim.x columns.
template <typename T>
__global__ void max_rows(const T *__restrict__ a, T *__restrict__ out, int rows, int columns)
{
    __shared__ int places[MOST];
    int column = blockIdx.x * blockDim.x + threadIdx.x, self = threadIdx.y * blockDim.x + threadIdx.x;
    int place = -1;
    T most = 0;
    if (column < columns)
        strided(threadIdx.y, blockDim.y, rows, [&](int row) { keep_larger(a, row * columns + column, place, most); });
    places[self] = place;
    __syncthreads();
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if (threadIdx.y < half)
            places[self] = larger(a, places[self], places[self + half * blockDim.x]);
        __syncthreads();
    }
    if (threadIdx.y == 0 && column < columns)
        out[column] = a[places[self]];
}

// Along the columns: a block takes one row.
template <typename T>
__global__ void max_columns(const T *__restrict__ a, T *__restrict__ out, int rows, int columns)
{
    __shared__ int places[MOST];
    int row = blockIdx.x, place = -1;
    T most = 0;
    strided(threadIdx.x, blockDim.x, columns, [&](int column) { keep_larger(a, row * columns + column, place, most); });
    places[threadIdx.x] = place;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            places[threadIdx.x] = larger(a, places[threadIdx.x], places[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[row] = a[places[0]];
}
