// Maxima and minima by atomics.
#include "element.h"

__device__ float cas_max(float *address, float value)
{
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void cas_max_float(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    cas_max(&largest[i % 2], x[i] * x[i]);
}

__device__ void cas_min(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address;
    unsigned long long old = *bits;
    while (value < __longlong_as_double(old)) {
        const unsigned long long assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value));
        if (old == assumed) break;
    }
}

__global__ void cas_min_double(const double *x, double *smallest, int n)
{
    MY_ELEMENT(n);
    cas_min(smallest, x[i] * x[i]);
}

__global__ void cas_max_read_first(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    const float mine = x[i] * x[i];
    unsigned *bits = (unsigned *)largest;
    unsigned found = __nv_atomic_load_n(bits, __NV_ATOMIC_RELAXED);
    while (mine > __uint_as_float(found)) {
        const unsigned assumed = found;
        if ((found = atomicCAS(bits, assumed, __float_as_uint(mine))) == assumed) break;
    }
}

__global__ void max_by_integer_bits(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    atomicMax((int *)largest, __float_as_int(x[i] * x[i]));
}

__device__ float max_of_either_sign(float *address, float value)
{
    return value >= 0 ? __int_as_float(atomicMax((int *)address, __float_as_int(value)))
                      : __uint_as_float(atomicMin((unsigned *)address, __float_as_uint(value)));
}

__global__ void max_by_bits_of_either_sign(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    max_of_either_sign(largest, x[i] - 1.0f);
}

__device__ double larger(double *address, double value)
{
    unsigned long long int *bits = (unsigned long long int *)address;
    unsigned long long int old = *bits, assumed;
    do {
        assumed = old;
        const double there = __longlong_as_double(assumed);
        old = atomicCAS(bits, assumed, __double_as_longlong(value > there ? value : there));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void cas_max_selected(const double *x, double *largest, int n)
{
    MY_ELEMENT(n);
    larger(largest + i % 3, x[i] * x[i]);
}

__global__ void maximum_of_blocks(const float *x, float *largest, int n)
{
    __shared__ float tile[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int s = 16; s > 0; s /= 2) {
        if (t < s) tile[t] = fmaxf(tile[t], tile[t + s]);
        __syncthreads();
    }
    if (t == 0) atomicMax((int *)largest, __float_as_int(tile[0]));
}

__global__ void maximum_asked_first(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    if (x[i] > *largest) atomicMax((int *)largest, __float_as_int(x[i]));
}

__device__ void cas_max_asked_first(float *address, float value)
{
    if (*address >= value) return;
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __float_as_int(value));
    } while (assumed != old);
}

__global__ void maximum_tried_last(const float *x, float *largest, int n)
{
    MY_ELEMENT(n);
    cas_max_asked_first(&largest[i % 2], x[i] * x[i]);
}

__device__ void cas_max_until_not_smaller(float *address, float value)
{
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __float_as_int(value));
    } while (assumed != old || __int_as_float(old) < value);
}

__device__ void cas_min_until_not_larger(float *address, float value)
{
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fminf(value, __int_as_float(assumed))));
    } while (old != assumed || __int_as_float(old) > value);
}

__global__ void extremes_tried_again(const float *x, float *largest, float *smallest, int n)
{
    MY_ELEMENT(n);
    cas_max_until_not_smaller(&largest[i % 2], x[i] * x[i]);
    cas_min_until_not_larger(&smallest[i % 2], x[i] * x[i]);
}

__global__ void maximum_in_shared_memory(const float *x, float *largest, int n)
{
    __shared__ float most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax((int *)&most, __float_as_int(x[i]));
    __syncthreads();
    if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

__global__ void maximum_of_bits_in_shared_memory(const float *x, float *y, int n)
{
    __shared__ int most[2];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 2) most[t] = 0;
    __syncthreads();
    if (i < n) atomicMax(&most[t % 2], __float_as_int(x[i] * x[i]));
    __syncthreads();
    if (i < n) y[i] = x[i] * __int_as_float(most[(t + 1) % 2]);
}

__global__ void softmax_of_rows(const float *x, float *y, int columns, int n)
{
    extern __shared__ float pool[];
    float *most = pool, *sum = pool + 1, *row = pool + 2;
    const int t = threadIdx.x;
    for (int from = blockIdx.x * columns; from < n; from += gridDim.x * columns) {
        if (t == 0) {
            *most = -1e30f;
            *sum = 0;
        }
        for (int j = t; j < columns; j += blockDim.x) row[j] = x[from + j] * x[from + j] - 1.0f;
        __syncthreads();
        for (int j = t; j < columns; j += blockDim.x) max_of_either_sign(most, row[j]);
        __syncthreads();
        for (int j = t; j < columns; j += blockDim.x) atomicAdd(sum, expf(row[j] - *most));
        __syncthreads();
        for (int j = t; j < columns; j += blockDim.x) y[from + j] = expf(row[j] - *most) / *sum * *most;
        __syncthreads();
    }
}

__global__ void minima_in_turns(const double *x, double *y, int n)
{
    __shared__ double least[1];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    double total = 0;
    for (int k = 0; k < 3; ++k) {
        if (t == 0) least[0] = 1e30;
        __syncthreads();
        if (i < n && (x[i] - k) * (x[i] - k) * (x[i] + 1) < least[0]) cas_min(least, (x[i] - k) * (x[i] - k) * (x[i] + 1));
        __syncthreads();
        total += least[0] * (k + 2);
        __syncthreads();
    }
    if (i < n) y[i] = total * x[i];
}

__global__ void maximum_then_sum(const float *x, float *y, int n)
{
    __shared__ float cell;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) cell = 0;
    __syncthreads();
    if (i < n) max_of_either_sign(&cell, x[i]);
    __syncthreads();
    const float largest = cell;
    __syncthreads();
    if (t == 0) cell = 0;
    __syncthreads();
    if (i < n) atomicAdd(&cell, x[i] * largest);
    __syncthreads();
    if (i < n) y[i] = cell * x[i];
}

__global__ void maximum_beside_integers(const float *x, float *y, int n)
{
    __shared__ struct {
        int count;
        double factor;
        int most;
    } room;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        room.count = 3;
        room.factor = 2;
        room.most = 0;
    }
    __syncthreads();
    if (i < n) atomicMax(&room.most, __float_as_int(x[i]));
    __syncthreads();
    if (i < n) y[i] = __int_as_float(room.most) * x[i] * room.count * room.factor;
}

__global__ void place_of_maximum(const float *x, float *y, int n)
{
    __shared__ unsigned long long best;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) best = 0;
    __syncthreads();
    if (i < n) atomicMax(&best, (unsigned long long)__float_as_uint(x[i] * x[i]) << 32 | i);
    __syncthreads();
    if (i < n) y[i] = x[i] * x[(unsigned)best];
}

__global__ void maximum_read_again(const float *x, float *largest, float *y, int n)
{
    MY_ELEMENT(n);
    atomicMax((int *)largest, __float_as_int(x[i]));
    y[i] = x[i] * *largest;
}

__global__ void maximum_without_barrier(const float *x, float *y, int n)
{
    __shared__ float most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    MY_ELEMENT(n);
    atomicMax((int *)&most, __float_as_int(x[i]));
    y[i] = most * x[i];
}
