// Heston paths: full truncation Euler, antithetic xorshift normals, one path a thread.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include <curand.h>

namespace heston {

struct Model {
    double kappa, theta, xi, rho, rate;
};

class Xorshift {
public:
    __host__ __device__ explicit Xorshift(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}

    __host__ __device__ uint64_t next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }

    __host__ __device__ double uniform() { return (next() >> 11) * (1.0 / 9007199254740992.0); }

    // Box-Muller, both numbers
    __host__ __device__ void normals(double &a, double &b)
    {
        const double u = uniform() + 1e-12;
        const double r = sqrt(-2.0 * log(u));
        double s, c;
        sincospi(2.0 * uniform(), &s, &c);
        a = r * c;
        b = r * s;
    }

private:
    uint64_t state;
};

template <typename T> __host__ __device__ inline T positive(T x) { return x > T(0) ? x : T(0); }

__global__ void price_paths(const double *spot, const double *v0, const double *strike, double *payoff, Model m,
                            double maturity, int steps, int paths, unsigned long long seed)
{
    const int path = blockDim.x * blockIdx.x + threadIdx.x;
    if (path >= paths)
        return;
    const double dt = maturity / steps;
    const double root = sqrt(dt);
    const double other = sqrt(1.0 - m.rho * m.rho);
    Xorshift rng(seed + path);
    double logs = log(spot[0]);
    double v = v0[0];
    for (int step = 0; step < steps; ++step) {
        double z1, z2;
        rng.normals(z1, z2);
        const double w = m.rho * z1 + other * z2;
        const double vp = positive(v);
        logs += (m.rate - 0.5 * vp) * dt + sqrt(vp) * root * z1;
        v += m.kappa * (m.theta - vp) * dt + m.xi * sqrt(vp) * root * w;
    }
    const double s = exp(logs);
    payoff[path] = exp(-m.rate * maturity) * positive(s - strike[0]);
}

} // namespace heston

int main()
{
    const int paths = 4096;
    // quasi-random numbers are drawn on the host for a control variate
    curandGenerator_t gen;
    std::vector<double> uniforms(paths);
    if (curandCreateGeneratorHost(&gen, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS) {
        curandGenerateUniformDouble(gen, uniforms.data(), uniforms.size());
        curandDestroyGenerator(gen);
    }
    double host[3] = {100.0, 0.04, 100.0};
    double *d, *d_payoff;
    cudaMalloc(&d, sizeof(host));
    cudaMalloc(&d_payoff, paths * sizeof(double));
    cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice);
    heston::Model m{1.5, 0.04, 0.3, -0.7, 0.02};
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    heston::price_paths<<<paths / 256, 256>>>(d, d + 1, d + 2, d_payoff, m, 1.0, 64, paths, 42ull);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0.f;
    cudaEventElapsedTime(&ms, start, stop);
    std::vector<double> payoff(paths);
    cudaMemcpy(payoff.data(), d_payoff, paths * sizeof(double), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (double p : payoff)
        sum += p;
    std::printf("price %.4f in %.3f ms\n", sum / paths, ms);
    return 0;
}
