// Smoothed particle hydrodynamics in 2-D: density and pressure force with a cubic spline, cells of a linked list.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct SphParams {
    double h;          // smoothing length
    double stiffness;
    double rest_density;
    double viscosity;
    int cells_x, cells_y;
    double cell_size;
};

inline __host__ __device__ double2 operator-(const double2 &a, const double2 &b) { return make_double2(a.x - b.x, a.y - b.y); }
inline __host__ __device__ void operator+=(double2 &a, const double2 &b) { a.x += b.x; a.y += b.y; }
inline __host__ __device__ double2 operator*(const double &s, const double2 &a) { return make_double2(s * a.x, s * a.y); }

__device__ double kernel_w(double r, double h)
{
    const double q = r / h, norm = 10.0 / (7.0 * 3.14159265 * h * h);
    if (q < 1.0)
        return norm * (1.0 - 1.5 * q * q + 0.75 * q * q * q);
    if (q < 2.0) {
        const double t = 2.0 - q;
        return norm * 0.25 * t * t * t;
    }
    return 0.0;
}

__device__ double kernel_slope(double r, double h)
{
    const double q = r / h, norm = 10.0 / (7.0 * 3.14159265 * h * h * h);
    return q < 1.0 ? norm * (-3.0 * q + 2.25 * q * q) : q < 2.0 ? -norm * 0.75 * (2.0 - q) * (2.0 - q) : 0.0;
}

template <typename Visit>
__device__ void for_neighbours(const int *heads, const int *next, int cx, int cy, const SphParams &p, Visit visit)
{
    for (int y = max(cy - 1, 0); y <= min(cy + 1, p.cells_y - 1); ++y)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, p.cells_x - 1); ++x)
            for (int j = heads[y * p.cells_x + x]; j >= 0; j = next[j])
                visit(j);
}

__global__ void density(const double2 *pos, const double *mass, const int *cell, const int *heads, const int *next,
                        double *rho, SphParams p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0.0;
    for_neighbours(heads, next, cell[i] % p.cells_x, cell[i] / p.cells_x, p, [&](int j) {
        const double2 d = pos[i] - pos[j];
        sum += mass[j] * kernel_w(sqrt(d.x * d.x + d.y * d.y + 1e-6), p.h);
    });
    rho[i] = sum;
}

__global__ void acceleration(const double2 *pos, const double2 *vel, const double *mass, const double *rho, const int *cell,
                             const int *heads, const int *next, double2 *acc, SphParams p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double2 a = make_double2(0.0, -9.81);
    const double pi = p.stiffness * (rho[i] - p.rest_density);
    for_neighbours(heads, next, cell[i] % p.cells_x, cell[i] / p.cells_x, p, [&](int j) {
        if (j == i)
            return;
        const double2 d = pos[i] - pos[j], dv = vel[i] - vel[j];
        const double r = sqrt(d.x * d.x + d.y * d.y + 1e-6);
        const double pj = p.stiffness * (rho[j] - p.rest_density);
        double push = pi / (rho[i] * rho[i]) + pj / (rho[j] * rho[j]);
        const double approach = dv.x * d.x + dv.y * d.y;
        if (approach < 0.0)
            push -= p.viscosity * approach / (r * r + 0.01 * p.h * p.h);
        a += (-mass[j] * push * kernel_slope(r, p.h) / r) * d;
    });
    acc[i] = a;
}

int main()
{
    const int n = 256;
    std::vector<double2> pos(n);
    std::vector<int> cell(n), next(n, -1), heads(64, -1);
    SphParams p{0.5, 10.f, 1.f, 0.1, 8, 8, 1.f};
    for (int i = 0; i < n; ++i) {
        pos[i] = make_double2(0.5 * (i % 16), 0.5 * (i / 16));
        cell[i] = int(pos[i].x / p.cell_size) + 8 * int(pos[i].y / p.cell_size);
        next[i] = heads[cell[i]];
        heads[cell[i]] = i;
    }
    double2 *d_pos;
    double *mass, *rho;
    int *d_cell, *d_next, *d_heads;
    cudaMalloc(&d_pos, n * sizeof(double2));
    cudaMallocManaged(&mass, n * sizeof(double));
    cudaMallocManaged(&rho, n * sizeof(double));
    cudaMalloc(&d_cell, n * sizeof(int));
    cudaMalloc(&d_next, n * sizeof(int));
    cudaMalloc(&d_heads, 64 * sizeof(int));
    for (int i = 0; i < n; ++i) mass[i] = 0.25;
    cudaMemcpy(d_pos, pos.data(), n * sizeof(double2), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cell, cell.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_next, next.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_heads, heads.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    density<<<4, 64>>>(d_pos, mass, d_cell, d_heads, d_next, rho, p, n);
    cudaDeviceSynchronize();
    printf("rho %f\n", rho[100]);
    return 0;
}
