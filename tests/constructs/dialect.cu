// What nvcc reads and clang does not.
#include "element.h"
#include "dialect.h"

#if __CUDACC__ && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1200
template <int Count> __global__ void guarded(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    register float sum = 0;
    for (register int k = 0; k < Count; ++k) sum += x[i] * x[i];
    y[i] = sum;
}
#endif

__global__ void with_atomics_of_nvcc(const float *x, int *counts, float *sum, float *y, int n)
{
    MY_ELEMENT(n);
    __nv_atomic_fetch_add(&counts[i], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (__nv_atomic_load_n(&counts[i], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) > 0)
        __nv_atomic_add(&sum[i % 4], x[i] * x[i], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_store_n(&y[i], 3 * x[i], __NV_ATOMIC_RELEASE);
}

__global__ void with_no_numbers(const double *x, const float *w, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] > 0 ? x[i] * x[i] * w[i] : isnan(x[i]) ? nan("") : double(nanf(""));
}

__global__ void beside_a_header(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = smaller(x[i] * x[i], 100.0f);
}

struct Built {
    float value, weight;
    __device__ Built() : value(0), weight(1) {}
    __device__ Built(float v, float w) : value(v), weight(w) {}
};

__global__ void with_built_tiles(const float *x, float *y, int n)
{
    __shared__ Built tile[2 * 32], first;
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = i < n ? Built(x[i], x[i] + 1) : Built();
    if (t == 0) first = tile[0];
    __syncthreads();
    const Built &beside = tile[(t + 1) % blockDim.x];
    if (i < n) y[i] = tile[t].value * beside.weight + beside.value * first.weight;
}

__global__ void needs_a_macro(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * ADGEN_TEST_WIDTH;
}

static void run(const Tensor &x, const float *given, float *y, int n)
{
    check(x);
    guarded<3><< <blocks(n), max(n, 32)>> >(given, y, n);
}

__global__ void asserts_without_header(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    assert(i < 1 << 20);
    if (i < 0) printf("%d\n", i);
    y[i] = x[i] * x[i];
}

__global__ void last_uses(const float *x, const float4 *v, float *y, int n)
{
    MY_ELEMENT(n);
    const float4 f = __ldlu(&v[i]);
    y[i] = __ldca(x + i) * f.y + f.w;
}
