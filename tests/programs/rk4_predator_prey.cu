/* Lotka-Volterra with harvesting: a generic RK4 stepper over a functor. */
#include <cstdio>
#include <cuda_runtime.h>

template <int N>
struct Vec {
    float v[N];
    __host__ __device__ float &operator[](int i) { return v[i]; }
    __host__ __device__ const float &operator[](int i) const { return v[i]; }
};

template <int N>
__host__ __device__ Vec<N> operator+(const Vec<N> &a, const Vec<N> &b)
{
    Vec<N> r;
#pragma unroll
    for (int i = 0; i < N; ++i) r[i] = a[i] + b[i];
    return r;
}

template <int N>
__host__ __device__ Vec<N> operator*(float s, const Vec<N> &a)
{
    Vec<N> r;
#pragma unroll
    for (int i = 0; i < N; ++i) r[i] = s * a[i];
    return r;
}

struct LotkaVolterra {
    float alpha, beta, gamma, delta;
    __host__ __device__ Vec<2> operator()(float t, const Vec<2> &y) const
    {
        Vec<2> d;
        const float harvest = 0.1f * (1.f + sinf(t));
        d[0] = alpha * y[0] - beta * y[0] * y[1] - harvest * y[0];
        d[1] = delta * y[0] * y[1] - gamma * y[1];
        return d;
    }
};

template <int N, class F>
__host__ __device__ void rk4_step(const F &f, float t, float h, Vec<N> &y)
{
    const Vec<N> k1 = f(t, y);
    const Vec<N> k2 = f(t + 0.5f * h, y + 0.5f * h * k1);
    const Vec<N> k3 = f(t + 0.5f * h, y + 0.5f * h * k2);
    const Vec<N> k4 = f(t + h, y + h * k3);
    y = y + (h / 6.f) * (k1 + 2.f * k2 + 2.f * k3 + k4);
}

__global__ void integrate(const float *prey0, const float *predator0, const float *rates, float *prey, float *predator,
                          int n, int steps, float h)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const LotkaVolterra model{rates[4 * i], rates[4 * i + 1], rates[4 * i + 2], rates[4 * i + 3]};
        Vec<2> y{{prey0[i], predator0[i]}};
        float t = 0.f;
        for (int s = 0; s < steps; s++) {
            rk4_step(model, t, h, y);
            t += h;
        }
        prey[i] = y[0];
        predator[i] = y[1];
    }
}

int main()
{
    const int n = 1000;
    float *buf;
    cudaMallocManaged(&buf, 8 * n * sizeof(float));
    float *prey0 = buf, *pred0 = buf + n, *rates = buf + 2 * n, *prey = buf + 6 * n, *pred = buf + 7 * n;
    for (int i = 0; i < n; i++) {
        prey0[i] = 1.f + 0.001f * i;
        pred0[i] = 0.5f;
        rates[4 * i] = 1.1f; rates[4 * i + 1] = 0.4f; rates[4 * i + 2] = 0.4f; rates[4 * i + 3] = 0.1f;
    }
    integrate<<<4, 64>>>(prey0, pred0, rates, prey, pred, n, 100, 0.05f);
    cudaDeviceSynchronize();
    printf("%g %g\n", prey[0], pred[n - 1]);
    cudaFree(buf);
}
