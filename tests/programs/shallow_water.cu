// Shallow water, first-order finite volumes with the HLL flux, over bathymetry.
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

using real = double;

struct State {
    real h, hu, hv;
};

__host__ __device__ inline State operator+(State a, State b) { return {a.h + b.h, a.hu + b.hu, a.hv + b.hv}; }
__host__ __device__ inline State operator-(State a, State b) { return {a.h - b.h, a.hu - b.hu, a.hv - b.hv}; }
__host__ __device__ inline State operator*(real s, State a) { return {s * a.h, s * a.hu, s * a.hv}; }

constexpr real gravity = 9.81;
constexpr real dry = 1e-6;

__host__ __device__ inline State physical_flux(const State &q)
{
    const real u = q.h > dry ? q.hu / q.h : real(0);
    return {q.hu, q.hu * u + 0.5 * gravity * q.h * q.h, q.hv * u};
}

__host__ __device__ State hll(const State &l, const State &r)
{
    const real ul = l.h > dry ? l.hu / l.h : 0.0, ur = r.h > dry ? r.hu / r.h : 0.0;
    const real cl = sqrt(gravity * l.h), cr = sqrt(gravity * r.h);
    const real sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
    if (sl >= 0)
        return physical_flux(l);
    if (sr <= 0)
        return physical_flux(r);
    const State fl = physical_flux(l), fr = physical_flux(r);
    return (1.0 / (sr - sl)) * (sr * fl - sl * fr + (sl * sr) * (r - l));
}

__host__ __device__ inline State turned(const State &q) { return {q.h, q.hv, q.hu}; }

__global__ void advance(const State *in, const real *bed, State *out, int nx, int ny, real dt, real dx)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    auto at = [=](int i, int j) -> State {
        i = min(max(i, 0), nx - 1);
        j = min(max(j, 0), ny - 1);
        return in[j * nx + i];
    };
    const State c = at(x, y);
    const State fx = hll(c, at(x + 1, y)) - hll(at(x - 1, y), c);
    const State fy = turned(hll(turned(c), turned(at(x, y + 1))) - hll(turned(at(x, y - 1)), turned(c)));
    State next = c - (dt / dx) * (fx + fy);
    const int xl = x > 0 ? x - 1 : x, xr = x < nx - 1 ? x + 1 : x;
    next.hu -= dt * gravity * c.h * (bed[y * nx + xr] - bed[y * nx + xl]) / (2 * dx);
    out[y * nx + x] = next;
}

int main()
{
    const int nx = 64, ny = 64;
    std::vector<State> q(nx * ny, State{1.0, 0.0, 0.0});
    std::vector<real> bed(nx * ny, 0.0);
    for (int j = 20; j < 30; ++j)
        std::for_each(q.begin() + j * nx + 20, q.begin() + j * nx + 30, [](State &s) { s.h = 2.0; });
    State *a, *b;
    real *z;
    cudaMalloc(&a, q.size() * sizeof(State));
    cudaMalloc(&b, q.size() * sizeof(State));
    cudaMalloc(&z, bed.size() * sizeof(real));
    cudaMemcpy(a, q.data(), q.size() * sizeof(State), cudaMemcpyHostToDevice);
    cudaMemcpy(z, bed.data(), bed.size() * sizeof(real), cudaMemcpyHostToDevice);
    const dim3 block(16, 16), grid(nx / 16, ny / 16);
    for (int step = 0; step < 10; ++step) {
        advance<<<grid, block>>>(a, z, b, nx, ny, 0.001, 0.1);
        std::swap(a, b);
    }
    cudaMemcpy(q.data(), a, q.size() * sizeof(State), cudaMemcpyDeviceToHost);
    std::printf("%f\n", q[25 * nx + 25].h);
}
