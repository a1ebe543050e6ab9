// Viscous Burgers equation on a periodic line: WENO5 reconstruction with Lax-Friedrichs splitting, generic over the
// number type and the flux.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

template <typename Number>
struct BurgersFlux {
    __host__ __device__ constexpr Number operator()(Number u) const { return Number(0.5) * u * u; }
};

template <typename Number>
struct Advection {
    Number speed;
    __host__ __device__ constexpr Number operator()(Number u) const { return speed * u; }
};

template <typename Number>
__host__ __device__ Number weno5(Number a, Number b, Number c, Number d, Number e)
{
    const auto sq = [](Number x) { return x * x; };
    const Number b0 = Number(13.0 / 12) * sq(a - 2 * b + c) + Number(0.25) * sq(a - 4 * b + 3 * c);
    const Number b1 = Number(13.0 / 12) * sq(b - 2 * c + d) + Number(0.25) * sq(b - d);
    const Number b2 = Number(13.0 / 12) * sq(c - 2 * d + e) + Number(0.25) * sq(3 * c - 4 * d + e);
    const Number eps = Number(1e-6);
    const Number w0 = Number(0.1) / sq(eps + b0), w1 = Number(0.6) / sq(eps + b1), w2 = Number(0.3) / sq(eps + b2);
    return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e))
           / (Number(6) * (w0 + w1 + w2));
}

template <typename Number, template <typename> class Flux>
__global__ void weno_rhs(const Number *__restrict__ u, Number *__restrict__ dudt, Flux<Number> flux, Number alpha,
                         Number viscosity, Number dx, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const auto wrapped = [n](int k) { return ((k % n) + n) % n; };
    Number stencil[7];
    for (int k = -3; k <= 3; ++k)
        stencil[k + 3] = u[wrapped(i + k)];
    Number face[2];
    for (int side = 0; side < 2; ++side) {
        Number plus[5], minus[5];
        for (int k = 0; k < 5; ++k) {
            const Number l = stencil[k + side], r = stencil[5 - k + side];
            plus[k] = Number(0.5) * (flux(l) + alpha * l);
            minus[k] = Number(0.5) * (flux(r) - alpha * r);
        }
        face[side] = weno5(plus[0], plus[1], plus[2], plus[3], plus[4])
                     + weno5(minus[0], minus[1], minus[2], minus[3], minus[4]);
    }
    dudt[i] = -(face[1] - face[0]) / dx + viscosity * (stencil[2] - 2 * stencil[3] + stencil[4]) / (dx * dx);
}

int main()
{
    const int n = 128;
    std::vector<double> u(n);
    for (int i = 0; i < n; ++i) u[i] = std::sin(2 * M_PI * i / n);
    double *a, *b;
    cudaMalloc(&a, n * sizeof(double));
    cudaMalloc(&b, n * sizeof(double));
    cudaMemcpy(a, u.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    weno_rhs<<<2, 64>>>(a, b, BurgersFlux<double>{}, 1.0, 1e-3, 1.0 / n, n);
    weno_rhs<<<2, 64>>>(a, b, Advection<double>{0.7}, 1.0, 1e-3, 1.0 / n, n);
    cudaMemcpy(u.data(), b, n * sizeof(double), cudaMemcpyDeviceToHost);
    std::printf("%f\n", u[3]);
}
