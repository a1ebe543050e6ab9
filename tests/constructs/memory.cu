// Where values lie: variables of the device, tables, pointers that are computed, stored and reinterpreted; arrays that are
// read and written, partly written, passed twice, or empty.
#include "element.h"
#include <cstdint>
#include <cstring>

__constant__ float constant_scalar;
__constant__ float constant_array[8];
__constant__ float4 constant_struct;
__device__ float device_scalar = 1.5f;
__device__ float device_array[64];
__device__ const float initialised[3] = {0.5f, 1.5f, -2.0f};
static __device__ int calls;

__global__ void constant_memory(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = constant_scalar * x[i] + constant_array[i % 8] * constant_struct.z;
}

__global__ void device_variables(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = device_scalar * x[i] + device_array[i] * initialised[i % 3];
}

__global__ void counts_calls(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    atomicAdd(&calls, 1);
    y[i] = x[i] * x[i];
}

__managed__ float managed_gain = 1.5f;

__global__ void managed_variable(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = managed_gain * x[i] * x[i];
}

__global__ void static_table(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    static const float nodes[4] = {0.1f, 0.4f, 0.7f, 0.9f};
    constexpr float weights[4] = {1, 2, 3, 4};
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += weights[k] * expf(nodes[k] * x[i]);
    y[i] = sum;
}

// ---- pointers
__global__ void restricted(const float *__restrict__ x, float *__restrict__ y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
}

__global__ void read_only_loads(const float *x, const float4 *v, const double *w, float *y, int n)
{
    MY_ELEMENT(n);
    const float4 f = __ldg(&v[i]);
    y[i] = __ldg(x + i) * f.y + float(__ldg(&w[i])) * f.w;
}

__global__ void cache_hints(const float *x, const float2 *v, float *y, int n)
{
    MY_ELEMENT(n);
    const float2 f = __ldcg(&v[i]);
    __stcg(&y[i], 0.0f);
    __stcs(&y[i], __ldcs(&x[i]) * f.x + f.y);
}

__global__ void volatile_memory(const volatile float *x, volatile float *y, int n)
{
    MY_ELEMENT(n);
    volatile float t = x[i] * 2.0f;
    y[i] = t * t;
}

__global__ void moving_pointers(const float *x, float *y, int rows, int columns)
{
    const float *row = x + blockIdx.x * columns;
    const float *const end = row + columns;
    float *out = &y[blockIdx.x];
    if (threadIdx.x) return;
    for (*out = 0; row != end; ++row) *out += *row * *row;
}

__global__ void stored_pointers(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float *neighbours[3] = {x + (i > 0 ? i - 1 : 0), x + i, x + (i + 1 < n ? i + 1 : i)};
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += (k + 1) * *neighbours[k] * *neighbours[k];
    y[i] = sum;
}

__global__ void swapped_pointers(float *a, float *b, int steps, int n)
{
    if (threadIdx.x || blockIdx.x) return;
    float *from = a, *to = b;
    for (int s = 0; s < steps; ++s) {
        for (int k = 1; k + 1 < n; ++k) to[k] = 0.5f * from[k] * from[k] + 0.25f * (from[k - 1] + from[k + 1]);
        float *t = from;
        from = to;
        to = t;
    }
}

__global__ void shifted_in_place(float *x, int n)
{
    if (threadIdx.x || blockIdx.x) return;
    for (int sweep = 0; sweep < 2; ++sweep)
        for (int k = 1; k + 1 < n; ++k) x[k] = 0.3f * x[k - 1] * x[k + 1] + 0.5f * x[k + 1] * x[k + 1];
}

__global__ void stack_of_intervals(const float *x, float *y, float longest)
{
    if (threadIdx.x || blockIdx.x) return;
    float stack[16] = {x[0], x[0] + x[1]}, sum = 0;
    for (int top = 2; top > 0;) {
        const float b = stack[--top], a = stack[--top], m = 0.5f * (a + b);
        if (b - a < longest || top > 10) {
            sum += sinf(a) * (b - a);
        } else {
            stack[top++] = a;
            stack[top++] = m;
            stack[top++] = m;
            stack[top++] = b;
        }
    }
    *y = sum;
}

__device__ void square_to(const float *__restrict__ from, float *__restrict__ to, int n)
{
    for (int k = 0; k < n; ++k) to[k] = from[k] * from[k] + 0.25f * from[(k + 1) % n];
}

__global__ void restricted_each_time(float *x, int steps, int n)
{
    if (threadIdx.x || blockIdx.x) return;
    for (int s = 0; s < steps; ++s) square_to(x + s % 3 * (n / 3), x + (s + 1) % 3 * (n / 3), n / 3);
}

__global__ void aliasing_views(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *left = x, *right = x + n / 2;
    if (i >= n / 2) return;
    left[i] *= right[i];
    right[i] = left[i] + x[i] * 0.5f;
}

