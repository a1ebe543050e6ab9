// AC network analysis with cuComplex: ladder of RLC cells, magnitude and phase of the transfer at each frequency.
#include <stdio.h>
#include <cuComplex.h>
#include <cuda_runtime.h>

typedef struct {
    double r, l, c;
} cell_t;

static __device__ cuDoubleComplex parallel(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCdiv(cuCmul(a, b), cuCadd(a, b));
}

__global__ void ladder(const cell_t *cells, const double *omega, double *magnitude, double *phase, int n_cells, int n,
                       double load)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double w = omega[i];
        cuDoubleComplex z = make_cuDoubleComplex(load, 0.0);
        cuDoubleComplex h = make_cuDoubleComplex(1.0, 0.0);
        for (int k = n_cells - 1; k >= 0; k--) {
            cuDoubleComplex shunt = make_cuDoubleComplex(0.0, -1.0 / (w * cells[k].c));
            cuDoubleComplex p = parallel(z, shunt);
            cuDoubleComplex series = make_cuDoubleComplex(cells[k].r, w * cells[k].l);
            z = cuCadd(series, p);
            h = cuCmul(h, cuCdiv(p, z));
        }
        magnitude[i] = 20.0 * log10(cuCabs(h));
        phase[i] = atan2(cuCimag(h), cuCreal(h));
    }
}

int main()
{
    enum { N = 256, CELLS = 4 };
    cell_t *cells;
    double *omega, *m, *p;
    cudaMallocManaged(&cells, CELLS * sizeof *cells);
    cudaMallocManaged(&omega, N * sizeof *omega);
    cudaMallocManaged(&m, N * sizeof *m);
    cudaMallocManaged(&p, N * sizeof *p);
    for (int i = 0; i < CELLS; i++) {
        cells[i].r = 0.5;
        cells[i].l = 1e-3;
        cells[i].c = 1e-6;
    }
    for (int i = 0; i < N; i++)
        omega[i] = 100.0 * (i + 1);
    ladder<<<(N + 31) / 32, 32>>>(cells, omega, m, p, CELLS, N, 50.0);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i += 64)
        printf("%8.1f rad/s %8.3f dB %8.4f rad\n", omega[i], m[i], p[i]);
    return 0;
}
