// A small network: the forward kernels of two layers and a loss, and a helper without floating point.
#include <cstdio>

__global__ void dense(const float *weight, const float *bias, const float *in, float *out, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = bias[r];
    for (int c = 0; c < columns; c++) sum += weight[r * columns + c] * in[c];
    out[r] = sum;
}

__global__ void leaky_relu(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] > 0.0f ? x[i] : 0.01f * x[i];
}

__global__ void squared_error(const float *prediction, const float *target, float *loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = prediction[i] - target[i];
        atomicAdd(loss, d * d / n);
    }
}

__global__ void iota(int *index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) index[i] = i;
}

int main() {
    std::puts("the host code of a file is not looked at");
    return 0;
}