__global__ void const_void(const void *raw, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i] * static_cast<const int *>(raw)[i];
}

__global__ void void_of_floats(const void *source, void *target, int n)
{
    MY_ELEMENT(n);
    static_cast<float *>(target)[i] = 2.0f * static_cast<const float *>(source)[i];
}

__global__ void pointers_to_pointers(const float *const *rows, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = rows[i][0] * rows[i][1];
}

// Rows of several lengths, read and written in place; a row that may be null.
__global__ void rows_in_place(float **rows, const int *const *order, const float *x, int count, int n)
{
    MY_ELEMENT(n);
    for (int k = 1; k < count; ++k) {
        const int source = order[k % 2][i] % n;
        if (rows[k]) rows[k][i] = rows[k][i] * x[source] + sinf(rows[0][i] * k);
    }
}

// All threads add to one row of a table.
__global__ void sums_into_rows(const float *x, double *const *sums, int n)
{
    MY_ELEMENT(n);
    double *row = sums[i % 3];
    atomicAdd(&row[i % 2], double(x[i]) * x[i]);
}

struct Planes {
    float **planes;
    const float *const *weights;
    int count;
};

__global__ void tables_in_a_struct(Planes image, float *y, int n)
{
    MY_ELEMENT(n);
    float product = 1.0f;
    for (int k = 0; k < image.count; ++k) {
        product *= image.planes[k][i] + image.weights[k][(i + k) % n] * y[i];
        image.planes[k][i] = product;
    }
}

__global__ void rows_swapped(float **rows, float *y, int n)
{
    MY_ELEMENT(n);
    if (i == 0) {
        float *first = rows[0];
        rows[0] = rows[1];
        rows[1] = first;
    }
    y[i] = rows[2][i];
}

__global__ void tables_of_tables(const float *const *const *blocks, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = blocks[0][1][i];
}

__global__ void bits_of_floats(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float magnitude = __int_as_float(__float_as_int(x[i]) & 0x7fffffff);
    uint32_t bits;
    memcpy(&bits, &x[i], 4);
    y[i] = magnitude * magnitude + (bits >> 31 ? 1.0f : 2.0f);
}

__global__ void bits_chosen_by_masks(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    union Word { float f; uint32_t bits; } low, high, one, mask, other;
    low.f = x[i];
    high.f = 0.5f * x[(i + 1) % n];
    mask.bits = low.f > high.f ? 0xffffffffu : 0;
    other.bits = (low.bits ^ high.bits) & mask.bits;
    low.bits ^= other.bits;
    high.bits ^= other.bits;
    mask.bits = uint32_t(__float_as_int(low.f - 0.3f) >> 31);
    one.f = 1.0f;
    one.bits = (low.bits & mask.bits) | (one.bits & ~mask.bits);
    y[i] = one.f * one.f + sinf(high.f);
}

__global__ void moved_as_words(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    int word = reinterpret_cast<const int *>(x)[i];
    reinterpret_cast<int *>(y)[i] = word;
    y[i] *= 3.0f;
}

__global__ void copied_by_memcpy(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float local[2];
    memcpy(local, &x[i / 2 * 2], sizeof local);
    local[0] *= local[1];
    memcpy(&y[i], &local[0], sizeof(float));
}

// ---- local memory
__global__ void local_arrays(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    float powers[6];
    powers[0] = 1;
    for (int k = 1; k < 6; ++k) powers[k] = powers[k - 1] * x[i];
    y[i] = powers[which] + powers[5 - which];
}

__global__ void local_matrix(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float a[3][3], b[3] = {1, 2, 3};
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) a[r][c] = x[(i + r * 3 + c) % n];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) b[r] += a[r][c] * b[(r + c) % 3];
    y[i] = b[0] * b[1] + b[2];
}

__global__ void from_the_heap(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float *work = static_cast<float *>(malloc(3 * sizeof(float)));
    for (int k = 0; k < 3; ++k) work[k] = x[i] * (k + 1);
    y[i] = work[0] * work[1] + work[2];
    free(work);
}

// ---- what a kernel does with its arrays
__global__ void in_place(float *x, int n)
{
    MY_ELEMENT(n);
    x[i] = sinf(x[i]) * x[i];
}

__global__ void accumulated(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] += x[i] * x[i];
}

__global__ void partly_written(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    if (i % 3 == 0) y[i] = x[i] * x[i];
}

__global__ void written_twice(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
    y[i] = y[i] * y[i] + x[i];
}

__global__ void both_read(const float *a, const float *b, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = a[i] * b[i];
}


__global__ void scattered(const float *x, const int *target, float *y, int n)
{
    MY_ELEMENT(n);
    atomicAdd(&y[target[i]], x[i] * x[i]);
}

