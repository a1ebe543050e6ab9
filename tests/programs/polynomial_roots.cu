// All roots of many cubics at once: Durand-Kerner on thrust's complex numbers; a real root by safeguarded Newton.
#include <cstdio>
#include <cuda_runtime.h>
#include <thrust/complex.h>

using thrust::complex;

__device__ complex<double> horner(const double *c, complex<double> z)
{
    complex<double> r = 1.0;
    for (int k = 2; k >= 0; --k)
        r = r * z + c[k];
    return r;
}

// monic cubics z^3 + c2 z^2 + c1 z + c0
__global__ void durand_kerner(const double *coefficients, double *real_parts, double *imaginary_parts, int n, int sweeps)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const double *c = coefficients + 3 * i;
    complex<double> z[3] = {{1.0, 0.0}, {0.4, 0.9}, {-0.65, 0.72}};
    for (int s = 0; s < sweeps; ++s)
        for (int k = 0; k < 3; ++k)
            z[k] -= horner(c, z[k]) / ((z[k] - z[(k + 1) % 3]) * (z[k] - z[(k + 2) % 3]));
    for (int k = 0; k < 3; ++k) {
        real_parts[3 * i + k] = z[k].real();
        imaginary_parts[3 * i + k] = z[k].imag();
    }
}

__global__ void newton(const double *coefficients, const double *guess, double *root, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const double *c = coefficients + 3 * i;
    double x = guess[i], low = -10.0, high = 10.0;
    for (int step = 0; step < 60; ++step) {
        const double p = ((x + c[2]) * x + c[1]) * x + c[0];
        const double d = (3.0 * x + 2.0 * c[2]) * x + c[1];
        if (p > 0.0) high = x; else low = x;
        double next = x - p / d;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        const bool done = fabs(next - x) < 1e-8;
        x = next;
        if (done) break;
    }
    // one more step, so that the derivative belongs to the root
    x -= (((x + c[2]) * x + c[1]) * x + c[0]) / ((3.0 * x + 2.0 * c[2]) * x + c[1]);
    root[i] = x;
}

int main()
{
    const int n = 128;
    double *c, *re, *im;
    cudaMallocManaged(&c, 3 * n * sizeof(double));
    cudaMallocManaged(&re, 3 * n * sizeof(double));
    cudaMallocManaged(&im, 3 * n * sizeof(double));
    for (int i = 0; i < 3 * n; ++i) c[i] = 0.5 + 0.01 * i;
    durand_kerner<<<1, n>>>(c, re, im, n, 20);
    cudaDeviceSynchronize();
    printf("%g %+gi\n", re[0], im[0]);
    return 0;
}
