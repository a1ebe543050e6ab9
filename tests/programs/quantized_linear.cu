// A linear layer whose weights are int8 with float scales, activations in float, sums in double; a bias of halves.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

typedef struct {
    int rows, cols, group;
} shape_t;

__global__ void linear_q8(const int8_t *__restrict__ weight, const float *__restrict__ scale,
                          const float *__restrict__ x, const unsigned short *__restrict__ mask, double *__restrict__ y,
                          shape_t s)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= s.rows)
        return;
    const int groups = s.cols / s.group;
    double total = 0;
    for (int g = 0; g < groups; ++g) {
        float partial = 0.f;
        for (int k = 0; k < s.group; ++k) {
            const int c = g * s.group + k;
            if (mask[c] == 0)
                continue;
            partial += (float)weight[row * s.cols + c] * x[c];
        }
        total += (double)(partial * scale[row * groups + g]);
    }
    y[row] = total;
}

__global__ void add_bias(double *y, const __half *bias, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float b = __half2float(bias[i]);
        y[i] += b > 0.f ? b : 0.5f * b;
    }
}

int main()
{
    const shape_t s = {32, 64, 16};
    int8_t *w;
    float *scale, *x;
    unsigned short *mask;
    double *y;
    __half *bias;
    cudaMallocManaged(&w, s.rows * s.cols);
    cudaMallocManaged(&scale, s.rows * 4 * sizeof(float));
    cudaMallocManaged(&x, s.cols * sizeof(float));
    cudaMallocManaged(&mask, s.cols * sizeof(unsigned short));
    cudaMallocManaged(&y, s.rows * sizeof(double));
    cudaMallocManaged(&bias, s.rows * sizeof(__half));
    for (int i = 0; i < s.rows * s.cols; i++) w[i] = (int8_t)(i % 17 - 8);
    for (int i = 0; i < s.cols; i++) x[i] = 0.1f, mask[i] = i % 3;
    for (int i = 0; i < s.rows * 4; i++) scale[i] = 0.01f;
    for (int i = 0; i < s.rows; i++) bias[i] = __float2half(0.5f);
    linear_q8<<<1, 32>>>(w, scale, x, mask, y, s);
    add_bias<<<1, 32>>>(y, bias, s.rows);
    cudaDeviceSynchronize();
    printf("%f\n", y[0]);
}
