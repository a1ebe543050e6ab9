// x is overwritten by a function of itself.
__global__ void squash(float *x, const float *bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = tanhf(x[i] * x[i] + bias[i]);
}
