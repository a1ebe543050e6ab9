// Gaussian mixtures with full covariances: responsibilities through packed Cholesky factors, log-likelihood summed by
// blocks, sufficient statistics by atomics. Dimension and number of components are template parameters.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

template <int D>
constexpr int packed() { return D * (D + 1) / 2; }

template <int D>
__device__ __host__ constexpr int at(int i, int j) { return i * (i + 1) / 2 + j; }

// log N(x; mu, L L^T)
template <typename Real, int D>
__device__ Real log_density(const Real *x, const Real *mu, const Real *L)
{
    Real z[D];
    Real quad = 0, logdet = 0;
    #pragma unroll
    for (int i = 0; i < D; i++) {
        Real s = x[i] - mu[i];
        #pragma unroll
        for (int j = 0; j < i; j++) s -= L[at<D>(i, j)] * z[j];
        z[i] = s / L[at<D>(i, i)];
        quad += z[i] * z[i];
        logdet += log(fabs(L[at<D>(i, i)]));
    }
    return Real(-0.5) * quad - logdet - Real(0.5 * 1.8378770664093453 * D);
}

template <typename Real, int K>
__device__ Real log_sum_exp(const Real (&v)[K])
{
    Real m = v[0];
    for (int k = 1; k < K; k++) m = v[k] > m ? v[k] : m;
    Real s = 0;
    for (int k = 0; k < K; k++) s += exp(v[k] - m);
    return m + log(s);
}

template <typename Real, int D, int K, int BLOCK>
__global__ void e_step(const Real *points, const Real *weight_logits, const Real *means, const Real *cholesky,
                       Real *resp, Real *loglik, int n)
{
    __shared__ Real s_mean[K * D];
    __shared__ Real s_chol[K * packed<D>()];
    __shared__ Real s_logw[K];
    __shared__ Real s_sum[BLOCK];

    int tid = threadIdx.x;
    for (int i = tid; i < K * D; i += BLOCK) s_mean[i] = means[i];
    for (int i = tid; i < K * packed<D>(); i += BLOCK) s_chol[i] = cholesky[i];
    if (tid < K) {
        Real m = weight_logits[0], s = 0;
        for (int k = 1; k < K; k++) m = max(m, weight_logits[k]);
        for (int k = 0; k < K; k++) s += exp(weight_logits[k] - m);
        s_logw[tid] = weight_logits[tid] - m - log(s);
    }
    __syncthreads();

    Real mine = 0;
    int i = blockIdx.x * BLOCK + tid;
    if (i < n) {
        Real x[D], lp[K];
        for (int d = 0; d < D; d++) x[d] = points[d * n + i];       // coalesced: dimension major
        for (int k = 0; k < K; k++)
            lp[k] = s_logw[k] + log_density<Real, D>(x, s_mean + k * D, s_chol + k * packed<D>());
        mine = log_sum_exp<Real, K>(lp);
        for (int k = 0; k < K; k++) resp[k * n + i] = exp(lp[k] - mine);
    }
    s_sum[tid] = mine;
    __syncthreads();
    #pragma unroll
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) s_sum[tid] += s_sum[tid + s];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(loglik, s_sum[0]);
}

// sums of r, r x and r x x^T; grid.y runs over components
template <typename Real, int D>
__global__ void statistics(const Real *points, const Real *resp, Real *s0, Real *s1, Real *s2, int n)
{
    const int k = blockIdx.y;
    Real a0 = 0, a1[D] = {}, a2[packed<D>()] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const Real r = resp[k * n + i];
        if (r < Real(1e-12)) continue;
        a0 += r;
        for (int d = 0; d < D; d++) {
            const Real xd = points[d * n + i];
            a1[d] += r * xd;
            for (int e = 0; e <= d; e++) a2[at<D>(d, e)] += r * xd * points[e * n + i];
        }
    }
    atomicAdd(&s0[k], a0);
    for (int d = 0; d < D; d++) atomicAdd(&s1[k * D + d], a1[d]);
    for (int c = 0; c < packed<D>(); c++) atomicAdd(&s2[k * packed<D>() + c], a2[c]);
}

template <typename Real, int D>
__global__ void m_step(const Real *s0, const Real *s1, const Real *s2, Real *means, Real *cholesky, Real ridge, int K)
{
    int k = threadIdx.x;
    if (k >= K) return;
    Real *mu = means + k * D, *L = cholesky + k * packed<D>();
    for (int d = 0; d < D; d++) mu[d] = s1[k * D + d] / s0[k];
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            Real s = s2[k * packed<D>() + at<D>(i, j)] / s0[k] - mu[i] * mu[j];
            if (i == j) s += ridge;
            for (int m = 0; m < j; m++) s -= L[at<D>(i, m)] * L[at<D>(j, m)];
            L[at<D>(i, j)] = i == j ? sqrt(s) : s / L[at<D>(j, j)];
        }
}

int main(int argc, char **argv)
{
    constexpr int D = 3, K = 4;
    const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
    std::vector<double> x(n * D);
    for (auto &v : x) v = std::rand() / double(RAND_MAX);
    double *dx, *logits, *mean, *chol, *resp, *ll, *s0, *s1, *s2;
    gpuErrchk(cudaMalloc(&dx, x.size() * sizeof(double)));
    gpuErrchk(cudaMalloc(&logits, K * sizeof(double)));
    gpuErrchk(cudaMalloc(&mean, K * D * sizeof(double)));
    gpuErrchk(cudaMalloc(&chol, K * packed<D>() * sizeof(double)));
    gpuErrchk(cudaMalloc(&resp, K * n * sizeof(double)));
    gpuErrchk(cudaMallocManaged(&ll, sizeof(double)));
    gpuErrchk(cudaMalloc(&s0, K * sizeof(double)));
    gpuErrchk(cudaMalloc(&s1, K * D * sizeof(double)));
    gpuErrchk(cudaMalloc(&s2, K * packed<D>() * sizeof(double)));
    gpuErrchk(cudaMemcpy(dx, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice));
    for (int iteration = 0; iteration < 20; iteration++) {
        *ll = 0;
        e_step<double, D, K, 128><<<(n + 127) / 128, 128>>>(dx, logits, mean, chol, resp, ll, n);
        statistics<double, D><<<dim3(16, K), 128>>>(dx, resp, s0, s1, s2, n);
        m_step<double, D><<<1, K>>>(s0, s1, s2, mean, chol, 1e-6, K);
        gpuErrchk(cudaPeekAtLastError());
        gpuErrchk(cudaDeviceSynchronize());
        std::cout << iteration << ' ' << *ll << '\n';
    }
    return 0;
}
