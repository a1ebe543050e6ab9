// Explicit heat conduction in a plate: collapse(2), several time steps in two buffers, output through a pointer.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define U(i, j) u[(i) * nx + (j)]
#define V(i, j) v[(i) * nx + (j)]

extern "C" void heat_step(const double *u, const double *k, double *v, int nx, int ny, double r)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 1; i < ny - 1; i++)
        for (int j = 1; j < nx - 1; j++)
            V(i, j) = U(i, j) + r * k[i * nx + j] * (U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1) - 4 * U(i, j));
}

extern "C" void heat_run(double *u, const double *k, int nx, int ny, double r, int steps)
{
    double *v = (double *)malloc(sizeof(double) * nx * ny);
    std::memcpy(v, u, sizeof(double) * nx * ny);
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for schedule(static, 4)
        for (int i = 1; i < ny - 1; i++)
            for (int j = 1; j < nx - 1; j++)
                V(i, j) = U(i, j)
                          + r * k[i * nx + j] * (U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1) - 4 * U(i, j));
#pragma omp parallel for schedule(static, 4)
        for (int i = 1; i < ny - 1; i++)
            for (int j = 1; j < nx - 1; j++)
                U(i, j) = V(i, j);
    }
    free(v);
}

int main()
{
    const int nx = 32, ny = 32;
    std::vector<double> u(nx * ny, 0.0), k(nx * ny, 1.0), v(u);
    u[nx * ny / 2 + nx / 2] = 1.0;
    heat_step(u.data(), k.data(), v.data(), nx, ny, 0.2);
    heat_run(u.data(), k.data(), nx, ny, 0.2, 10);
    std::printf("%f\n", u[nx * ny / 2 + nx / 2]);
}
