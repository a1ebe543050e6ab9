/*
 * Many small dense problems, one thread each: LU with partial pivoting and one step of iterative refinement, Householder least
 * squares, cyclic Jacobi eigenvalues.  C style: declarations on top, sizes by macros, work arrays reused for every problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define N 5
#define ROWS 7
#define COLS 3
#define ESIZE 3
#define SWEEPS 5

#define FOR(i, n) for (i = 0; i < (n); i++)
#define FORDOWN(i, n) for (i = (n) - 1; i >= 0; i--)

__global__ void lu_refined(const double *matrices, const double *rhs, double *solutions, int *info, int count)
{
    double a[N][N], x[N], r[N], t, best;
    int pivot[N];
    int id, i, j, k, p;

    for (id = blockIdx.x * blockDim.x + threadIdx.x; id < count; id += gridDim.x * blockDim.x) {
        const double *m = matrices + (size_t)id * N * N;
        const double *b = rhs + (size_t)id * N;
        info[id] = 0;
        FOR (i, N) FOR (j, N) a[i][j] = m[i * N + j];
        FOR (k, N) {
            p = k;
            best = fabs(a[k][k]);
            for (i = k + 1; i < N; i++)
                if (fabs(a[i][k]) > best) {
                    best = fabs(a[i][k]);
                    p = i;
                }
            pivot[k] = p;
            if (best == 0.0) {
                info[id] = k + 1;
                break;
            }
            if (p != k)
                FOR (j, N) {
                    t = a[k][j];
                    a[k][j] = a[p][j];
                    a[p][j] = t;
                }
            for (i = k + 1; i < N; i++) {
                a[i][k] /= a[k][k];
                for (j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
            }
        }
        if (info[id] != 0) {
            FOR (i, N) solutions[id * N + i] = 0.0;
            continue;
        }
        /* first solve */
        FOR (i, N) x[i] = b[i];
        FOR (k, N) { t = x[pivot[k]]; x[pivot[k]] = x[k]; x[k] = t; }
        FOR (i, N) for (j = 0; j < i; j++) x[i] -= a[i][j] * x[j];
        FORDOWN (i, N) {
            for (j = i + 1; j < N; j++) x[i] -= a[i][j] * x[j];
            x[i] /= a[i][i];
        }
        /* the residual, and the second solve with the same factors; the square keeps it from vanishing */
        FOR (i, N) {
            r[i] = b[i] + 0.1 * x[i] * x[i];
            FOR (j, N) r[i] -= m[i * N + j] * x[j];
        }
        FOR (k, N) { t = r[pivot[k]]; r[pivot[k]] = r[k]; r[k] = t; }
        FOR (i, N) for (j = 0; j < i; j++) r[i] -= a[i][j] * r[j];
        FORDOWN (i, N) {
            for (j = i + 1; j < N; j++) r[i] -= a[i][j] * r[j];
            r[i] /= a[i][i];
        }
        FOR (i, N) solutions[id * N + i] = x[i] + r[i];
    }
}

__global__ void householder_fit(const double *design, const double *target, double *coefficients, double *residual, int count)
{
    double q[ROWS][COLS], y[ROWS], v[ROWS];
    double norm, alpha, vv, s;
    int id = blockIdx.x * blockDim.x + threadIdx.x, i, j, k;

    if (id >= count) return;
    FOR (i, ROWS) {
        y[i] = target[id * ROWS + i];
        FOR (j, COLS) q[i][j] = design[(id * ROWS + i) * COLS + j];
    }
    FOR (k, COLS) {
        norm = 0.0;
        for (i = k; i < ROWS; i++) norm += q[i][k] * q[i][k];
        alpha = q[k][k] > 0.0 ? -sqrt(norm) : sqrt(norm);
        vv = 0.0;
        for (i = k; i < ROWS; i++) {
            v[i] = q[i][k] - (i == k ? alpha : 0.0);
            vv += v[i] * v[i];
        }
        for (j = k; j < COLS; j++) {
            s = 0.0;
            for (i = k; i < ROWS; i++) s += v[i] * q[i][j];
            for (i = k; i < ROWS; i++) q[i][j] -= 2.0 * s / vv * v[i];
        }
        s = 0.0;
        for (i = k; i < ROWS; i++) s += v[i] * y[i];
        for (i = k; i < ROWS; i++) y[i] -= 2.0 * s / vv * v[i];
    }
    FORDOWN (i, COLS) {
        for (j = i + 1; j < COLS; j++) y[i] -= q[i][j] * y[j];
        y[i] /= q[i][i];
        coefficients[id * COLS + i] = y[i];
    }
    s = 0.0;
    for (i = COLS; i < ROWS; i++) s += y[i] * y[i];
    residual[id] = s;
}

/* eigenvalues of symmetric matrices, in the order in which Jacobi leaves them */
__global__ void jacobi_eigenvalues(const double *matrices, double *values, int count)
{
    double a[ESIZE][ESIZE];
    int id = blockIdx.x * blockDim.x + threadIdx.x, i, p, q, sweep;
    if (id >= count) return;
    FOR (p, ESIZE) FOR (q, ESIZE) a[p][q] = 0.5 * (matrices[(id * ESIZE + p) * ESIZE + q] + matrices[(id * ESIZE + q) * ESIZE + p]);
    FOR (sweep, SWEEPS)
        for (p = 0; p < ESIZE - 1; p++)
            for (q = p + 1; q < ESIZE; q++) {
                double theta, t, c, s;
                if (fabs(a[p][q]) < 1.0e-13) continue;
                theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
                t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                c = 1.0 / sqrt(t * t + 1.0);
                s = t * c;
                FOR (i, ESIZE) {
                    double u = a[i][p], w = a[i][q];
                    a[i][p] = c * u - s * w;
                    a[i][q] = s * u + c * w;
                }
                FOR (i, ESIZE) {
                    double u = a[p][i], w = a[q][i];
                    a[p][i] = c * u - s * w;
                    a[q][i] = s * u + c * w;
                }
            }
    FOR (i, ESIZE) values[id * ESIZE + i] = a[i][i];
}

int main(void)
{
    const int count = 1000;
    double *m, *b, *x;
    int *info, i;
    cudaMallocManaged((void **)&m, count * N * N * sizeof(double));
    cudaMallocManaged((void **)&b, count * N * sizeof(double));
    cudaMallocManaged((void **)&x, count * N * sizeof(double));
    cudaMallocManaged((void **)&info, count * sizeof(int));
    srand(4);
    for (i = 0; i < count * N * N; i++) m[i] = rand() / (double)RAND_MAX + ((i % (N * N)) % (N + 1) == 0 ? 2.0 : 0.0);
    for (i = 0; i < count * N; i++) b[i] = 1.0;
    lu_refined<<<8, 64>>>(m, b, x, info, count);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    printf("%f %d\n", x[0], info[0]);
    return 0;
}
