// Numbers of a warp that are taken away from all, which nothing depends on, also where several are the largest.
#include <cuda_fp16.h>

template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <> __device__ inline float larger(float a, float b) { return fmaxf(a, b); }

template <class T> __global__ void softmax(const T *x, T *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = x[i], most = v;
    for (int apart = 16; apart; apart /= 2)
        most = larger(most, __shfl_xor_sync(~0u, most, apart));
    T e = exp(v - most), sum = e;
    for (int apart = 1; apart < 32; apart *= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    y[i] = e / sum;
}

template __global__ void softmax(const float *, float *);
template __global__ void softmax(const double *, double *);

// Of several numbers a lane, in memory until it is unrolled.
__global__ void softmax_of_halves(const __half *x, float *y)
{
    float own[4], most[1] = {-INFINITY}, sum[1] = {0};
#pragma unroll
    for (int k = 0; k < 4; ++k)
        own[k] = __half2float(x[32 * k + threadIdx.x]);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        most[0] = most[0] < own[k] ? own[k] : most[0];
#pragma unroll
    for (int apart = 16; apart; apart /= 2) {
        float other = __shfl_xor_sync(~0u, most[0], apart);
        most[0] = most[0] < other ? other : most[0];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        sum[0] += own[k] = expf(own[k] - most[0]);
#pragma unroll
    for (int apart = 16; apart; apart /= 2)
        sum[0] += __shfl_xor_sync(~0u, sum[0], apart);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        y[32 * k + threadIdx.x] = own[k] / sum[0];
}

// Largest numbers and sums relative to them, which are chosen together: what a lane has fits together.
template <bool ByCondition> __global__ void merged_softmax(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v, sum = 1;
    for (int apart = 16; apart; apart /= 2) {
        float other = __shfl_xor_sync(~0u, most, apart), others = __shfl_xor_sync(~0u, sum, apart);
        if (ByCondition) {
            bool own = most > other;
            float less = own ? other : most;
            sum = (own ? sum : others) + (own ? others : sum) * expf(less - (own ? most : other));
            most = own ? most : other;
        } else {
            sum = other > most ? sum * expf(most - other) + others : sum + others * expf(other - most);
            most = fmaxf(most, other);
        }
    }
    y[i] = expf(v - most) / sum;
}

template __global__ void merged_softmax<true>(const float *, float *);
template __global__ void merged_softmax<false>(const float *, float *);

// Halves, absolute values, bits, and lanes that are told by their numbers.
struct Half {
    static __device__ float larger(float most, int apart)
    {
        __half own = __float2half(most);
        return __half2float(__hmax(own, __shfl_xor_sync(~0u, own, apart)));
    }
};

struct HalfChoice {
    static __device__ float larger(float most, int apart)
    {
        __half own = __float2half(most), other = __shfl_xor_sync(~0u, own, apart);
        own = own > other ? own : other;
        return __half2float(own);
    }
};

struct HalfPair {
    static __device__ float larger(float most, int apart)
    {
        __half2 own = __floats2half2_rn(most, -most);
        return __low2float(__hmax2(own, __shfl_xor_sync(~0u, own, apart)));
    }
};

struct Magnitude {
    static __device__ float larger(float most, int apart)
    {
        return fmaxf(fabsf(most), fabsf(__shfl_xor_sync(~0u, most, apart)));
    }
};

struct Bits {
    static __device__ float larger(float most, int apart)
    {
        float other = __int_as_float(__shfl_xor_sync(~0u, __float_as_int(most), apart));
        return other > most ? other : most;
    }
};

struct ByNumber {
    static __device__ float larger(float most, int apart)
    {
        return fmaxf(most, __shfl_sync(~0u, most, (threadIdx.x & 31) ^ apart));
    }
};

struct Around {
    static __device__ float larger(float most, int apart)
    {
        return fmaxf(most, __shfl_sync(~0u, most, (threadIdx.x & 31) + 16 / apart)); // the nearest lane first
    }
};

template <class Exchange> __global__ void softmax_by(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v;
    for (int apart = 16; apart; apart /= 2)
        most = Exchange::larger(most, apart);
    float e = expf(v - most), sum = e;
    for (int apart = 1; apart < 32; apart *= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    y[i] = e / sum;
}

template __global__ void softmax_by<Half>(const float *, float *);
template __global__ void softmax_by<HalfChoice>(const float *, float *);
template __global__ void softmax_by<HalfPair>(const float *, float *);
template __global__ void softmax_by<Magnitude>(const float *, float *);
template __global__ void softmax_by<Bits>(const float *, float *);
template __global__ void softmax_by<ByNumber>(const float *, float *);
template __global__ void softmax_by<Around>(const float *, float *);

__global__ void softmax_by_fours(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v;
    for (int apart = 1; apart < 16; apart *= 4) {
        float own = most;
        for (int k = 1; k < 4; ++k)
            most = fmaxf(most, __shfl_xor_sync(~0u, own, k * apart));
    }
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 16));
    float e = expf(v - most), sum = e;
    for (int apart = 1; apart < 32; apart *= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    y[i] = e / sum;
}

// Each lane reads those of all, after its own.
__global__ void softmax_by_all(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v, sum = 0;
    for (int lane = 0; lane < 32; ++lane)
        most = fmaxf(most, __shfl_sync(~0u, v, lane));
    float e = expf(v - most);
    for (int lane = 0; lane < 32; ++lane)
        sum += __shfl_sync(~0u, e, lane);
    y[i] = e / sum;
}

// Of some lanes, each of which has the maximum of its own group alone.
template <int Lanes> __global__ void softmax_of_lanes(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v, sum = 0;
    for (int apart = Lanes / 2; apart; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, apart, Lanes));
    float e = expf(v - most);
    for (int k = 0; k < Lanes; ++k)
        sum += __shfl_sync(~0u, e, k, Lanes);
    y[i] = e / sum;
}

template __global__ void softmax_of_lanes<4>(const float *, float *);
template __global__ void softmax_of_lanes<8>(const float *, float *);
template __global__ void softmax_of_lanes<16>(const float *, float *);

// The same by numbers that go around the lanes, told by the width of the exchange or by the number of the lane.
template <int Lanes, bool ByWidth> __global__ void softmax_around_lanes(const float *x, float *y)
{
    const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float most = v, sum = 0;
    for (int k = 1; k < Lanes; ++k) {
        const int from = ByWidth ? lane + k : (lane & ~(Lanes - 1)) | ((lane + k) & (Lanes - 1));
        most = fmaxf(most, __shfl_sync(~0u, v, from, ByWidth ? Lanes : 32));
    }
    const float e = expf(v - most);
    sum = e;
    for (int k = 1; k < Lanes; k *= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    y[i] = e / sum;
}
template __global__ void softmax_around_lanes<4, true>(const float *, float *);
template __global__ void softmax_around_lanes<8, false>(const float *, float *);
template __global__ void softmax_around_lanes<16, true>(const float *, float *);
template __global__ void softmax_around_lanes<16, false>(const float *, float *);

// Rows of halves, two a group of lanes, of several numbers a lane: some are masked, and lanes behind the end have none.
template <class T> struct Larger {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T> struct Sum {
    __device__ T operator()(T a, T b) const { return a + b; }
};

template <class T, int Rows, int Lanes, template <class> class Operation> __device__ void reduce(T *of)
{
    Operation<T> both;
#pragma unroll
    for (int apart = Lanes / 2; apart; apart /= 2)
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            T other = __shfl_xor_sync(~0u, of[row], apart, Lanes);
            of[row] = both(of[row], other);
        }
}

template <int Lanes, int Each>
__global__ void masked_softmax(const __half *x, const unsigned char *masked, __half *y, int rows, int n)
{
    constexpr int Rows = 2;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * Rows, given = min(rows - first, Rows);
    float own[Rows][Each], most[Rows], sum[Rows] = {0};
#pragma unroll
    for (int row = 0; row < Rows; ++row)
#pragma unroll
        for (int k = 0; k < Each; ++k) {
            const int column = k * Lanes + threadIdx.x, at = (first + row) * n + column;
            own[row][k] = -INFINITY;
            if (column < (row < given ? n : 0))
                own[row][k] = masked[at] == 1 ? -10000.0f : __half2float(x[at]);
        }
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
        most[row] = own[row][0];
#pragma unroll
        for (int k = 1; k < Each; ++k)
            most[row] = most[row] > own[row][k] ? most[row] : own[row][k];
    }
    reduce<float, Rows, Lanes, Larger>(most);
#pragma unroll
    for (int row = 0; row < Rows; ++row)
#pragma unroll
        for (int k = 0; k < Each; ++k) {
            own[row][k] = expf(own[row][k] - most[row]);
            sum[row] += own[row][k];
        }
    reduce<float, Rows, Lanes, Sum>(sum);
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
        if (row >= given)
            break;
        const float kept = most[row] == -10000.0f ? 0 : 1; // of a row that is masked wholly nothing
#pragma unroll
        for (int k = 0; k < Each; ++k)
            if (int column = k * Lanes + threadIdx.x; column < n)
                y[(first + row) * n + column] = __float2half(own[row][k] * kept / sum[row]);
    }
}

