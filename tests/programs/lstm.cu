// One LSTM layer over a sequence: a thread owns one unit of one sample, and keeps its cell state in a register.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

struct Weights {
    const double *w;   // 4 x units x features
    const double *bias; // 4 x units
};

__device__ inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
__device__ inline double fast_tanh(double x) { return 2.0 * sigmoid(2.0 * x) - 1.0; }

__device__ double gate(const Weights &weights, const double *x, int which, int unit, int units, int features)
{
    const double *row = weights.w + (which * units + unit) * features;
    double sum = weights.bias[which * units + unit];
    for (int f = 0; f < features; f++)
        sum = fma(row[f], x[f], sum);
    return sum;
}

__global__ void lstm_layer(Weights weights, const double *x, double *h, double *c_last, int samples, int steps, int units,
                           int features)
{
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    int sample = blockIdx.y * blockDim.y + threadIdx.y;
    if (unit >= units || sample >= samples)
        return;
    double c = 0.0, out = 0.0;
    for (int t = 0; t < steps; t++) {
        const double *xt = x + (sample * steps + t) * features;
        double i = sigmoid(gate(weights, xt, 0, unit, units, features) + 0.1 * out);
        double f = sigmoid(gate(weights, xt, 1, unit, units, features) + 1.0);
        double g = fast_tanh(gate(weights, xt, 2, unit, units, features));
        double o = sigmoid(gate(weights, xt, 3, unit, units, features));
        c = f * c + i * g;
        out = o * fast_tanh(c);
        h[(sample * steps + t) * units + unit] = out;
    }
    c_last[sample * units + unit] = c;
}

int main()
{
    const int samples = 8, steps = 16, units = 32, features = 10;
    srand(time(NULL));
    double *w, *bias, *x, *h, *c;
    cudaMallocManaged(&w, 4 * units * features * sizeof(double));
    cudaMallocManaged(&bias, 4 * units * sizeof(double));
    cudaMallocManaged(&x, samples * steps * features * sizeof(double));
    cudaMallocManaged(&h, samples * steps * units * sizeof(double));
    cudaMallocManaged(&c, samples * units * sizeof(double));
    for (int i = 0; i < 4 * units * features; i++)
        w[i] = (double)rand() / RAND_MAX - 0.5;
    Weights weights = {w, bias};
    dim3 block(16, 4);
    lstm_layer<<<dim3(units / 16, samples / 4), block>>>(weights, x, h, c, samples, steps, units, features);
    cudaDeviceSynchronize();
    printf("%f\n", c[0]);
    return 0;
}
