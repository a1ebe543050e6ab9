// 1D2V particle-in-cell: cloud-in-cell deposit with double atomics, and the Boris push in a given field.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

struct __align__(16) Particle {
    double x;
    double vx, vy;
    float weight;
    uint32_t id;
};

static __device__ double wrap(double x, double length)
{
    while (x < 0.0) x += length;
    while (x >= length) x -= length;
    return x;
}

__global__ void deposit(const Particle *particles, double *density, double *current, int64_t count, int cells, double dx)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < count; p += stride) {
        const Particle q = particles[p];
        const double at = q.x / dx;
        const int left = (int)floor(at);
        const double share = at - left;
        const int right = left + 1 == cells ? 0 : left + 1;
        const double w = q.weight / dx;
        atomicAdd(&density[left], w * (1.0 - share));
        atomicAdd(&density[right], w * share);
        atomicAdd(current + left, w * (1.0 - share) * q.vx);
        atomicAdd(current + right, w * share * q.vx);
    }
}

__global__ void boris(Particle *particles, const double *field, double bz, int64_t count, int cells, double dx, double dt)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count)
        return;
    Particle &q = particles[p];
    const double at = q.x / dx;
    const int left = (int)floor(at), right = (left + 1) % cells;
    const double e = field[left] + (at - left) * (field[right] - field[left]);
    const double half = 0.5 * dt * e, t = 0.5 * dt * bz, s = 2.0 * t / (1.0 + t * t);
    double vx = q.vx + half, vy = q.vy;
    const double ux = vx + vy * t, uy = vy - vx * t;
    vx += uy * s;
    vy -= ux * s;
    q.vx = vx + half;
    q.vy = vy;
    q.x = wrap(q.x + q.vx * dt, cells * dx);
}

int main()
{
    const int64_t n = 10000;
    const int cells = 64;
    Particle *p;
    double *rho, *j, *e;
    cudaMallocManaged(&p, n * sizeof(Particle));
    cudaMallocManaged(&rho, cells * sizeof(double));
    cudaMallocManaged(&j, cells * sizeof(double));
    cudaMallocManaged(&e, cells * sizeof(double));
    for (int64_t i = 0; i < n; ++i)
        p[i] = Particle{64.0 * i / n, 0.1, 0.0, 1.0f, (uint32_t)i};
    for (int t = 0; t < 5; ++t) {
        deposit<<<32, 128>>>(p, rho, j, n, cells, 1.0);
        boris<<<(n + 127) / 128, 128>>>(p, e, 0.2, n, cells, 1.0, 0.05);
    }
    cudaDeviceSynchronize();
    printf("%lld particles, rho[0] = %f\n", (long long)n, rho[0]);
    return 0;
}
