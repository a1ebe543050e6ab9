// Two clustering objectives on the same data: k-means (distance to the nearest centre) and a diagonal Gaussian mixture.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>
#include <cuda_runtime.h>

template <typename T, int D>
struct Point {
    T v[D];
};

template <typename T, int D>
__device__ T squared_distance(const Point<T, D> &a, const Point<T, D> &b)
{
    T sum = 0;
#pragma unroll
    for (int d = 0; d < D; ++d) {
        const T diff = a.v[d] - b.v[d];
        sum += diff * diff;
    }
    return sum;
}

template <typename T, int D>
__global__ void kmeans_cost(const Point<T, D> *points, const Point<T, D> *centres, int *label, T *cost, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T best = INFINITY;
    int nearest = -1;
    for (int c = 0; c < k; ++c) {
        const T d = squared_distance(points[i], centres[c]);
        if (d < best) {
            best = d;
            nearest = c;
        }
    }
    label[i] = nearest;
    atomicAdd(cost, best);
}

template <typename T, int D, int MaxK = 8>
__global__ void gmm_log_likelihood(const Point<T, D> *points, const Point<T, D> *means, const Point<T, D> *log_sigma,
                                   const T *logits, T *log_likelihood, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T normaliser = 0;
    for (int c = 0; c < k; ++c)
        normaliser += exp(logits[c]);
    T terms[MaxK];
    T largest = -INFINITY;
    for (int c = 0; c < k; ++c) {
        T e = logits[c] - log(normaliser);
        for (int d = 0; d < D; ++d) {
            const T z = (points[i].v[d] - means[c].v[d]) * exp(-log_sigma[c].v[d]);
            e -= T(0.5) * z * z + log_sigma[c].v[d] + T(0.9189385332046727);
        }
        terms[c] = e;
        largest = max(largest, e);
    }
    T sum = 0;
    for (int c = 0; c < k; ++c)
        sum += exp(terms[c] - largest);
    log_likelihood[i] = largest + log(sum);
}

template __global__ void kmeans_cost<float, 3>(const Point<float, 3> *, const Point<float, 3> *, int *, float *, int, int);

int main()
{
    using P = Point<double, 2>;
    const int n = 500, k = 3;
    std::vector<P> h(n);
    for (int i = 0; i < n; ++i)
        h[i] = {{std::sin(1.0 * i), std::cos(2.0 * i)}};
    P *points, *means, *sigma;
    double *logits, *ll;
    cudaMalloc(&points, n * sizeof(P));
    cudaMalloc(&means, k * sizeof(P));
    cudaMalloc(&sigma, k * sizeof(P));
    cudaMalloc(&logits, k * sizeof(double));
    cudaMalloc(&ll, n * sizeof(double));
    cudaMemcpy(points, h.data(), n * sizeof(P), cudaMemcpyHostToDevice);
    cudaMemcpy(means, h.data(), k * sizeof(P), cudaMemcpyHostToDevice);
    cudaMemset(sigma, 0, k * sizeof(P));
    cudaMemset(logits, 0, k * sizeof(double));
    gmm_log_likelihood<double, 2><<<(n + 127) / 128, 128>>>(points, means, sigma, logits, ll, n, k);
    double first;
    cudaMemcpy(&first, ll, sizeof first, cudaMemcpyDeviceToHost);
    printf("%f\n", first);
    return 0;
}
