// What a person would write in C++ with OpenMP for what three kernels of the collection compute.
#include <algorithm>
#include <cmath>

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

extern "C" void sum_of_squares(const float *x, float *total, int n) {
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    *total += sum;
}
