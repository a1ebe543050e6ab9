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

// The thread that draws the ticket adds up at once.
__global__ void last_thread_sums(const float *x, float *partial, float *total, int n)
{
    const int i = blockIdx.x;
    if (threadIdx.x == 0) {
        partial[i] = x[i] * x[i];
        __threadfence();
        if (atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1) {
            float sum = 0;
            for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
            *total = sum;
        }
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
