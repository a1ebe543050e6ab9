// Two-stream-like radiative transfer: one atmospheric column a thread, layers from top to bottom and back.
#include <cstdio>
#include <cuda_runtime.h>

#define MAX_LAYERS 16
#define COL(array, layer) array[(layer) * columns + column]

constexpr double SIGMA = 5.670374419e-8;

__device__ double planck(double temperature)
{
    double t2 = temperature * temperature;
    return SIGMA * t2 * t2;
}

__global__ void longwave(const double *temperature, const double *absorber, const double *surface_temperature,
                         double *up_toa, double *down_surface, double *heating, int columns, int layers,
                         double mass_absorption)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    double transmission[MAX_LAYERS], down[MAX_LAYERS + 1], up[MAX_LAYERS + 1];
    double emitted[MAX_LAYERS];

    for (int k = 0; k < layers; k++) {
        double tau = mass_absorption * COL(absorber, k);
        transmission[k] = exp(-1.66 * tau);
        emitted[k] = planck(COL(temperature, k)) * (1.0 - transmission[k]);
    }
    down[0] = 0.0;
    for (int k = 0; k < layers; k++)
        down[k + 1] = down[k] * transmission[k] + emitted[k];
    up[layers] = planck(surface_temperature[column]);
    for (int k = layers - 1; k >= 0; k--)
        up[k] = up[k + 1] * transmission[k] + emitted[k];

    up_toa[column] = up[0];
    down_surface[column] = down[layers];
    for (int k = 0; k < layers; k++) {
        double net_top = up[k] - down[k];
        double net_bottom = up[k + 1] - down[k + 1];
        COL(heating, k) = net_bottom - net_top;
    }
}

int main()
{
    const int columns = 512, layers = 12;
    double *t, *q, *ts, *up, *down, *heating;
    cudaMallocManaged(&t, columns * layers * sizeof(double));
    cudaMallocManaged(&q, columns * layers * sizeof(double));
    cudaMallocManaged(&heating, columns * layers * sizeof(double));
    cudaMallocManaged(&ts, columns * sizeof(double));
    cudaMallocManaged(&up, columns * sizeof(double));
    cudaMallocManaged(&down, columns * sizeof(double));
    for (int k = 0; k < layers; k++)
        for (int column = 0; column < columns; column++) {
            COL(t, k) = 210.0 + 7.0 * k;
            COL(q, k) = 0.05 * (k + 1);
        }
    for (int c = 0; c < columns; c++)
        ts[c] = 285.0 + 0.01 * c;
    longwave<<<(columns + 127) / 128, 128>>>(t, q, ts, up, down, heating, columns, layers, 1.0);
    cudaDeviceSynchronize();
    printf("OLR %.2f W/m2\n", up[0]);
    return 0;
}
