// Atomic operations, also those that people make of compare-and-swap.
#include "element.h"
#include <cuda/atomic>

__global__ void add_floats(const float *x, float *sum, int n)
{
    MY_ELEMENT(n);
    atomicAdd(sum, x[i] * x[i]);
}

__global__ void add_doubles(const double *x, double *sum, int n)
{
    MY_ELEMENT(n);
    atomicAdd(&sum[i % 3], x[i] * x[i]);
}

__global__ void add_vectors(const float2 *x, float2 *sum, float4 *sums, int n)
{
    MY_ELEMENT(n);
    atomicAdd(&sum[i % 2], make_float2(x[i].x * x[i].y, x[i].y));
    atomicAdd(&sums[i % 3], make_float4(x[i].x, x[i].y * x[i].y, 1.f, x[i].x * x[i].y));
}

__global__ void subtract(const float *x, const int *k, float *sum, int *count, int n)
{
    MY_ELEMENT(n);
    atomicAdd(sum, -x[i] * x[i]);
    atomicSub(count, k[i]);
}

__global__ void add_in_a_scope(const float *x, float *sum, int n)
{
    MY_ELEMENT(n);
    atomicAdd_block(&sum[blockIdx.x], x[i] * x[i]);
    atomicAdd_system(&sum[2], x[i]);
}

__global__ void integers_in_a_scope(const float *x, int *found, float *y, int n)
{
    MY_ELEMENT(n);
    atomicMax_system(&found[0], i);
    atomicOr_block(&found[1], 1 << i % 8);
    atomicExch_system(&found[2], 3);
    atomicCAS_system(&found[3], 0, 5);
    y[i] = x[i] * x[i] * atomicAdd_block(&found[4 + i], 2);
}

__global__ void integer_sums(const float *x, int *count, unsigned long long *total, float *y, int n)
{
    MY_ELEMENT(n);
    const int place = atomicAdd(count, 1);
    atomicAdd(total, (unsigned long long)place);
    y[i] = x[i] * x[i];
}

__global__ void compaction(const float *x, int *count, float *y, int n)
{
    MY_ELEMENT(n);
    if (x[i] > 1.0f) y[atomicAdd(count, 1)] = x[i] * x[i];
}

__global__ void integer_extremes(const float *x, const int *k, int *extremes, float *y, int n)
{
    MY_ELEMENT(n);
    atomicMax(&extremes[0], k[i]);
    atomicMin(&extremes[1], k[i]);
    y[i] = x[i] * x[i];
}

__global__ void integer_bits(const float *x, const int *k, unsigned *bits, float *y, int n)
{
    MY_ELEMENT(n);
    atomicOr(&bits[0], 1u << k[i]);
    atomicAnd(&bits[1], ~k[i]);
    atomicXor(&bits[2], k[i]);
    atomicInc(&bits[3], 100u);
    y[i] = x[i] * x[i];
}

__global__ void integer_exchange(const float *x, const int *k, int *slots, float *y, int n)
{
    MY_ELEMENT(n);
    const int before = atomicExch(&slots[i], k[i]);
    y[i] = x[i] * x[i] * (before + 1);
}

__global__ void hash_insertion(const float *x, const int *keys, int *table, float *sums, int slots, int n)
{
    MY_ELEMENT(n);
    int slot = (keys[i] * 7 + 3) % slots;
    while (true) {
        const int found = atomicCAS(&table[slot], -1, keys[i]);
        if (found == -1 || found == keys[i]) break;
        slot = (slot + 1) % slots;
    }
    atomicAdd(&sums[slot], x[i] * x[i]);
}

__global__ void flag_once(const float *x, int *flag, int *first, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
    if (atomicCAS(flag, 0, 1) == 0) *first = i;
}

__global__ void spin_lock(const float *x, int *lock, float *sum, int n)
{
    MY_ELEMENT(n);
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            sum[0] += x[i] * x[i];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Each element waits for two before it.
__global__ void waits_for_others(volatile float *sums, const int *before, int given, int n)
{
    const int i = given + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < 2; ++j) {
        float one = -1.0f;
        while (one < 0.0f) one = sums[before[2 * i + j]];
        sum += one * one;
    }
    sums[i] = sum;
}

__device__ unsigned finished;

__global__ void last_block_sums(const float *x, float *partial, float *total, int n)
{
    __shared__ float tile[32];
    __shared__ bool last;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int s = 16; s > 0; s /= 2) {
        if (t < s) tile[t] += tile[t + s];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        *total = sum;
    }
}

__global__ void exchanged_floats(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float before = atomicExch(&y[i], x[i] * x[i]);
    y[i] += before;
}

__global__ void value_before_the_sum(const float *x, float *sum, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = atomicAdd(&sum[i], x[i]) * x[i];
}

// ---- compare-and-swap on floats
__device__ double add_as_in_the_guide(double *address, double value)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void cas_add_double(const double *x, double *sum, int n)
{
    MY_ELEMENT(n);
    add_as_in_the_guide(sum, x[i] * x[i]);
}

__device__ void add_as_in_a_forum(float *address, float value)
{
    int *bits = (int *)address;
    int expected, seen = *bits;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __float_as_int(__int_as_float(expected) + value));
    } while (expected != seen);
}

__device__ void subtract_as_in_a_forum(float *address, float value)
{
    int *bits = (int *)address;
    int expected, seen = *bits;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __float_as_int(__int_as_float(expected) - value));
    } while (expected != seen);
}

__global__ void cas_add_float(const float *x, float *sum, int n)
{
    MY_ELEMENT(n);
    add_as_in_a_forum(&sum[i % 2], x[i] * x[i]);
    subtract_as_in_a_forum(&sum[i % 2], sinf(x[i]));
}

__global__ void cas_add_by_exchange(const float *x, float *sum, int n)
{
    MY_ELEMENT(n);
    float value = x[i] * x[i];
    while ((value = atomicExch(sum, atomicExch(sum, 0.0f) + value)) != 0.0f)
        ;
}

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

__device__ void multiply(float *address, float value)
{
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value * __int_as_float(assumed)));
    } while (assumed != old);
}

__global__ void cas_multiply(const float *x, float *product, int n)
{
    MY_ELEMENT(n);
    multiply(product, x[i]);
}

__global__ void atomic_reference(const float *x, float *sum, int *count, int n)
{
    MY_ELEMENT(n);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(x[i] * x[i]);
    cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(1);
}
