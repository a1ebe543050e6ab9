// Barrier and vanilla options under a parametric local volatility: Crank-Nicolson with two implicit start-up steps,
// a thread for each contract, a log-price grid in local memory. Contract data as structure of arrays.
#include <cstdio>
#include <cmath>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kNodes = 41;

struct LocalVol {
    double level, skew, smile, decay;
    __host__ __device__ double operator()(double x, double t) const
    {
        const double m = x / sqrt(t + 0.25);
        const double v = level + (skew * m + 0.5 * smile * m * m) * exp(-decay * t);
        return v < 0.05 ? 0.05 : v;
    }
};

struct Grid {
    double low, step;
    __device__ double x(int i) const { return low + step * i; }
};

class Tridiagonal {
public:
    __device__ void set(int i, double a, double b, double c)
    {
        lower_[i] = a;
        diag_[i] = b;
        upper_[i] = c;
    }
    __device__ void solve(double (&f)[kNodes])
    {
        for (int i = 1; i < kNodes; ++i) {
            const double m = lower_[i] / diag_[i - 1];
            diag_[i] -= m * upper_[i - 1];
            f[i] -= m * f[i - 1];
        }
        f[kNodes - 1] /= diag_[kNodes - 1];
        for (int i = kNodes - 2; i >= 0; --i)
            f[i] = (f[i] - upper_[i] * f[i + 1]) / diag_[i];
    }

private:
    double lower_[kNodes], diag_[kNodes], upper_[kNodes];
};

enum class Style : int { European, American, UpAndOut };

__device__ double intrinsic(double spot, double strike, bool call)
{
    const double v = call ? spot - strike : strike - spot;
    return v > 0 ? v : 0;
}

__global__ void solve_pde(const double *__restrict__ spot, const double *__restrict__ strike,
                          const double *__restrict__ expiry, const int *__restrict__ style, const bool *__restrict__ call,
                          LocalVol vol, double rate, double dividend, double barrier, double *__restrict__ price, int n,
                          int time_steps)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const double s0 = spot[id], k = strike[id], maturity = expiry[id];
    const Style kind = static_cast<Style>(style[id]);
    const double width = 5.0 * vol.level * sqrt(maturity);
    Grid grid;
    grid.low = -width;
    grid.step = 2.0 * width / (kNodes - 1);

    double f[kNodes], payoff[kNodes];
    for (int i = 0; i < kNodes; ++i) {
        payoff[i] = intrinsic(s0 * exp(grid.x(i)), k, call[id]);
        f[i] = payoff[i];
        if (kind == Style::UpAndOut && s0 * exp(grid.x(i)) >= barrier)
            f[i] = 0;
    }

    const double dt = maturity / time_steps;
    for (int step = 0; step < time_steps; ++step) {
        const double theta = step < 2 ? 1.0 : 0.5;
        const double t = maturity - (step + theta) * dt;
        Tridiagonal system;
        double rhs[kNodes];
        system.set(0, 0, 1, 0);
        system.set(kNodes - 1, 0, 1, 0);
        rhs[0] = f[0] * exp(-rate * dt);
        rhs[kNodes - 1] = kind == Style::UpAndOut ? 0.0 : f[kNodes - 1] * exp(-dividend * dt);
        for (int i = 1; i < kNodes - 1; ++i) {
            const double s = vol(grid.x(i) + log(s0 / k), t);
            const double diffusion = 0.5 * s * s / (grid.step * grid.step);
            const double drift = 0.5 * (rate - dividend - 0.5 * s * s) / grid.step;
            const double a = dt * (diffusion - drift), b = dt * (-2.0 * diffusion - rate), c = dt * (diffusion + drift);
            system.set(i, -theta * a, 1.0 - theta * b, -theta * c);
            rhs[i] = f[i] + (1.0 - theta) * (a * f[i - 1] + b * f[i] + c * f[i + 1]);
        }
        system.solve(rhs);
        for (int i = 0; i < kNodes; ++i) {
            f[i] = rhs[i];
            switch (kind) {
            case Style::American:
                if (payoff[i] > f[i]) f[i] = payoff[i];
                break;
            case Style::UpAndOut:
                if (s0 * exp(grid.x(i)) >= barrier) f[i] = 0;
                break;
            default:
                break;
            }
        }
    }
    price[id] = f[kNodes / 2];
}

template <class T>
T *upload(const std::vector<T> &host)
{
    T *device = nullptr;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

int main()
{
    const int n = 64;
    std::vector<double> spot(n, 100.0), strike, expiry(n, 1.0);
    std::vector<int> style;
    for (int i = 0; i < n; ++i) {
        strike.push_back(80 + 0.5 * i);
        style.push_back(i % 3);
    }
    bool *call;
    double *price;
    cudaMallocManaged(&call, n);
    cudaMallocManaged(&price, n * sizeof(double));
    for (int i = 0; i < n; ++i) call[i] = i % 2 == 0;
    double *s = upload(spot), *k = upload(strike), *t = upload(expiry);
    int *st = upload(style);
    solve_pde<<<(n + 31) / 32, 32>>>(s, k, t, st, call, LocalVol{0.2, -0.1, 0.1, 0.5}, 0.02, 0.01, 130.0, price, n, 50);
    const std::string status = cudaGetErrorString(cudaDeviceSynchronize());
    std::printf("%s: %f %f %f\n", status.c_str(), price[0], price[1], price[2]);
}
