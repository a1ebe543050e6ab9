// Shared memory that is used for several purposes: integers at one time and floating point at another.
#include "element.h"

__global__ void integers_then_numbers(const float *x, const int *k, float *y, int n)
{
    __shared__ int room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? k[i] : 0;
    __syncthreads();
    const int other = room[31 - t];
    __syncthreads();
    float *numbers = (float *)room;
    numbers[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = numbers[(t + other) % 32] * x[i];
}

__global__ void numbers_then_integers(const double *x, const int *k, double *y, int n)
{
    __shared__ double room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? x[i] * x[i] : 0.0;
    __syncthreads();
    const double v = room[(t + 7) % 32];
    __syncthreads();
    int *counts = (int *)room;
    counts[t] = i < n ? k[i] : 0;
    __syncthreads();
    if (i < n) y[i] = v * x[i] * counts[31 - t];
}

__global__ void in_turns(const float *x, const int *k, float *y, int n)
{
    __shared__ union {
        int places[32];
        float numbers[32];
    } room;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? x[i] : 0.0f;
    for (int step = 0; step < 3; ++step) {
        room.places[t] = i < n ? k[i] + step : 0;
        __syncthreads();
        const int other = room.places[31 - t];
        __syncthreads();
        room.numbers[t] = v * v;
        __syncthreads();
        v = room.numbers[(t + other) % 32] * (i < n ? x[i] : 1.0f);
        __syncthreads();
    }
    if (i < n) y[i] = v;
}

__global__ void carved_by_offsets(const float *x, const int *k, float *y, int n)
{
    __shared__ char raw[32 * (sizeof(int) + sizeof(double) + sizeof(float))];
    int *places = (int *)raw;
    double *wide = (double *)(raw + 32 * sizeof(int));
    float *narrow = (float *)(raw + 32 * (sizeof(int) + sizeof(double)));
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    places[t] = i < n ? k[i] : 0;
    wide[t] = i < n ? x[i] * x[i] : 0;
    narrow[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = wide[(t + places[31 - t]) % 32] * narrow[31 - t];
}

__global__ void copied_through_bytes(const float *x, float *y, int n)
{
    __shared__ char raw[32 * sizeof(float)];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const float mine = i < n ? x[i] : 0;
    memcpy(raw + t * sizeof(float), &mine, sizeof(float));
    __syncthreads();
    float other, next;
    memcpy(&other, raw + (31 - t) * sizeof(float), sizeof(float));
    memcpy(&next, raw + (t + 1) % 32 * sizeof(float), sizeof(float));
    if (i < n) y[i] = other * mine * next;
}

__global__ void bytes_then_numbers(const float *x, const unsigned char *k, float *y, int n)
{
    extern __shared__ unsigned char bytes[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    bytes[t] = i < n ? k[i] : 0;
    __syncthreads();
    const int other = bytes[31 - t];
    __syncthreads();
    float *numbers = (float *)bytes;
    numbers[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = numbers[(t + other) % 32] * x[i];
}

__global__ void counted_then_summed(const float *x, const int *k, float *y, int n)
{
    __shared__ unsigned counts[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    counts[t] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&counts[k[i] % 32], 1u);
    __syncthreads();
    const unsigned mine = counts[t];
    __syncthreads();
    float *sums = reinterpret_cast<float *>(counts);
    sums[t] = i < n ? x[i] * mine + x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int s = 16; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = sums[0];
}

__global__ void scanned_then_summed(const float *x, const int *k, float *y, int n)
{
    extern __shared__ float pool[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int *counts = (int *)pool;
    for (int j = t; j < 32; j += blockDim.x) counts[j] = i < n ? k[i] % 5 : 0;
    __syncthreads();
    for (int s = 1; s < 32; s *= 2) {
        const int before = t >= s ? counts[t - s] : 0;
        __syncthreads();
        counts[t] += before;
        __syncthreads();
    }
    const int place = counts[t];
    __syncthreads();
    pool[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int s = 16; s > 0; s /= 2) {
        if (t < s) pool[t] += pool[t + s];
        __syncthreads();
    }
    if (i < n) y[i] = pool[0] * x[i] * place;
}

__global__ void sorted_then_gathered(const float *x, const int *k, float *y, int n)
{
    __shared__ int keys[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float total = 0;
    for (int round = 0; round < 2; ++round) {
        keys[t] = i < n ? k[i] * 32 + t : 1 << 20;
        __syncthreads();
        for (int size = 2; size <= 32; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2) {
                const int other = t ^ stride;
                if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
                    const int kept = keys[t];
                    keys[t] = keys[other];
                    keys[other] = kept;
                }
                __syncthreads();
            }
        const int from = keys[t] % 32;
        __syncthreads();
        float *values = (float *)keys;
        values[t] = i < n ? x[i] * (x[i] + round) : 0.0f;
        __syncthreads();
        total += values[from] * (t + 1);
        __syncthreads();
    }
    if (i < n) y[i] = total * x[i];
}

// Numbers over which integers are written are gone, also where a number is read again.
__global__ void cleared_as_integers(const float *x, float *y, int n)
{
    __shared__ float room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    const float v = room[31 - t];
    __syncthreads();
    if (t % 3 == 0) ((int *)room)[t] = 0x3f800000;
    __syncthreads();
    const int bits = ((int *)room)[t / 3 * 3];
    if (i < n) y[i] = room[(t + 7) % 32] * v + (bits % 5) * v;
}

__global__ void cleared_as_vectors(const float *x, const int *k, float *y, int n)
{
    __shared__ __align__(16) float room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    const float v = room[31 - t];
    __syncthreads();
    if (t < 4) ((int4 *)room)[t] = make_int4(1, 2, 3, k[t]);
    __syncthreads();
    const int count = t < 16 ? ((int *)room)[t] : 3;
    __syncthreads();
    room[t] = t < 16 ? count * v : v * 2;
    __syncthreads();
    if (i < n) y[i] = room[(t + 1) % 32] * x[i];
}

__global__ void bits_where_integers_were(const float *x, const int *k, float *y, int n)
{
    __shared__ int room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? k[i] : 0;
    __syncthreads();
    const int count = room[31 - t];
    __syncthreads();
    room[t] = __float_as_int(i < n ? x[i] * x[i] : 0.0f);
    __syncthreads();
    if (i < n) y[i] = ((float *)room)[31 - t] * count;
}

__global__ void two_kinds_of_numbers(const double *x, float *y, int n)
{
    __shared__ double room[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? x[i] * x[i] : 0;
    __syncthreads();
    const double v = room[31 - t];
    __syncthreads();
    float *halves = (float *)room;
    halves[t] = v;
    __syncthreads();
    if (i < n) y[i] = halves[(t + 5) % 32];
}

struct Node {
    int key;
    float value;
};

__global__ void union_of_structs(const float *x, const int *k, float *y, int n)
{
    __shared__ union {
        Node nodes[32];
        double sums[32];
    } room;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room.nodes[t].key = i < n ? k[i] : 0;
    room.nodes[t].value = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    const int key = room.nodes[31 - t].key;
    const float value = room.nodes[31 - t].value;
    __syncthreads();
    room.sums[t] = value * 0.5;
    __syncthreads();
    if (i < n) y[i] = room.sums[(t + key) % 32] * x[i];
}

__device__ unsigned sum_of_warp(unsigned value)
{
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void counts_where_floats_were(const float *x, float *y, float *weight, int each)
{
    extern __shared__ float room[];
    float *mine = room + threadIdx.x * (each + 1);
    for (int k = 0; k < each; k++) mine[k] = x[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
    for (int k = 0; k + 1 < each; k++) mine[k] *= mine[k + 1];
    for (int k = 0; k < each; k++) y[(blockIdx.x * each + k) * blockDim.x + threadIdx.x] = mine[k] * mine[k];
    __syncthreads();
    unsigned *counts = (unsigned *)room;
    unsigned count = sum_of_warp(threadIdx.x % 3 == 0);
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;
    __syncthreads();
    count = threadIdx.x < blockDim.x / 32 ? counts[threadIdx.x] : 0;
    if (threadIdx.x < 32) count = sum_of_warp(count);
    if (threadIdx.x == 0) weight[blockIdx.x] = 1.0f / count;
}

__global__ void sorted_with_their_places(const float *x, float *y)
{
    __shared__ unsigned long long keys[32];
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    keys[t] = (unsigned long long)__float_as_uint(x[first + t]) << 32 | t;
    __syncthreads();
    for (int size = 2; size <= 32; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int other = t ^ step;
            if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
                const unsigned long long key = keys[t];
                keys[t] = keys[other];
                keys[other] = key;
            }
            __syncthreads();
        }
    y[first + t] = (t + 1) * x[first + (int)(keys[t] & 31)];
}

__global__ void ordered_in_local_memory(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long keys[8];
    const int count = n / 5;
    for (int k = 0; k < count; k++) {
        const unsigned long long key = (unsigned long long)__float_as_uint(x[(i + 5 * k) % n]) << 32 | k;
        int at = k;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
    float sum = 0;
    for (int k = 0; k < count; k++) sum = 0.5f * sum + x[(i + 5 * (int)(unsigned)keys[k]) % n] * sum + x[i];
    y[i] = sum;
}
