// Row softmax with temperature: cooperative groups, dynamic shared memory carved into two arrays.
#include <cfloat>
#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void softmax_rows(const double *in, const double *temperature, double *out, int columns)
{
    cg::thread_block block = cg::this_thread_block();
    extern __shared__ double workspace[];
    double *row = workspace;                 // columns
    double *scratch = workspace + columns;   // threads
    const int t = block.thread_rank(), n = block.size();
    const double *source = in + (size_t)blockIdx.x * columns;

    double top = -DBL_MAX;
    for (int c = t; c < columns; c += n) {
        row[c] = source[c] / temperature[0];
        top = fmax(top, row[c]);
    }
    scratch[t] = top;
    block.sync();
    for (int step = n / 2; step > 0; step /= 2) {
        if (t < step)
            scratch[t] = fmax(scratch[t], scratch[t + step]);
        block.sync();
    }
    top = scratch[0];
    block.sync();

    double sum = 0.0;
    for (int c = t; c < columns; c += n) {
        row[c] = exp(row[c] - top);
        sum += row[c];
    }
    scratch[t] = sum;
    block.sync();
    for (int step = n / 2; step > 0; step /= 2) {
        if (t < step)
            scratch[t] += scratch[t + step];
        block.sync();
    }
    for (int c = t; c < columns; c += n)
        out[(size_t)blockIdx.x * columns + c] = row[c] / scratch[0];
}

int main()
{
    const int rows = 16, columns = 100, threads = 32;
    double *in, *temperature, *out;
    cudaMallocManaged(&in, rows * columns * sizeof(double));
    cudaMallocManaged(&out, rows * columns * sizeof(double));
    cudaMallocManaged(&temperature, sizeof(double));
    *temperature = 0.7;
    for (int i = 0; i < rows * columns; ++i)
        in[i] = 0.01 * (i % columns);
    softmax_rows<<<rows, threads, (columns + threads) * sizeof(double)>>>(in, temperature, out, columns);
    cudaDeviceSynchronize();
    printf("%g\n", out[columns - 1]);
}