__global__ void gathered(const float *x, const int *source, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[source[i]] * x[source[n - 1 - i]];
}

// ---- random numbers inside the kernel
__device__ float next_random(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * (1.0f / 16777216.0f);
}

__global__ void linear_congruential(const float *x, float *y, unsigned start, int n)
{
    MY_ELEMENT(n);
    unsigned state = start + i;
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += x[i] * x[i] * next_random(state);
    y[i] = sum;
}

__global__ void xorshift(const double *x, double *y, unsigned long long start, int n)
{
    MY_ELEMENT(n);
    unsigned long long s = start * (i + 1) + 88172645463325252ull;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    y[i] = x[i] * exp(x[i] * double(s >> 11) * 0x1p-53);
}

__global__ void empty_array(const float *x, const float *none, float *y, int n, int count)
{
    MY_ELEMENT(n);
    float sum = x[i] * x[i];
    for (int k = 0; k < count; ++k) sum += none[k];
    y[i] = sum;
}

// ---- the bits of floats as integers
__global__ void bits_that_stay_integers(const float *x, float *y, unsigned short *high, unsigned *bins, int n)
{
    MY_ELEMENT(n);
    const unsigned bits = __float_as_uint(x[i]);
    high[i] = (bits + 0x8000u) >> 16;
    atomicAdd(&bins[(bits * 2654435761u) >> 28], 1u);
    y[i] = x[i] * x[i];
}

__global__ void sorted_bits(const float *x, float *y, int n)
{
    __shared__ unsigned keys[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = __float_as_uint(x[i]);
    __syncthreads();
    for (int size = 2; size <= 32; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int other = t ^ step;
            const unsigned mine = keys[t], theirs = keys[other];
            __syncthreads();
            if (((mine > theirs) == ((t & size) == 0)) == (other > t)) keys[t] = theirs;
            __syncthreads();
        }
    if (i < n) y[i] = __uint_as_float(keys[t]) * (t + 1);
}

__global__ void summed_by_exponent(const float *x, float *sums, int n)
{
    MY_ELEMENT(n);
    atomicAdd(&sums[(__float_as_int(x[i]) >> 23) & 31], x[i] * x[i]);
}

// Where the thread's number goes if those whose digit is smaller go first; in a block of 32.
__device__ int place_by_digit(unsigned digit)
{
    __shared__ unsigned digits[32];
    const int t = threadIdx.x;
    digits[t] = digit;
    __syncthreads();
    int before = 0;
    for (int other = 0; other < 32; ++other) before += digits[other] < digit || (digits[other] == digit && other < t);
    __syncthreads();
    return before;
}

__global__ void sorted_by_digits(const float *x, float *y, int n)
{
    __shared__ unsigned keys[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < n ? __float_as_uint(x[i]) : 0x7f800000u;
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 8) {
        const unsigned mine = keys[t];
        const int place = place_by_digit((mine >> shift) & 255u);
        keys[place] = mine;
        __syncthreads();
    }
    if (i < n) y[i] = __uint_as_float(keys[t]) * (t + 1);
}

__device__ unsigned ordered(float v)
{
    const unsigned bits = __float_as_uint(v);
    return bits ^ (-(int)(bits >> 31) | 0x80000000u);
}

__global__ void sorted_by_ordered_digits(const float *x, float *y, int n)
{
    __shared__ unsigned keys[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = ordered(x[i]);
    __syncthreads();
    const unsigned mine = keys[t];
    const int place = place_by_digit(mine >> 24);
    keys[place] = mine;
    __syncthreads();
    const unsigned bits = keys[t];
    if (i < n) y[i] = __uint_as_float(bits ^ (((bits >> 31) - 1) | 0x80000000u));
}

__global__ void exponential_by_bits(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = __int_as_float((int)(12102203.0f * x[i]) + 1064866805);
}

__global__ void sorted_flipped_bits(const float *x, float *y, int n)
{
    __shared__ unsigned keys[32];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = __float_as_uint(x[i]) ^ 0x80000000u;
    __syncthreads();
    const unsigned larger = max(keys[t], keys[t ^ 1]);
    if (i < n) y[i] = __uint_as_float(larger ^ 0x80000000u);
}

__device__ void make(float x, float *to) { to[0] = x * x; to[1] = x; }

__global__ void null_or_given(const float *given, const float *x, float *room, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    const float *c;
    if (given != nullptr) {
        c = given + 2 * i;
    } else {
        make(x[i], room + 2 * i);
        c = room + 2 * i;
    }
    float s = 0.0f;
    for (int k = 0; k < 2; ++k) s += c[k] * c[k] * x[i];
    y[i] = c[0] * c[1] * s;
}

__global__ void null_offset(const float *offset, const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i] + (offset ? offset[i] * x[i] : 0.0f);
}
