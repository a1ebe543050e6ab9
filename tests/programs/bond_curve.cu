// Yields of coupon bonds by Newton's method: one bond a thread, from its dirty price.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

typedef double Real;

struct Bond {
    Real coupon;
    Real maturity;
    int frequency;
};

__device__ void price_and_slope(const Bond *b, Real y, Real *price, Real *slope)
{
    const int n = (int)(b->maturity * b->frequency + 0.5);
    const Real step = 1.0 / b->frequency;
    Real p = 0.0, dp = 0.0;
    for (int k = 1; k <= n; k++) {
        const Real t = k * step;
        const Real cash = b->coupon * step + (k == n ? 1.0 : 0.0);
        const Real df = exp(-y * t);
        p += cash * df;
        dp -= t * cash * df;
    }
    *price = p;
    *slope = dp;
}

__global__ void solve_yields(const Bond *bonds, const Real *market, Real *yields, int *iterations, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Real y = bonds[i].coupon, p, dp, change;
    int count = 0;
    do {
        price_and_slope(&bonds[i], y, &p, &dp);
        change = (p - market[i]) / dp;
        y -= change;
        ++count;
    } while (fabs(change) > 1e-9 && count < 50);
    yields[i] = y;
    iterations[i] = count;
}

int main()
{
    const int n = 100;
    std::vector<Bond> bonds;
    std::vector<Real> market;
    for (int i = 0; i < n; i++) {
        bonds.push_back({0.02 + 0.0005 * i, 1.0 + i % 10, i % 2 + 1});
        market.push_back(0.95 + 0.001 * i);
    }
    Bond *d_bonds;
    Real *d_market, *d_yields;
    int *d_iterations;
    cudaMalloc(&d_bonds, n * sizeof(Bond));
    cudaMalloc(&d_market, n * sizeof(Real));
    cudaMalloc(&d_yields, n * sizeof(Real));
    cudaMalloc(&d_iterations, n * sizeof(int));
    cudaMemcpy(d_bonds, &bonds[0], n * sizeof(Bond), cudaMemcpyHostToDevice);
    cudaMemcpy(d_market, &market[0], n * sizeof(Real), cudaMemcpyHostToDevice);
    solve_yields<<<(n + 31) / 32, 32>>>(d_bonds, d_market, d_yields, d_iterations, n);
    std::vector<Real> yields(n);
    cudaMemcpy(&yields[0], d_yields, n * sizeof(Real), cudaMemcpyDeviceToHost);
    printf("%.6f ... %.6f\n", yields.front(), yields.back());
    return 0;
}
