// A tridiagonal system a block: every equation does away with its neighbours', at distances that double.
#include <cuda_runtime.h>

template <typename Real>
__global__ void by_doubling(const Real *below, const Real *diagonal, const Real *above, const Real *right, Real *x, int n)
{
    extern __shared__ double memory[];
    Real *l = reinterpret_cast<Real *>(memory), *d = l + n, *u = d + n, *r = u + n;
    const int t = threadIdx.x;
    const size_t at = (size_t)blockIdx.x * n + t;
    l[t] = t ? below[at] : Real(0);
    d[t] = diagonal[at];
    u[t] = t + 1 < n ? above[at] : Real(0);
    r[t] = right[at];
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        const int lower = max(t - distance, 0), upper = min(t + distance, n - 1);
        const Real p = l[t] / d[lower], q = u[t] / d[upper];
        const Real new_l = -l[lower] * p, new_u = -u[upper] * q;
        const Real new_d = d[t] - u[lower] * p - l[upper] * q;
        const Real new_r = r[t] - r[lower] * p - r[upper] * q;
        __syncthreads();
        l[t] = new_l; d[t] = new_d; u[t] = new_u; r[t] = new_r;
        __syncthreads();
    }
    x[at] = r[t] / d[t];
}

template __global__ void by_doubling<float>(const float *, const float *, const float *, const float *, float *, int);
template __global__ void by_doubling<double>(const double *, const double *, const double *, const double *, double *, int);
