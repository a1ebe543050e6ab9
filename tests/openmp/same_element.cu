// Several threads store the same value to one element: one store wins, and exactly one of them takes the cotangent.
#include <cuda_runtime.h>

__global__ void plain(const float *x, float *y) { y[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x]; }

__global__ void through_shared(const float *x, float *y)
{
    __shared__ float s[32];
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    float a = s[0] * s[blockDim.x - 1];
    y[blockIdx.x] = a;
}

__global__ void shared_same(const float *x, float *y)
{
    __shared__ float m;
    m = x[blockIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = m * m;
}

__global__ void block_sum(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k] * s[t];
        __syncthreads();
    }
    y[blockIdx.x] = s[0];
}

extern __shared__ float room[];

__global__ void dynamic(const float *__restrict__ x, float *__restrict__ y, float *__restrict__ z)
{
    room[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x] = room[blockDim.x - 1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        z[i] = 0;
    else
        z[i] = room[threadIdx.x - 1] * room[0];
}

__global__ void scanned(const float *__restrict__ x, float *__restrict__ y, int n)
{
    room[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    float c = room[threadIdx.x];
    for (int k = 1; k < n; k *= 2) {
        if (threadIdx.x >= k)
            c = room[threadIdx.x - k] + room[threadIdx.x] * 1.5f;
        __syncthreads();
        room[threadIdx.x] = c;
        __syncthreads();
    }
    y[blockIdx.x] = room[n - 1];
}

__global__ void before_a_branch(const float *x, float *y, float *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];
    if (threadIdx.x == 0)
        z[i] = 0;
    else
        z[i] = x[i];
}

__global__ void part_of_a_warp(const float *__restrict__ x, float *__restrict__ y, float *__restrict__ z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4)
        y[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];
    z[i] = x[i];
}

__global__ void warp_sums(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float s[4];
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffff, v, o);
    s[threadIdx.x / 32] = v;
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[0] * s[1] * x[threadIdx.x];
}

__global__ void in_a_loop(const double *x, double *y, int rounds)
{
    __shared__ double s[64];
    for (int r = 0; r < rounds; r++) {
        s[threadIdx.x] = x[r * blockDim.x + threadIdx.x] * (blockIdx.x + 1);
        __syncthreads();
        double sum = 0;
        for (unsigned k = 0; k < blockDim.x; k++)
            sum += s[k] * s[k];
        y[blockIdx.x * rounds + r] = sum;
        __syncthreads();
    }
}

__global__ void rows(const float *x, float *y, float *z) // all columns of a row store the row's sum, all rows the column's number
{
    __shared__ float s[8], c[8];
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x;
    float sum = 0;
    for (unsigned k = 0; k < blockDim.x; k++)
        sum += x[i + k];
    s[threadIdx.y] = sum;
    c[threadIdx.x] = x[blockIdx.x * blockDim.y * blockDim.x + threadIdx.x] * 2;
    __syncthreads();
    y[blockIdx.x * blockDim.y + threadIdx.y] = s[threadIdx.y] * s[0];
    z[blockIdx.x * blockDim.x + threadIdx.x] = c[threadIdx.x] * s[1];
}

__global__ void vectors(const float4 *x, float4 *y)
{
    float4 v = x[blockIdx.x];
    y[blockIdx.x] = make_float4(v.x * v.y, v.y * v.z, v.z * v.w, v.w * v.x);
}

struct Record {
    float value[9];
};

__global__ void records(const Record *x, Record *y)
{
    __shared__ Record r;
    r = x[blockIdx.x];
    __syncthreads();
    y[blockIdx.x] = r;
}

struct Arrays {
    const float *x;
    float *y;
};

__global__ void members(Arrays a)
{
    a.y[blockIdx.x] = a.x[blockIdx.x] * a.x[blockIdx.x + 1];
}

__global__ void in_place(const float *x, float *y)
{
    __shared__ float s;
    if (threadIdx.x == 0)
        s = x[blockIdx.x];
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        float v = s;
        __syncthreads();
        s = v * v + 0.25f;
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = s * x[threadIdx.x];
}

__global__ void overlapping(const float *x, float *y, int n) // neighbours load the same element
{
    __shared__ float s[33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = x[i] * x[i];
        s[threadIdx.x + 1] = x[i + 1] * x[i + 1];
    }
    __syncthreads();
    if (i < n)
        y[i] = s[threadIdx.x] * s[threadIdx.x + 1];
}

__global__ void by_all_blocks(const float *x, float *y, float *z)
{
    y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
    z[0] = x[0] * x[1];
}

__global__ void guarded(const float *x, float *y, int n) // along a second axis of the launch, of which nothing asks, again
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}

__global__ void normalised(const float *x, float *y, float *mean, float *scale, int n) // as layer norms are written
{
    __shared__ float sums[2];
    const float *row = x + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int k = 0; k < n; k++) {
        sum += row[k];
        squares += row[k] * row[k];
    }
    sums[0] = sum / n;
    sums[1] = rsqrtf(squares / n - sum / n * (sum / n) + 0.01f);
    __syncthreads();
    mean[blockIdx.x] = sums[0];
    scale[blockIdx.x] = sums[1];
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        y[blockIdx.x * n + k] = (row[k] - sums[0]) * sums[1];
}

__global__ void left_early(const float *x, float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float least = x[0];
    for (int k = 1; k < n; k++) {
        if (x[k] > 1.2f)
            break;
        least += x[k] * x[k];
        z[k] = least;
    }
    y[blockIdx.x] = least;
    if (i >= n)
        return;
    z[n + i] = least * x[i];
}

// A loop whose sweeps are fused: the cotangent is taken before it.
__global__ void after_a_loop(const float *__restrict__ x, float *__restrict__ y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[blockIdx.x * n + i] * x[blockIdx.x * n + i];
    y[blockIdx.x] = sum;
}

// Two stores of a thread that may be to one element.
__global__ void one_or_two(const float *__restrict__ x, float *__restrict__ y, int n, int first, int second)
{
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[i] * x[i];
    y[first] = sum;
    y[second] = sum * x[0];
}
