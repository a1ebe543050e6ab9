// What a person would write in C++ with OpenMP for what four kernels of the collection compute.
#include <algorithm>
#include <cmath>

extern "C" void elementwise(const float *x, const float *w, float *y, int n) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) y[i] = sinf(x[i]) * w[i] + expf(x[i]);
}

extern "C" void heat3d(const float *u, const float *k, float *v, int nx, int ny, int nz, float dt) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 1; z < nz - 1; ++z)
        for (int y = 1; y < ny - 1; ++y) {
            const float *c = u + (z * ny + y) * nx;
            for (int x = 1; x < nx - 1; ++x) {
                const float sum = c[x - 1] + c[x + 1] + c[x - nx] + c[x + nx] + c[x - nx * ny] + c[x + nx * ny];
                v[(z * ny + y) * nx + x] = c[x] + dt * k[(z * ny + y) * nx + x] * (sum - 6.0f * c[x]);
            }
        }
}

extern "C" void matmul(const float *A, const float *B, float *C, int m, int n, int k) {
    constexpr int tile = 64;
#pragma omp parallel for collapse(2) schedule(static)
    for (int row = 0; row < m; row += tile)
        for (int column = 0; column < n; column += tile) {
            const int rows = std::min(m, row + tile), columns = std::min(n, column + tile);
            for (int i = row; i < rows; ++i)
                for (int j = column; j < columns; ++j) C[i * n + j] = 0.0f;
            for (int first = 0; first < k; first += tile)
                for (int i = row; i < rows; ++i)
                    for (int l = first; l < std::min(k, first + tile); ++l)
                        for (int j = column; j < columns; ++j) C[i * n + j] += A[i * k + l] * B[l * n + j];
        }
}

extern "C" void potential(const double *x, const double *y, const double *q, double *phi, int n) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; ++j) {
            const double dx = x[j] - x[i], dy = y[j] - y[i];
            sum += q[j] / std::sqrt(dx * dx + dy * dy + 0.01);
        }
        phi[i] = sum;
    }
}
