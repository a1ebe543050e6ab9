// Implicit diffusion on many rods: the Thomas algorithm, one system a thread, coefficients interleaved for coalescing.
#include <cstdio>
#include <cuda_runtime.h>

#define AT(v, k) v[(size_t)(k) * batch + id]

__global__ void thomas(const double *__restrict__ lower, const double *__restrict__ diag,
                       const double *__restrict__ upper, const double *__restrict__ rhs, double *__restrict__ x,
                       double *__restrict__ work, int n, int batch)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= batch)
        return;
    double beta = AT(diag, 0);
    AT(x, 0) = AT(rhs, 0) / beta;
    for (int k = 1; k < n; ++k) {
        AT(work, k) = AT(upper, k - 1) / beta;
        beta = AT(diag, k) - AT(lower, k) * AT(work, k);
        AT(x, k) = (AT(rhs, k) - AT(lower, k) * AT(x, k - 1)) / beta;
    }
    for (int k = n - 2; k >= 0; --k)
        AT(x, k) -= AT(work, k + 1) * AT(x, k + 1);
}

int main()
{
    const int n = 64, batch = 256;
    const size_t bytes = sizeof(double) * n * batch;
    double *m[6];
    for (int i = 0; i < 6; ++i)
        cudaMallocManaged(m + i, bytes);
    for (int i = 0; i < n * batch; ++i) {
        m[0][i] = m[2][i] = -1.0;
        m[1][i] = 2.5;
        m[3][i] = 1.0;
    }
    thomas<<<batch / 64, 64>>>(m[0], m[1], m[2], m[3], m[4], m[5], n, batch);
    cudaDeviceSynchronize();
    printf("%f\n", m[4][n / 2 * batch]);
    for (double *p : m)
        cudaFree(p);
}