template __global__ void masked_softmax<2, 1>(const __half *, const unsigned char *, __half *, int, int);
template __global__ void masked_softmax<8, 1>(const __half *, const unsigned char *, __half *, int, int);
template __global__ void masked_softmax<32, 2>(const __half *, const unsigned char *, __half *, int, int);
template __global__ void masked_softmax<32, 4>(const __half *, const unsigned char *, __half *, int, int);

// Maxima of a block, which threads find by what others have left in shared memory.
struct ByBits {
    static __device__ void largest(float *all, float &most, int t)
    {
        for (int apart = blockDim.x / 2; apart; apart /= 2) {
            all[t] = most;
            __syncthreads();
            most = fmaxf(most, all[t ^ apart]);
            __syncthreads();
        }
    }
};

struct InPlace {
    static __device__ void largest(float *all, float &most, int t)
    {
        all[t] = most;
        __syncthreads();
        for (int apart = blockDim.x / 2; apart; apart /= 2) {
            float other = all[t ^ apart];
            __syncthreads();
            all[t] = fmaxf(all[t], other);
            __syncthreads();
        }
        most = all[t];
    }
};

struct OfWarps {
    static __device__ void largest(float *all, float &most, int t)
    {
        for (int apart = 16; apart; apart /= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, apart));
        if (t % 32 == 0)
            all[t / 32] = most;
        __syncthreads();
        for (int k = 0; k < blockDim.x / 32; ++k)
            most = fmaxf(most, all[k]);
    }
};

struct FromEnd {
    static __device__ void largest(float *all, float &most, int t)
    {
        const int warps = blockDim.x / 32, warp = t / 32;
        for (int apart = 16; apart; apart /= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, apart));
        if (t % 32 == 0)
            all[warp] = most;
        __syncthreads();
        most = fmaxf(most, all[warps - 1 - warp]);
        __syncthreads();
        if (t % 32 == 0)
            all[warp] = most;
        __syncthreads();
        for (int k = 0; k < warps / 2; ++k)
            most = fmaxf(most, all[k]);
    }
};

template <class Search> __global__ void softmax_of_block(const float *x, float *y)
{
    __shared__ float all[128], terms[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], most = v, sum = 0;
    Search::largest(all, most, threadIdx.x);
    float e = terms[threadIdx.x] = expf(v - most);
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k)
        sum += terms[k];
    y[i] = e / sum;
}

template __global__ void softmax_of_block<ByBits>(const float *, float *);
template __global__ void softmax_of_block<InPlace>(const float *, float *);
template __global__ void softmax_of_block<OfWarps>(const float *, float *);
template __global__ void softmax_of_block<FromEnd>(const float *, float *);

// Of two that are equal each thread keeps its own: what is sorted is a permutation.
__global__ void sorted_halves(const float *x, float *y)
{
    int lane = threadIdx.x;
    __half own = __float2half(x[lane]);
    for (int k = 2; k <= 32; k *= 2)
        for (int apart = k / 2; apart; apart /= 2) {
            __half other = __shfl_xor_sync(~0u, own, apart);
            bool less = ((lane & k) == 0) == ((lane & apart) == 0);
            own = less ? __hmin(own, other) : __hmax(own, other);
        }
    y[lane] = __half2float(own);
}

// The same of floats, where the comparison is asked which of the two is to be kept.
__global__ void sorted_floats(const float *x, float *y)
{
    int lane = threadIdx.x;
    float own = x[lane];
    for (int k = 2; k <= 32; k *= 2)
        for (int apart = k / 2; apart; apart /= 2) {
            float other = __shfl_xor_sync(~0u, own, apart);
            bool less = ((lane & k) == 0) == ((lane & apart) == 0);
            own = (own > other) == less ? other : own;
        }
    y[lane] = own;
}

// Both of two numbers, of which one is the other one where they are equal.
__device__ void put_in_order(float &a, float &b)
{
    float less = fminf(a, b);
    b = fmaxf(a, b);
    a = less;
}

__global__ void sorted_in_registers(const float *x, float *y)
{
    float four[4];
    for (int k = 0; k < 4; ++k)
        four[k] = x[4 * threadIdx.x + k];
    put_in_order(four[0], four[1]), put_in_order(four[2], four[3]);
    put_in_order(four[0], four[2]), put_in_order(four[1], four[3]);
    put_in_order(four[1], four[2]);
    for (int k = 0; k < 4; ++k)
        y[4 * threadIdx.x + k] = four[k];
}

// The two largest of four.
__global__ void largest_two(const float *x, float *y)
{
    float first = -INFINITY, second = -INFINITY;
    for (int k = 0; k < 4; ++k) {
        float v = x[4 * threadIdx.x + k];
        second = fmaxf(second, fminf(first, v));
        first = fmaxf(first, v);
    }
    y[4 * threadIdx.x + 3] = first, y[4 * threadIdx.x + 2] = second;
}

// The largest of each eight numbers, which one lane needs: before the last exchange it is that of every second lane.
__global__ void largest_of_tiles(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned tile = 0xffu << (threadIdx.x & 24);
    float most = x[i];
    for (int apart = 4; apart; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(tile, most, apart, 8));
    if (i % 8 == 0) y[i / 8] = most;
}
